#if arch(x86_64) || arch(arm64)
  import CScan
#endif

/// Which of 64 bytes can end a field's name or its value: bit i is byte i.
package struct ByteMarks: Hashable, Sendable {
  /// Bytes that are no letter, digit or `-`: where a plain name ends.
  package var names: UInt64
  /// Control bytes: where a value ends, or goes on after a tab.
  package var controls: UInt64

  /// Makes marks.
  package init(names: UInt64, controls: UInt64) {
    self.names = names
    self.controls = controls
  }

  /// The marks of the 64 bytes of `input` from `start`. Past the end of `input` every bit is set.
  package static func of(_ input: Span<UInt8>, from start: Int) -> ByteMarks {
    var marks = ByteMarks(names: ~0, controls: ~0)
    // SAFETY: there is room for the marks of one block, and the pointer is used within the call only.
    _ = unsafe withUnsafeMutablePointer(to: &marks) { unsafe fill($0, input, from: start, blocks: 1) }
    return marks
  }

  /// Marks of several blocks of 64 bytes in a row.
  package typealias Blocks = InlineArray<16, ByteMarks>

  /// Takes the marks of up to as many blocks of `input` from `start` as there is room for; returns of how many, at least
  /// one. Past the end of `input` every bit is set.
  @inline(__always)
  static func fill(_ marks: inout Blocks, _ input: Span<UInt8>, from start: Int) -> Int {
    // SAFETY: there is room for the marks of so many blocks, and the pointer is used within the call only.
    unsafe withUnsafeMutableBytes(of: &marks) { room in
      let first = unsafe room.baseAddress.unsafelyUnwrapped.assumingMemoryBound(to: ByteMarks.self)
      return unsafe fill(first, input, from: start, blocks: Blocks.count)
    }
  }

  // SAFETY: the caller has room for the marks of `blocks` blocks, at least one, at `marks`.
  @inline(never)
  private static func fill(
    _ marks: UnsafeMutablePointer<ByteMarks>, _ input: Span<UInt8>, from start: Int, blocks: Int
  ) -> Int {
    #if arch(x86_64) || arch(arm64)
      guard start >= 0, start < input.count, input.count >= 64 else {
        unsafe marks[0] = portable(input, from: start)
        return 1
      }
      let left = input.count &- start
      let whole = min(blocks, left >> 6)
      let hasRest = whole < blocks && left & 63 != 0
      // SAFETY: so many whole blocks lie in the span from `start`, and so do its last 64 bytes; the span is borrowed for
      // the closures. Marks have the layout of C's.
      unsafe input.withUnsafeBufferPointer { bytes in
        let base = unsafe bytes.baseAddress.unsafelyUnwrapped
        let room = unsafe UnsafeMutableRawPointer(marks).assumingMemoryBound(to: gannet_marks.self)
        unsafe gannet_mark(base + start, whole, room)
        if hasRest { unsafe gannet_mark(base + (bytes.count &- 64), 1, room + whole) }
      }
      guard hasRest else { return whole }
      // The last 64 bytes, moved.
      let moved = UInt64(truncatingIfNeeded: 64 &- (left & 63))
      let past = ~(~0 &>> moved)
      unsafe marks[whole].names = unsafe marks[whole].names &>> moved | past
      unsafe marks[whole].controls = unsafe marks[whole].controls &>> moved | past
      return whole &+ 1
    #else
      // SAFETY: as above.
      unsafe marks[0] = portable(input, from: start)
      return 1
    #endif
  }

  /// The twin of what C does for 64 bytes at a time, byte by byte.
  @inline(never)
  package static func portable(_ input: Span<UInt8>, from start: Int) -> ByteMarks {
    var marks = ByteMarks(names: ~0, controls: ~0)
    guard start >= 0 else { return marks }
    var index = start
    while index < input.count, index - start < 64 {
      let byte = input[index]
      let bit: UInt64 = 1 &<< UInt64(index - start)
      if byte.isPlainName { marks.names &= ~bit }
      if byte >= 0x20, byte != 0x7F { marks.controls &= ~bit }
      index += 1
    }
    return marks
  }
}

extension UInt8 {
  /// Whether this byte is a letter, a digit or `-`: what nearly all names are made of.
  fileprivate var isPlainName: Bool {
    asciiLowercased &- 0x61 < 26 || isDigit || self == 0x2D
  }
}

/// The marks of one block of 64 bytes at a time, for a reader that walks forward over one input.
struct MarkedBlock {
  private var start = -64
  private var marks = ByteMarks(names: 0, controls: 0)

  /// The first byte at or after `position` that is no letter, digit or `-`; the count of `input` when none is left.
  @inline(__always)
  private mutating func nameEnd(in input: Span<UInt8>, from position: Int) -> Int {
    next(in: input, from: position) { $0.names }
  }

  /// The first byte at or after `position` that no token holds; the count of `input` when none is left.
  @inline(__always)
  mutating func tokenEnd(in input: Span<UInt8>, from position: Int) -> Int {
    var end = nameEnd(in: input, from: position)
    while end < input.count, input[end].isToken { end = nameEnd(in: input, from: end &+ 1) }
    return end
  }

  /// The first control byte but the tab at or after `position`; the count of `input` when none is left.
  @inline(__always)
  mutating func fieldTextEnd(in input: Span<UInt8>, from position: Int) -> Int {
    var end = next(in: input, from: position) { $0.controls }
    while end < input.count, input[end] == .tab { end = next(in: input, from: end &+ 1) { $0.controls } }
    return end
  }

  @inline(__always)
  private mutating func next(
    in input: Span<UInt8>, from position: Int, _ bits: (ByteMarks) -> UInt64
  ) -> Int {
    if position < start { rewind(to: position) }
    var position = position
    while position < input.count {
      if UInt(bitPattern: position &- start) < 64 {
        let rest = bits(marks) &>> UInt64(position & 63)
        if rest != 0 { return position &+ rest.trailingZeroBitCount }
        position = start &+ 64
        if position >= input.count { break }
      }
      // One block on, not the one of `position`: a processor that guesses the way need not wait for `position` to
      // begin with the block.
      start &+= 64
      marks = ByteMarks.of(input, from: start)
    }
    return input.count
  }

  @inline(never)
  private mutating func rewind(to position: Int) { start = (position & ~63) - 64 }
}
