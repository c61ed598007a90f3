import Gannet
import GannetHTTP
import TestSupport
import Testing

/// What an error says of itself.
@Suite struct ConnectionErrorTests {
  @Test(arguments: [
    (ConnectionError.Cause.syntax(rule: "chunk-size", byte: 0x0D, offset: 17), " (byte 0x0D at offset 17)"),
    (.syntax(rule: "truncated-body", byte: nil, offset: 3), " (at offset 3)"),
    (.limit("head-size"), ""), (.system(errno: 111), ""), (.tls(code: 0, "x"), ""),
  ])
  func theDescriptionSaysWhere(_ cause: ConnectionError.Cause, _ place: String) {
    let error = ConnectionError(
      .badServerResponse, phase: .receiving, url: "http://h/", cause: cause, reason: "no")
    #expect(error.description == "http://h/: receiving: no\(place) (badServerResponse -1011)")
  }

  @Test(arguments: [(1, 300_000, "line-size"), (100, 3000, "head-size")])
  func aLimitIsNamed(_ lines: Int, _ bytes: Int, _ name: String) throws {
    let log = CallbackLog()
    let line = "X: " + String(repeating: "a", count: bytes) + "\r\n"
    let head = "HTTP/1.1 200 OK\r\n" + String(repeating: line, count: lines)
    _ = try Loading.run("http://h/", [Answer(head)], log)
    #expect(log.error?.code == .dataLengthExceedsMaximum)
    #expect(log.error?.cause == .limit(name))
  }

  @Test(
    arguments: [
      ("http://h/", nil), ("h", .unsupportedURL), ("foo://h", .unsupportedURL), ("http://", .badURL),
      ("http://h:x/", .badURL),
    ] as [(String, ConnectionError.Code?)])
  func validateSaysWhyThereIsNoConnection(_ url: String, _ code: ConnectionError.Code?) {
    let request = URLRequest(string: url)
    if let code {
      let error = #expect(throws: ConnectionError.self) { try request.validate() }
      #expect(error?.code == code)
      #expect(error?.phase == .preparing)
    } else {
      #expect(throws: Never.self) { try request.validate() }
    }
    #expect(URLConnection.canHandle(request) == (code == nil))
  }
}
