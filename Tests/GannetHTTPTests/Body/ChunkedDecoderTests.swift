import GannetHTTP
import TestSupport
import Testing

@Suite("Chunked decoder")
struct ChunkedDecoderTests {
  @Test(
    "a body, at every cut",
    arguments: [
      Row("5\r\nhello\r\n0\r\n\r\n", "data hello | end []"),
      Row("5\r\nhello\r\n0\r\n\r\nrest", "data hello | end [] | left 4"),
      Row("0\r\n\r\n", "end []"),
      Row("00000005\r\nhello\r\n000\r\n\r\n", "data hello | end []"),
      Row(
        "5\r\nhello\r\na\r\n, world!!!\r\nA\r\n0123456789\r\n0\r\n\r\n",
        "data hello, world!!!0123456789 | end []"),
      Row("5  \r\nhello\r\n0 \t\r\n\r\n", "data hello | end []"),
      Row("5;\r\nhello\r\n0;\r\n\r\n", "data hello | end []"),
      Row("5;a=b;c=\"d\\\"e;\" ; x\r\nhello\r\n0 ; last\r\n\r\n", "data hello | end []"),
      Row("1\r\na\r\n0\r\nX: 1\r\nY:2\r\n\r\n", "data a | end [X=1; Y=2]"),
      Row("1\r\na\r\n0\r\nX: 1\n\n", "data a | end [X=1]"),
      Row("5\r\nhel", "data hel"),
      Row("5\r\nhello\r\n0\r\n", "data hello"),
    ])
  func body(row: Row) { row.check(Decoders.chunked(Bytes.latin1(row.input))) }

  @Test(
    "what is refused, at its first wrong byte",
    arguments: [
      Row("\r\n", "error chunk-size at 0"),
      Row(" 5\r\n", "error chunk-size at 0"),
      Row("+5\r\n", "error chunk-size at 0"),
      Row("-1\r\n", "error chunk-size at 0"),
      Row("0x5\r\n", "error chunk-size at 1"),
      Row("5g\r\n", "error chunk-size at 1"),
      Row("5 5\r\n", "error chunk-size at 2"),
      Row("5\u{0C}\r\n", "error chunk-size at 1"),
      Row("--B\r\n", "error chunk-size at 0"),
      Row("5\nhello", "error chunk-size at 1"),
      Row("5\rhello", "error chunk-size at 2"),
      Row("7FFFFFFFFFFFFFFF\r\nx", "data x"),
      Row("8000000000000000\r\n", "error chunk-size at 15"),
      Row("FFFFFFFFFFFFFFFF\r\n", "error chunk-size at 15"),
      Row("00010000000000000000\r\n", "error chunk-size at 19"),
      Row("5;a=\"b\r\n\"", "error chunk-extension at 6"),
      Row("5;a=\"b\n\"", "error chunk-extension at 6"),
      Row("5;a=\"b\\\r", "error chunk-extension at 7"),
      Row("5;a=b\n", "error chunk-extension at 5"),
      Row("5;a\u{0}=b\r\n", "error chunk-extension at 3"),
      Row("5;a\rb", "error chunk-size at 4"),
      Row("5\r\nAAAAAXX0\r\n\r\n", "data AAAAA | error chunk-data-end at 8"),
      Row("5\r\nAAAAA\rX", "data AAAAA | error chunk-data-end at 9"),
      Row("5\r\nAAAAA\n0\r\n\r\n", "data AAAAA | error chunk-data-end at 8"),
      Row("5\r\nhello\r\n\r\n0\r\n\r\n", "data hello | error chunk-size at 10"),
      Row("0\n\n", "error chunk-size at 1"),
      Row("0\r\n\rX", "error line-end at 4"),
      Row("0\r\nA: \u{1}\r\n\r\n", "error field-value at 6"),
    ])
  func refused(row: Row) { row.check(Decoders.chunked(Bytes.latin1(row.input))) }

  @Test("limits: at each, and one past it")
  func limits() {
    var limits = Limits()
    limits.chunkLineBytes = 4
    Row("1;ab\r\nx", "error chunk-line-size at 4").check(
      Decoders.chunked(Array("1;ab\r\nx".utf8), limits: limits))
    Row("1;a\r\nx", "data x").check(Decoders.chunked(Array("1;a\r\nx".utf8), limits: limits))
    // The limit is on each line.
    Row("", "data ab | end []").check(
      Decoders.chunked(Array("1;a\r\na\r\n1;a\r\nb\r\n0\r\n\r\n".utf8), limits: limits))
    limits.trailerBytes = 7
    Row("", "end [A=b]").check(Decoders.chunked(Array("0\r\nA:b\r\n\r\n".utf8), limits: limits))
    Row("", "error trailer-size at 10").check(
      Decoders.chunked(Array("0\r\nA:bc\r\n\r\n".utf8), limits: limits))
    limits.fieldCount = 1
    Row("", "error field-count at 9").check(Decoders.chunked(Array("0\r\nA:b\r\nC:d".utf8), limits: limits))
  }

