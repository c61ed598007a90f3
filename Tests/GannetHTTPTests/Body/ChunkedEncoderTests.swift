import GannetHTTP
import TestSupport
import Testing

@Suite("Chunked encoder")
struct ChunkedEncoderTests {
  @Test("chunks, and nothing for empty data")
  func encodes() throws {
    var output: [UInt8] = []
    let encoder = ChunkedEncoder()
    encoder.append(Array("hello".utf8).span, to: &output)
    encoder.append([UInt8]().span, to: &output)
    encoder.append([UInt8](repeating: 0x61, count: 16).span, to: &output)
    try encoder.appendEnd(trailers: ["X": "1"], to: &output)
    #expect(Bytes.text(output) == "5\r\nhello\r\n10\r\naaaaaaaaaaaaaaaa\r\n0\r\nX: 1\r\n\r\n")
    Row("", "data helloaaaaaaaaaaaaaaaa | end [X=1]").check(Decoders.chunked(output))
  }

  @Test("a trailer that cannot be sent is refused before a byte is written")
  func refuses() {
    var output: [UInt8] = []
    #expect(throws: RequestError.self) {
      try ChunkedEncoder().appendEnd(trailers: ["X": "a\r\nb"], to: &output)
    }
    #expect(output.isEmpty)
  }

  @Test(
    "fields that are no trailers",
    arguments: ["Content-Length", "transfer-encoding", "HOST", "Trailer", "TE"])
  func refusesWhatComesTooLate(_ name: String) {
    var output: [UInt8] = []
    let error = #expect(throws: RequestError.self) {
      try ChunkedEncoder().appendEnd(trailers: FieldList([(name: name, value: "1")]), to: &output)
    }
    #expect(error?.part == .trailer)
    #expect(error?.reason.hasSuffix("cannot be sent as a trailer") == true)
    #expect(output.isEmpty)
  }
}
