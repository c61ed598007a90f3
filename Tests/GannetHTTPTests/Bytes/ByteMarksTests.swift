import CScan
import GannetHTTP
import TestSupport
import Testing

/// What C does for 64 bytes at a time and its twin in Swift must be the same function.
@Suite("Byte marks")
struct ByteMarksTests {
  /// Every byte in every place of a block, then random ones.
  static let blocks: [[UInt8]] = {
    var random = SeededGenerator(seed: 64)
    let shifted = (0..<256).map { first in (0..<64).map { UInt8(truncatingIfNeeded: first + $0) } }
    let some = (0..<2000).map { _ in (0..<64).map { _ in UInt8.random(in: 0...255, using: &random) } }
    return shifted + some
  }()

  @Test("the twin marks what it says")
  func portable() {
    let bytes = Array("Ab-9_: \t\r\n\u{0}\u{1F}\u{7F}\u{80}".utf8)
    let marks = ByteMarks.portable(bytes.span, from: 0)
    // "\u{80}" is two bytes.
    #expect(marks.names == UInt64.max << 4)
    #expect(marks.controls == UInt64.max << 15 | 0b0001_1111_1000_0000)
    for (bytes, start) in [([], 0), ([0x61], -1), ([0x61], 1)] as [([UInt8], Int)] {
      #expect(ByteMarks.portable(bytes.span, from: start) == ByteMarks(names: ~0, controls: ~0))
    }
  }

  @Test("whole blocks, as the twin marks them")
  func whole() {
    for block in Self.blocks {
      #expect(ByteMarks.of(block.span, from: 0) == ByteMarks.portable(block.span, from: 0))
    }
  }

  @Test("blocks cut by the end of the input, from each place, as the twin marks them")
  func tails() {
    let bytes = Self.blocks[256] + Self.blocks[257] + Self.blocks[10]
    for count in 0...bytes.count {
      let input = Array(bytes[..<count])
      for start in [0, 1, 63, 64, 65, count / 2, max(0, count - 64), max(0, count - 1), count, count + 1] {
        #expect(ByteMarks.of(input.span, from: start) == ByteMarks.portable(input.span, from: start))
      }
    }
  }

  #if arch(x86_64)
    @Test("each way that processors of this kind have, as the twin marks them")
    func ways() {
      for block in Self.blocks {
        let twin = ByteMarks.portable(block.span, from: 0)
        let plain = unsafe gannet_mark_sse2(block)
        #expect(plain.names == twin.names && plain.controls == twin.controls)
        if gannet_has_avx2() != 0 {
          let wide = unsafe gannet_mark_avx2(block)
          #expect(wide.names == twin.names && wide.controls == twin.controls)
        }
        if gannet_has_avx512() != 0 {
          let widest = unsafe gannet_mark_avx512(block)
          #expect(widest.names == twin.names && widest.controls == twin.controls)
        }
      }
    }
  #endif
}
