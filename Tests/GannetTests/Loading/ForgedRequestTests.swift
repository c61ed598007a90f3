import Gannet
import GannetHTTP
import TestSupport
import Testing

/// A caller's text that would make another request of the one that is sent (or a second one): refused before a byte is
/// written, and before a connection is made.
@Suite struct ForgedRequestTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var method = "GET"
    var url = "http://h/"
    var name = "X"
    var value = "v"
    var testDescription: String { "\(method) \(url) \(name): \(value)".debugDescription }
  }

  @Test(arguments: [
    Row(method: "GET / HTTP/1.1\r\nX:"), Row(method: "GET\r\n"), Row(method: "GET "), Row(method: "G\0T"),
    Row(method: "G(T"), Row(method: "GÉT"), Row(method: "GET\t"),
    Row(name: "X y"), Row(name: "X:"), Row(name: "X\r\nY"), Row(name: "X\n"), Row(name: "X\0"), Row(name: ""),
    Row(name: "Content-Length "), Row(name: "Transfer-Encoding\t"), Row(name: "É"),
    Row(value: "a\r\nB: c"), Row(value: "a\n"), Row(value: "a\r"), Row(value: "\0"), Row(value: "a\u{1B}"),
    Row(value: "a\r\n\r\nGET /other HTTP/1.1\r\n\r\n"), Row(value: "\u{7F}"),
    Row(name: "Host", value: "a\r\nB: c"), Row(name: "User-Agent", value: "a\nB: c"),
  ])
  func isRefusedBeforeAByteIsWritten(_ row: Row) throws {
    var request = URLRequest(string: row.url)
    request.httpMethod = row.method
    request.addValue(row.value, forHTTPHeaderField: row.name)
    let server = ScriptedServer([[.ok("x")]])
    let log = CallbackLog()
    let lines = try Loading.run(request, Loading.configuration(server), log)
    #expect(lines == ["fail badURL preparing"])
    #expect(server.requests.joined() == "")
  }

  @Test(arguments: [
    "http://h/a\r\nX: y", "http://h/a\nb", "http://h/\0", "http://h/a\rb", "http://h\r\n/", "http://h /",
    "http://h/?q=\u{1}", "http://u\r\n:p@h/", "http://h\0.example/", "http://h:80\r\n/",
    "\r\nhttp://h/a\u{7F}\u{1}",
  ])
  func anAddressWithControlBytesIsNone(_ url: String) {
    #expect(URLConnection(request: URLRequest(string: url), delegate: nil) == nil)
  }

  /// What is no URL's character but no control either has a spelling that is sent (docs/CONTRACT.md, rule 7).
  @Test(arguments: [
    ("http://h/a b", "/a%20b"), ("http://h/?a b\"c", "/?a%20b%22c"), ("http://h/é", "/%C3%A9"),
  ])
  func aRawSpaceIsNeverSent(_ url: String, _ target: String) throws {
    let server = ScriptedServer([[.ok("x")]])
    let lines = try Loading.run(URLRequest(string: url), Loading.configuration(server))
    #expect(lines.last == "finish")
    #expect(server.requests.joined().hasPrefix("GET \(target) HTTP/1.1\r\n"))
  }

  @Test func repeatedFieldsOfAResponse() throws {
    let log = CallbackLog()
    let fields =
      "X: 1\r\nx: 2\r\nSet-Cookie: a=1; path=/\r\nSet-Cookie: b=2\r\nset-cookie: c=3\r\nWarning: 110 h \"x, y\"\r\n"
      + "WWW-Authenticate: Basic realm=\"a\"\r\nWarning: 111 h z\r\nWWW-Authenticate: Digest realm=\"b\", nonce=\"n\"\r\n"
    _ = try Loading.run("http://h/", [.ok("x", fields)], log)
    let response = try #require(log.responses.last)
    #expect(response.allHeaderFields["X"] == "1, 2")
    #expect(response.allHeaderFields["Warning"] == "110 h \"x, y\", 111 h z")
    #expect(
      response.allHeaderFields["WWW-Authenticate"] == "Basic realm=\"a\", Digest realm=\"b\", nonce=\"n\"")
    // The list keeps each as it came, which cookies and challenges need.
    #expect(response.fields.values(for: "set-cookie") == ["a=1; path=/", "b=2", "c=3"])
    #expect(response.fields.map(\.name).prefix(5) == ["X", "x", "Set-Cookie", "Set-Cookie", "set-cookie"])
    #expect(
      response.fields.values(for: "WWW-Authenticate")
        == ["Basic realm=\"a\"", "Digest realm=\"b\", nonce=\"n\""])
  }

  @Test func aLengthBesideChunksIsNotTold() throws {
    let log = CallbackLog()
    let answer = Answer(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 188\r\n\r\n5\r\nhello\r\n0\r\n\r\n")
    let lines = try Loading.run("http://h/", [answer], log)
    #expect(lines == ["response 200 length -1", "data hello", "finish"])
    #expect(log.responses.last?.expectedContentLength == -1)
  }
}
