import TestSupport
import Testing

#if arch(x86_64)
  import CScan
#endif

@testable import GannetMultipart

@Suite("The search for pairs of bytes")
struct PairScanningTests {
  /// Long enough for every width that is searched at once, with what is looked for now and then.
  static func bytes(_ generator: inout SeededGenerator) -> [UInt8] {
    let oneIn = [3, 40, 400, 4000].randomElement(using: &generator) ?? 3
    return (0..<Int.random(in: 0...700, using: &generator)).map { _ in
      guard Int.random(in: 0..<oneIn, using: &generator) == 0 else { return 0x41 }
      return [0xFF, 0x00, 0x2D, 0x2D, 0xCF, 0xD0, 0xD7, 0xD8, 0xD9].randomElement(using: &generator) ?? 0
    }
  }

  @Test("it finds what looking at one byte after the other finds", arguments: 0..<4)
  func bytewise(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    for _ in 0..<500 {
      let bytes = Self.bytes(&generator)
      let start = Int.random(in: 0...max(0, min(bytes.count, 200)), using: &generator)
      #expect(firstPair(of: 0x2D, in: bytes.span, from: start) == Self.pairs(in: bytes).first { $0 >= start })
      #expect(firstMarker(in: bytes.span, from: start) == Self.markers(in: bytes).first { $0 >= start })
    }
  }

  @Test("it finds a pair at every place of what is searched at once", arguments: [0, 1, 63, 127])
  func everyPlace(start: Int) {
    for count in [2, 65, 66, 129, 130, 257, 258, 400] {
      for place in start..<max(start, count - 1) {
        var bytes = [UInt8](repeating: 0x41, count: count)
        (bytes[place], bytes[place + 1]) = (0x2D, 0x2D)
        #expect(firstPair(of: 0x2D, in: bytes.span, from: start) == place)
        (bytes[place], bytes[place + 1]) = (0xFF, 0xD9)
        #expect(firstMarker(in: bytes.span, from: start) == place)
        bytes[place + 1] = 0xD7
        #expect(firstMarker(in: bytes.span, from: start) == nil)
      }
    }
  }

  #if arch(x86_64)
    @Test(
      "each way that processors have stops at the first that is looked for, or near the end", arguments: 0..<4
    )
    func ways(seed: Int) {
      var generator = SeededGenerator(seed: UInt64(seed))
      for _ in 0..<500 {
        let bytes = Self.bytes(&generator)
        let (pairs, markers) = (Self.pairs(in: bytes), Self.markers(in: bytes))
        if gannet_has_avx2() != 0 {
          Self.check(unsafe gannet_pairless_avx2(bytes, bytes.count, 0x2D), 32, bytes, pairs)
          Self.check(unsafe gannet_markerless_avx2(bytes, bytes.count), 32, bytes, markers)
        }
        if gannet_has_avx512() != 0 {
          Self.check(unsafe gannet_pairless_avx512(bytes, bytes.count, 0x2D), 64, bytes, pairs)
          Self.check(unsafe gannet_markerless_avx512(bytes, bytes.count), 64, bytes, markers)
        }
      }
    }

    /// `count` bytes were passed: all before the first of `places`, unless it is among the last, at most `width`.
    static func check(_ count: Int, _ width: Int, _ bytes: [UInt8], _ places: [Int]) {
      let end = places.first ?? bytes.count
      #expect(count == end || count < end && bytes.count - count <= width)
    }
  #endif

  static func pairs(in bytes: [UInt8]) -> [Int] {
    bytes.indices.dropLast().filter { bytes[$0] == 0x2D && bytes[$0 + 1] == 0x2D }
  }

  static func markers(in bytes: [UInt8]) -> [Int] {
    bytes.indices.dropLast().filter {
      bytes[$0] == 0xFF && bytes[$0 + 1] != 0 && !(0xD0...0xD7).contains(bytes[$0 + 1])
    }
  }
}
