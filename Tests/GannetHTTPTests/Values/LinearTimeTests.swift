import GannetHTTP
import Testing

/// What a peer can stretch is read in linear time: quadratic work on these inputs would take much longer.
@Suite("Linear time")
struct LinearTimeTests {
  static let count = 30_000

  @Test(
    "field values",
    arguments: [
      "; a", ";", "; a=\"", ",", "a=b;", "\\", "filename=", "\"", ";filename*=UTF-8''%41", " ", "a.",
    ])
  func values(piece: String) {
    let text = String(repeating: piece, count: Self.count)
    let elapsed = ContinuousClock().measure {
      _ = MediaType("a/b;" + text)
      _ = MediaType(contentTypeOf: ["Content-Type": text])
      _ = ContentDisposition("a;" + text)
      _ = SuggestedFilename.choose(
        disposition: "a;filename=" + text, path: "/" + text, host: text, mediaType: "text/css")
      _ = HTTPDate(text)
      let head = ResponseHead(
        status: 200, fields: ["Connection": text, "Transfer-Encoding": text, "Content-Length": text])
      _ = try? BodyFraming.decide(for: head, answering: "GET")
    }
    #expect(elapsed < .seconds(10))
  }

  @Test("many parameters")
  func parameters() {
    let text = (0..<Self.count).map { ";p\($0)=v" }.joined()
    let elapsed = ContinuousClock().measure { _ = MediaType("a/b" + text) }
    #expect(elapsed < .seconds(10))
  }

  @Test("a head that comes byte by byte, with folded lines and blanks")
  func head() throws {
    let fold = String(repeating: "\r\n ", count: 20_000) + String(repeating: " ", count: 60_000) + "x"
    let bytes = Array("HTTP/1.1 200 OK\r\nA: \(fold)\r\nB: \(fold)\r\n\r\n".utf8)
    var limits = Limits()
    limits.headBytes = bytes.count
    let elapsed = try ContinuousClock().measure {
      var decoder = ResponseHeadDecoder(limits: limits)
      var head: ResponseHead?
      for index in bytes.indices { head = try decoder.step(bytes.span.extracting(index..<index + 1)).head }
      #expect(head?.fields["b"] == "x")
    }
    #expect(elapsed < .seconds(10))
  }
}
