import GannetHTTP
import TestSupport
import Testing

/// What a peer can stretch is read in linear time.
@Suite("Linear time", .longWork)
struct LinearTimeTests {
  static let count = 8000

  @Test(
    "field values",
    arguments: [
      "; a", ";", "; a=\"", ",", "a=b;", "\\", "filename=", "\"", ";filename*=UTF-8''%41", " ", "a.",
    ])
  func values(piece: String) {
    let ratio = Growth.fourfold(of: Self.count) { count in
      let text = String(repeating: piece, count: count)
      _ = MediaType("a/b;" + text)
      _ = MediaType(contentTypeOf: ["Content-Type": text])
      _ = ContentDisposition("a;" + text)
      _ = SuggestedFilename.choose(
        disposition: "a;filename=" + text, path: "/" + text, host: text, mediaType: "text/css")
      _ = HTTPDate(text)
      let head = ResponseHead(
        status: 200, fields: ["Connection": text, "Transfer-Encoding": text, "Content-Length": text])
      _ = try? BodyFraming.decide(for: head, answering: "GET")
      // As of a cookie: `Set-Cookie` is read from the fields one by one.
      _ = FieldList((0..<10).map { _ in (name: "Set-Cookie", value: text) }).combinedValue(for: "set-cookie")
    }
    #expect(ratio <= 8)
  }

  @Test("many parameters")
  func parameters() {
    let ratio = Growth.fourfold(of: Self.count) { count in
      _ = MediaType("a/b" + (0..<count).map { ";p\($0)=v" }.joined())
    }
    #expect(ratio <= 8)
  }

  @Test("a head that comes byte by byte, with folded lines and blanks")
  func head() throws {
    var limits = Limits()
    limits.headBytes = .max
    limits.lineBytes = .max
    let ratio = try Growth.fourfold(of: 4000) { count in
      let fold = String(repeating: "\r\n ", count: count) + String(repeating: " ", count: 3 * count) + "x"
      let bytes = Array("HTTP/1.1 200 OK\r\nA: \(fold)\r\nB: \(fold)\r\n\r\n".utf8)
      var decoder = ResponseHeadDecoder(limits: limits)
      var head: ResponseHead?
      for index in bytes.indices { head = try decoder.step(bytes.span.extracting(index..<index + 1)).head }
      #expect(head?.fields["b"] == "x")
    }
    #expect(ratio <= 8)
  }
}
