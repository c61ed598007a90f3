#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#endif

// The one file of this layer that reads memory without bounds checks: `memchr` scans 8 times as fast as a checked
// loop, `memcmp` compares so, a copy of a span in one piece is the only fast one, and so is a number read in one.

/// The position of the first `byte` in `span` at or after `start`, or nil.
package func firstIndex(of byte: UInt8, in span: Span<UInt8>, from start: Int = 0) -> Int? {
  let length = span.count - start
  guard start >= 0, length > 0 else { return nil }
  // SAFETY: `start + length` is the span's count, and the pointer is used only while the span is borrowed.
  return unsafe span.withUnsafeBufferPointer { buffer in
    guard let base = unsafe UnsafeRawPointer(buffer.baseAddress),
      let found = unsafe memchr(base + start, CInt(byte), length)
    else { return nil }
    return unsafe UnsafeRawPointer(found) - base
  }
}

/// The position of the first occurrence of `needle` in `span` at or after `start`, or nil; `start` for an empty
/// needle. Fast when the needle's first byte is rare; at worst each occurrence of it costs the needle's length.
package func firstIndex(ofAll needle: Span<UInt8>, in span: Span<UInt8>, from start: Int = 0) -> Int? {
  guard !needle.isEmpty else { return start }
  let end = span.count - needle.count
  var candidate = start
  while candidate <= end, let found = firstIndex(of: needle[0], in: span, from: candidate), found <= end {
    if span.holds(needle, at: found) { return found }
    candidate = found + 1
  }
  return nil
}

extension Span where Element == UInt8 {
  /// The number that was written in the processor's own order at `index`, which traps where there are no four bytes.
  @inline(__always)
  func word(at index: Int) -> UInt32 {
    // SAFETY: the call checks that the bytes lie in the span, and any four are a number.
    unsafe bytes.unsafeLoadUnaligned(fromByteOffset: index, as: UInt32.self)
  }

  /// Whether `other` lies in this span at `position`.
  package func holds(_ other: Span<UInt8>, at position: Int) -> Bool {
    guard position >= 0, count - position >= other.count else { return false }
    guard !other.isEmpty else { return true }
    // SAFETY: `other.count` bytes lie behind `position`, and both pointers are used only while the spans are borrowed.
    return unsafe withUnsafeBufferPointer { here in
      unsafe other.withUnsafeBufferPointer { there in
        guard let here = here.baseAddress, let there = there.baseAddress else { return false }
        return unsafe memcmp(here + position, there, other.count) == 0
      }
    }
  }
}

extension Array where Element == UInt8 {
  /// Appends a copy of `span`.
  package mutating func append(copying span: Span<UInt8>) {
    guard !span.isEmpty else { return }
    // SAFETY: the buffer is read only within the closure, while `span` is borrowed.
    unsafe span.withUnsafeBufferPointer { unsafe append(contentsOf: $0) }
  }

  /// Appends the bytes that the elements of `span` are in memory.
  mutating func append<Value: BitwiseCopyable>(bytesOf span: Span<Value>) {
    guard !span.isEmpty else { return }
    // SAFETY: the buffer is read only within the closure, while `span` is borrowed; any bytes may be copied.
    unsafe span.withUnsafeBytes { unsafe append(contentsOf: $0) }
  }

  /// Puts copies of `span` and of the bytes that the elements of `values` are in memory in place of its first bytes, and
  /// grows as far as it has to.
  mutating func overwrite<Value: BitwiseCopyable>(with span: Span<UInt8>, bytesOf values: Span<Value>) {
    // SAFETY: the buffers are used only within the closures, while the spans are borrowed; any bytes may be copied. What
    // is copied into has room for both, as it is made sure of first.
    unsafe span.withUnsafeBytes { text in
      unsafe values.withUnsafeBytes { tail in
        let missing = text.count + tail.count - count
        if missing > 0 { append(contentsOf: repeatElement(0, count: missing)) }
        unsafe withUnsafeMutableBytes { room in
          unsafe room.copyMemory(from: text)
          unsafe UnsafeMutableRawBufferPointer(rebasing: room[text.count...]).copyMemory(from: tail)
        }
      }
    }
  }

  /// Makes an array of a copy of `span`.
  package init(copying span: Span<UInt8>) {
    self = []
    append(copying: span)
  }
}