  @Test("the limit on one chunk's extensions: all between the size and the line's end")
  func extensionLimit() {
    var limits = Limits()
    limits.chunkExtensionBytes = 4
    Row("", "data x").check(Decoders.chunked(Array("1;a=b\r\nx".utf8), limits: limits))
    Row("", "data xy | end []").check(
      Decoders.chunked(Array("1;a=b\r\nx\r\n0001 \t;b\r\ny\r\n0;abc\r\n\r\n".utf8), limits: limits))
    for (line, offset) in [
      ("1;a=bc", 5), ("00001    \t", 9), ("1;\"ab\"", 5), ("1;\"\\\"\"", 5), ("1 ; ;\n", 5),
    ] {
      let outcome = Decoders.chunked(Array("\(line)\r\nx".utf8), limits: limits)
      Row("", "error chunk-extension-size at \(offset)").check(outcome)
      #expect(outcome.whole.error?.reason.contains("chunkExtensionBytes") == true)
    }
  }

  @Test("the limit on the extensions of all chunks: what their data does not pay for")
  func extensionTotal() {
    var limits = Limits()
    limits.chunkExtensionTotalBytes = 6
    // A line of 22 bytes before its LF: 16 are free, one more for the byte of data, five are left.
    let chunk = "1;45678901234567890ab\r\nx\r\n"
    Row("", "data x").check(Decoders.chunked(Array(chunk.utf8), limits: limits))
    Row("", "data x | error chunk-extension-total at 44").check(
      Decoders.chunked(Array((chunk + chunk).utf8), limits: limits))
    limits.chunkExtensionTotalBytes = 10
    Row("", "data xx | end []").check(
      Decoders.chunked(Array((chunk + chunk + "0\r\n\r\n").utf8), limits: limits))
    limits.chunkExtensionTotalBytes = 0
    // Data pays for as much as there is of it; leading zeros and blanks count too.
    let paid = String(repeating: "x", count: 5)
    Row("", "data \(paid) | end []").check(
      Decoders.chunked(Array("5;45678901234567890a\r\n\(paid)\r\n0\r\n\r\n".utf8), limits: limits))
    Row("", "error chunk-extension-total at 21").check(
      Decoders.chunked(Array("5;45678901234567890ab\r\n\(paid)".utf8), limits: limits))
    Row("", "error chunk-extension-total at 16").check(
      Decoders.chunked(Array("00000000000000001\r\nx".utf8), limits: limits))
    Row("", "error chunk-extension-total at 16").check(
      Decoders.chunked(Array("0               \r\n".utf8), limits: limits))
  }

  @Test("one decoder for one body after the other")
  func restart() throws {
    var decoder = ChunkedDecoder()
    for body in ["5;x\r\nhel", "2\r\nab\r\n0\r\nA: b\r\n\r\n", "0\r\nA: ", "1 \r\nx\r\n0\r\n\r\n"] {
      decoder.restart()
      var consumed = 0
      let bytes = Array(body.utf8)
      while consumed < bytes.count {
        consumed += try decoder.step(bytes.span.extracting(consumed...)).consumed
      }
    }
    decoder.restart()
    #expect(!decoder.hasAllData)
    let error = #expect(throws: SyntaxError.self) { try decoder.step(Array("1\rx".utf8).span) }
    #expect(error?.offset == 2 && error?.byte == 0x78)
  }

  @Test("all data is known once the last chunk's line has been read")
  func allData() throws {
    var decoder = ChunkedDecoder()
    _ = try decoder.step(Array("1\r\n".utf8).span)
    #expect(!decoder.hasAllData)
    _ = try decoder.step(Array("a\r\n0\r".utf8).span)
    _ = try decoder.step(Array("\r\n0\r".utf8).span)
    #expect(!decoder.hasAllData)
    _ = try decoder.step(Array("\n".utf8).span)
    #expect(decoder.hasAllData)
    let (consumed, step) = try decoder.step(Array("\r\nmore".utf8).span)
    #expect(consumed == 2 && step == .trailers(FieldList()) && decoder.hasAllData)
    let after = try decoder.step(Array("more".utf8).span)
    #expect(after.consumed == 0 && after.step == .needsInput)
  }
}
