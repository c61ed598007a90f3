import GannetHTTP

#if arch(x86_64)
  import CScan
#endif

// The one file of this layer that reads memory without bounds checks: what is looked for in every byte of a stream is
// a pair of bytes, which sixteen lanes at a time find faster than `memchr` finds one byte that is one in 256, and
// thirty-two or sixty-four, in C, twice as fast again or more.

/// The position of the first `byte` that the same byte follows, at or after `start`, or nil.
func firstPair(of byte: UInt8, in span: Span<UInt8>, from start: Int) -> Int? {
  let wanted = SIMD16(repeating: byte)
  let start = skipped(.pair(byte), in: span, from: start)
  return firstPair(in: span, from: start) { first, second in
    (first .== wanted) .& (second .== wanted)
  } or: { first, second in
    first == byte && second == byte
  }
}

/// The position of the first `FF` of JPEG's entropy-coded data that ends a run of it, at or after `start`, or nil: one
/// that neither a stuffed `00` nor the code of a restart marker follows (ITU-T T.81 sections B.1.1.5 and B.2.1).
func firstMarker(in span: Span<UInt8>, from start: Int) -> Int? {
  let prefix = SIMD16<UInt8>(repeating: 0xFF)
  let stuffed = SIMD16<UInt8>(repeating: 0)
  let restart = SIMD16<UInt8>(repeating: 0xD0)
  let restartBits = SIMD16<UInt8>(repeating: 0xF8)
  let start = skipped(.marker, in: span, from: start)
  return firstPair(in: span, from: start) { first, second in
    (first .== prefix) .& .!((second .== stuffed) .| ((second & restartBits) .== restart))
  } or: { first, second in
    first == 0xFF && second != 0 && second & 0xF8 != 0xD0
  }
}

private enum Search { case pair(UInt8), marker }

/// Where to look on: before it C has found none of what is looked for, and nearly always it stands there.
@inline(__always)
private func skipped(_ search: Search, in span: Span<UInt8>, from start: Int) -> Int {
  #if arch(x86_64)
    guard start >= 0, span.count - start > 64 else { return start }
    // SAFETY: the bytes from `start` on are the span's, which is borrowed for the closure.
    return unsafe span.withUnsafeBufferPointer { bytes in
      let first = unsafe bytes.baseAddress.unsafelyUnwrapped + start
      return switch search {
      case .pair(let byte): unsafe start + gannet_pairless(first, bytes.count - start, byte)
      case .marker: unsafe start + gannet_markerless(first, bytes.count - start)
      }
    }
  #else
    return start
  #endif
}

private typealias Lanes = SIMD16<UInt8>

/// The first place at or after `start` whose byte and the next one are meant, by `lanes` for sixteen places at once and
/// by `pair` for one; the two must say the same.
@inline(__always)
private func firstPair(
  in span: Span<UInt8>, from start: Int, lanes: (Lanes, Lanes) -> SIMDMask<SIMD16<Int8>>,
  or pair: (UInt8, UInt8) -> Bool
) -> Int? {
  guard start >= 0, start < span.count else { return nil }
  if start + 1 < span.count, pair(span[start], span[start + 1]) { return start }
  let block = 64
  var position = start
  // SAFETY: each load lies within `position..<position + block + 1`, which is within the span's count; the pointer is
  // used only while the span is borrowed. Any bytes are a value of the types that are loaded.
  unsafe span.withUnsafeBytes { bytes in
    func found(at offset: Int) -> SIMDMask<SIMD16<Int8>> {
      let first = unsafe bytes.loadUnaligned(fromByteOffset: offset, as: Lanes.self)
      let second = unsafe bytes.loadUnaligned(fromByteOffset: offset + 1, as: Lanes.self)
      return lanes(first, second)
    }
    while span.count - position > block {
      let found =
        found(at: position) .| found(at: position + 16) .| found(at: position + 32)
        .| found(at: position + 48)
      let halves = unsafe unsafeBitCast(found, to: SIMD2<UInt64>.self)
      if halves[0] | halves[1] != 0 { break }
      position += block
    }
  }
  while position + 1 < span.count {
    if pair(span[position], span[position + 1]) { return position }
    position += 1
  }
  return nil
}
