import Gannet
import TestSupport
import Testing

/// Lines end with LF, CR LF or CR, however the bytes are cut, and none is longer than is allowed.
@Suite struct LineSplitterTests {
  private static func lines(_ pieces: [ArraySlice<UInt8>], _ maximum: Int = 100) -> [String] {
    var splitter = LineSplitter(maximumBytes: maximum)
    var lines: [String] = []
    do throws(LineSplitter.TooLong) {
      for piece in pieces {
        let bytes = Array(piece)
        var position = 0
        while position < bytes.count {
          let (consumed, line) = try splitter.step(bytes.span.extracting(position..<bytes.count))
          position += consumed
          if let line { lines.append(line) }
        }
      }
      if let line = try splitter.finish() { lines.append(line) }
    } catch { lines.append("more than \(error.maximum)") }
    return lines
  }

  @Test(
    arguments: [
      ("", []), ("a", ["a"]), ("a\n", ["a"]), ("a\nb", ["a", "b"]), ("\n", [""]), ("\n\n", ["", ""]),
      ("a\r\nb\r\n", ["a", "b"]), ("a\rb\r", ["a", "b"]), ("\r\n\r\n", ["", ""]), ("\r\r\n\n", ["", "", ""]),
      ("a\n\rb", ["a", "", "b"]), ("data: 1\n\ndata: 2\n\n", ["data: 1", "", "data: 2", ""]),
      ("a\u{2028}b\u{0B}c\u{85}d\n", ["a\u{2028}b\u{0B}c\u{85}d"]),
      ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]), ("\u{FEFF}", []), ("\u{FEFF}\n", [""]),
      ("0123456789\n", ["0123456789"]), ("\u{FEFF}0123456789\r", ["0123456789"]),
      ("0123456789a\n", ["more than 10"]), ("x\n0123456789a", ["x", "more than 10"]),
      ("\u{FEFF}0123456789a", ["more than 10"]), ("0123456789012345", ["more than 10"]),
    ] as [(String, [String])])
  func theyAreTheSameAtEveryCut(_ text: String, _ lines: [String]) {
    let bytes = Array(text.utf8)
    let maximum = text.contains("0123") ? 10 : 100
    #expect(Self.lines([bytes[...]], maximum) == lines)
    #expect(Self.lines(bytes.indices.map { bytes[$0...$0] }, maximum) == lines)
    for cut in bytes.indices { #expect(Self.lines([bytes[..<cut], bytes[cut...]], maximum) == lines) }
  }

  @Test func whatIsNotUTF8IsRepaired() {
    let bytes: [UInt8] = [0x61, 0xFF, 0x0A, 0xC3, 0x0D, 0xEF, 0xBB, 0x0A]
    for cut in bytes.indices {
      #expect(
        Self.lines([bytes[..<cut], bytes[cut...]]) == ["a\u{FFFD}", "\u{FFFD}", "\u{FFFD}"])
    }
  }

  @Test func noLineIsAllowedAtAll() {
    #expect(Self.lines([Array("\n\nx".utf8)[...]], -1) == ["", "", "more than 0"])
  }

  @Test func aLineMayBeOfAnyLength() {
    #expect(Self.lines([Array("\u{FEFF}a\nb".utf8)[...]], .max) == ["a", "b"])
  }
}
