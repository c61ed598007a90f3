import GannetHTTP
import Testing

@Suite("Byte scanning")
struct ByteScanningTests {
  @Test("a byte, from each position, as a plain loop finds it")
  func byte() {
    let text = Array("a\nbb\n\nc".utf8)
    for start in -1...text.count + 1 {
      let expected = start < 0 ? nil : text.indices.first { $0 >= start && text[$0] == 0x0A }
      #expect(firstIndex(of: 0x0A, in: text.span, from: start) == expected)
    }
    #expect(firstIndex(of: 0, in: [UInt8]().span) == nil)
  }

  @Test(
    "a needle, from each position, as a plain loop finds it",
    arguments: ["\n--B", "B", "\n", "--", "BBBB", ""])
  func needle(text: String) {
    let needle = Array(text.utf8)
    let input = Array("x\n--\n--B\n\n--B--BB".utf8)
    for start in 0...input.count {
      let expected = (start...input.count).first { input[$0...].starts(with: needle) }
      #expect(firstIndex(ofAll: needle.span, in: input.span, from: start) == expected)
    }
    #expect(firstIndex(ofAll: input.span, in: needle.span) == nil)
  }
}
