import Gannet
import TestSupport
import Testing

/// What a response says of itself (docs/CONTRACT.md; RFC 6266, RFC 8187, Apple's NSURLResponse and NSHTTPURLResponse).
@Suite struct ResponseTests {
  private static func response(_ fields: String, _ url: String = "http://h/a/file.bin?x") throws
    -> HTTPURLResponse
  {
    let log = CallbackLog()
    _ = try Loading.run(url, [.ok("x", fields)], log)
    return try #require(log.responses.last)
  }

  @Test(arguments: [
    ("", nil, nil), ("Content-Type: text/html\r\n", "text/html", nil),
    ("Content-Type: TEXT/Html; Charset=UTF-8\r\n", "text/html", "utf-8"),
    ("content-type: text/html; charset=\"ISO-8859-1\"; a=b\r\n", "text/html", "iso-8859-1"),
    ("Content-Type: nothing\r\n", nil, nil), ("Content-Type: */*\r\n", nil, nil),
    ("Content-Type: text/plain;charset=\r\n", "text/plain", nil),
    ("Content-Type: text/plain\r\nContent-Type: image/png\r\n", "image/png", nil),
  ])
  func typeAndEncoding(_ fields: String, _ type: String?, _ encoding: String?) throws {
    let response = try Self.response(fields)
    #expect(response.mimeType == type)
    #expect(response.textEncodingName == encoding)
    #expect(response.expectedContentLength == 1)
  }

  /// An answer to HEAD tells how long the body would be, where that is a length.
  @Test(arguments: [
    ("5", 5), ("0", 0), ("-5", -1), ("99999999999999999999", -1), ("0x5", -1), ("", -1), ("5, 6", -1),
  ])
  func theLengthOfWhatWasNotSent(_ value: String, _ length: Int64) throws {
    var request = URLRequest(string: "http://h/a")
    request.httpMethod = "HEAD"
    let server = ScriptedServer([[Answer("HTTP/1.1 200 OK\r\nContent-Length: \(value)\r\n\r\n")]])
    let lines = try Loading.run(request, Loading.configuration(server))
    #expect(lines == ["response 200 length \(length)", "finish"])
  }

  @Test(arguments: [
    ("", "http://h/a/file.bin?x", "file.bin"),
    ("Content-Type: text/html\r\n", "http://h/a/page", "page.html"),
    ("Content-Type: text/html\r\n", "http://h/", "h.html"),
    ("Content-Disposition: attachment; filename=\"a b.txt\"\r\n", "http://h/x", "a b.txt"),
    (
      "Content-Disposition: attachment; filename=x; filename*=UTF-8''na%C3%AFve.txt\r\n", "http://h/x",
      "naïve.txt"
    ),
    ("Content-Disposition: attachment; filename=\"../../etc/passwd\"\r\n", "http://h/x", "passwd"),
    ("Content-Disposition: attachment; filename=\"..\\\\..\\\\win.ini\"\r\n", "http://h/x", "win.ini"),
    ("Content-Disposition: attachment; filename=\".bashrc\"\r\n", "http://h/x", "bashrc"),
    ("Content-Disposition: attachment; filename*=UTF-8''a%0Ab%00c%2Fd\r\n", "http://h/x", "d"),
    ("Content-Disposition: attachment; filename*=UTF-8''e%E2%80%AEgpj.exe\r\n", "http://h/x", "egpj.exe"),
    ("Content-Disposition: attachment; filename=\"..\"\r\n", "http://h/y.txt", "y.txt"),
    ("", "http://h/%2e%2e%2Fetc%2Fpasswd", "_etc_passwd"),
  ])
  func suggestedFilename(_ fields: String, _ url: String, _ name: String) throws {
    let suggested = try #require(try Self.response(fields, url).suggestedFilename)
    #expect(suggested == name)
    #expect(
      !suggested.contains("/") && !suggested.hasPrefix(".")
        && !suggested.unicodeScalars.contains { $0.value < 32 })
  }

  @Test func fieldsByName() throws {
    let response = try Self.response(
      "content-type: a/b\r\nETAG: x\r\nx-Own: 1\r\nX-OWN: 2\r\nwww-authenticate: Basic\r\n")
    // Registered names are spelled as registered, others as the first one came.
    #expect(
      response.allHeaderFields == [
        "Content-Type": "a/b", "ETag": "x", "x-Own": "1, 2", "WWW-Authenticate": "Basic",
        "Content-Length": "1",
      ])
    for name in ["Content-Type", "content-type", "CONTENT-TYPE"] {
      #expect(response.value(forHTTPHeaderField: name) == "a/b")
    }
    #expect(response.value(forHTTPHeaderField: "X-Own") == "1, 2")
    #expect(response.value(forHTTPHeaderField: "None") == nil)
    #expect(
      response.fields.map(\.name) == [
        "content-type", "ETAG", "x-Own", "X-OWN", "www-authenticate", "Content-Length",
      ])
    #expect(response.httpVersion == "HTTP/1.1" && response.statusCode == 200)
  }

  @Test func theConnectionThatItCameOn() throws {
    let server = ScriptedServer([[.ok("a", status: "302 F", "Location: /b\r\n"), .ok("b")]])
    let log = CallbackLog()
    _ = try Loading.run(URLRequest(string: "http://h/a"), Loading.configuration(server), log)
    let response = try #require(log.responses.last)
    #expect(response.isReusedConnection && !response.isFromCache)
    // In memory there is no address; CloseReasonTests has those of sockets.
    #expect(response.remoteAddress == nil && response.remotePort == nil)
  }

  @Test func aPartHasItsOuterResponsesConnection() throws {
    let log = CallbackLog()
    _ = try Loading.run(
      "http://h/",
      [
        Answer(
          "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\n\r\n--B\r\nContent-Type: a/b\r\n\r\nx\r\n--B--",
          ending: .endOfFile)
      ], log)
    let part = try #require(log.responses.last)
    #expect(part.partIndex == 0 && part.mimeType == "a/b" && part.httpVersion == "HTTP/1.0")
    #expect(!part.isReusedConnection && part.remoteAddress == part.outerResponse?.remoteAddress)
  }
}
