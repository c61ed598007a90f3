import FetchTool
import Testing

@Suite("Traffic: what -v shows")
struct HeadTracerTests {
  static let request = "POST /a HTTP/1.1\r\nAuthorization: Basic dTpw\r\nContent-Length: 6\r\n\r\nA: b\r\n"
  static let response =
    "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nSet-Cookie: id=1234; Path=/\r\nContent-Length: 6\r\n\r\nC: d\r\n"
  static let shown = [
    "> POST /a HTTP/1.1", "> Authorization: Basic ***", "> Content-Length: 6", "> ",
    "< HTTP/1.1 100 Continue", "< ",
    "< HTTP/1.1 200 OK", "< Set-Cookie: id=***; Path=/", "< Content-Length: 6", "< ",
  ]

  @Test func headsOfEveryExchangeAtEveryCut() {
    for cut in 0...Self.response.utf8.count {
      var tracer = HeadTracer()
      var lines: [String] = []
      for _ in 1...2 {
        for piece in pieces(Self.request, cut) { tracer.sent(piece.span) { lines.append($0) } }
        for piece in pieces(Self.response, cut) { tracer.received(piece.span) { lines.append($0) } }
      }
      #expect(lines == Self.shown + Self.shown, "cut \(cut)")
    }
  }

  func pieces(_ text: String, _ cut: Int) -> [[UInt8]] {
    let bytes = Array(text.utf8)
    return [Array(bytes.prefix(cut)), Array(bytes.dropFirst(cut))]
  }
}
