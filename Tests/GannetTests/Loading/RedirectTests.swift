import Gannet
import GannetSockets
import TestSupport
import Testing

/// Redirects as a load makes them: what the next request holds, what the delegate sees and may answer
/// (docs/CONTRACT.md, rules 6 and 7). What is decided is `RedirectPolicy`'s, and tested there.
@Suite struct RedirectTests {
  private static func redirect(_ status: Int, to location: String, body: String = "gone") -> Answer {
    .ok(body, status: "\(status) R", "Location: \(location)\r\n")
  }

  private static func request(_ method: String, _ url: String) -> URLRequest {
    var request = URLRequest(string: url)
    request.httpMethod = method
    guard ["POST", "PUT", "PATCH"].contains(method) else { return request }
    request.httpBody = Data("x=1".utf8)
    request.setValue("text/x", forHTTPHeaderField: "Content-Type")
    return request
  }

  @Test(arguments: [301, 302, 303, 307, 308], ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "get"])
  func theMethodAndTheBodyThatGoOn(_ status: Int, _ method: String) throws {
    let expected =
      switch (status, method) {
      case (301, "POST"), (302, "POST"): "GET"
      case (303, _): method == "HEAD" ? "HEAD" : "GET"
      default: method
      }
    let first = method == "HEAD" ? Answer("HTTP/1.1 \(status) R\r\nLocation: /b\r\n\r\n") : nil
    let server = ScriptedServer([
      [
        first ?? Self.redirect(status, to: "/b"),
        method == "HEAD" ? Answer("HTTP/1.1 200 OK\r\n\r\n") : .ok(""),
      ]
    ])
    let lines = try Loading.run(Self.request(method, "http://h/a"), Loading.configuration(server))
    #expect(lines.last == "finish")
    let sent = server.requests[0]
    let second = try #require(sent.firstRange(of: "\(expected) /b HTTP/1.1\r\n")).lowerBound
    let hadBody = ["POST", "PUT", "PATCH"].contains(method)
    let keeps = hadBody && (status == 307 || status == 308 || (status < 303 && method != "POST"))
    #expect(sent[second...].contains("Content-Type: text/x\r\n") == keeps)
    #expect(sent[second...].contains("Content-Length: 3\r\n") == keeps)
    #expect(sent.hasSuffix("\r\n\r\n" + (keeps ? "x=1" : "")))
  }

  @Test(arguments: [
    ("http://h/a", "http://h/b", true), ("http://h/a", "/b", true), ("http://h/a", "http://H:80/b", true),
    ("https://h/a", "https://h:443/b", true), ("http://h/a", "http://o/b", false),
    ("http://h/a", "//o/b", false), ("http://h/a", "http://h:8080/b", false),
    ("http://h:8080/a", "http://h/b", false), ("https://h/a", "http://h/b", false),
    ("http://h/a", "https://h/b", false), ("http://h/a", "http://sub.h/b", false),
    ("http://h/a", "http://h./b", false), ("http://h/a", "http://127.0.0.1/b", false),
  ])
  func credentialsStayWithTheirOrigin(_ url: String, _ location: String, _ stays: Bool) throws {
    let names = ["Authorization", "Cookie", "Cookie2", "Proxy-Authorization"]
    for status in [301, 302, 303, 307, 308] {
      var request = URLRequest(string: url)
      for name in names { request.setValue("secret", forHTTPHeaderField: name) }
      request.setValue("kept", forHTTPHeaderField: "X-Mine")
      let redirect = Self.redirect(status, to: location)
      let server = ScriptedServer(stays ? [[redirect, .ok("x")]] : [[redirect], [.ok("x")]])
      let log = CallbackLog()
      var offered: [URLRequest] = []
      log.answer = { request, response in
        if response != nil { offered.append(request) }
        return request
      }
      #expect(try Loading.run(request, Loading.configuration(server), log).last == "finish")
      let last = try #require(server.requests.last?.components(separatedBy: "GET ").last)
      for name in names {
        #expect(last.contains("\(name): secret") == stays, "\(status) \(name)")
        #expect((offered[0].value(forHTTPHeaderField: name) != nil) == stays, "what the delegate sees")
      }
      #expect(last.contains("X-Mine: kept"))
    }
  }

  @Test func whatWasStrippedStaysStrippedAndMayBeGivenBack() throws {
    for givesBack in [false, true] {
      var request = URLRequest(string: "http://a/1")
      request.setValue("secret", forHTTPHeaderField: "Authorization")
      request.setValue("mine.test", forHTTPHeaderField: "Host")
      let server = ScriptedServer([
        [Self.redirect(302, to: "http://b/2"), .ok("x")], [Self.redirect(302, to: "http://a/3")],
      ])
      let log = CallbackLog()
      log.answer = { request, _ in
        var request = request
        if givesBack, request.urlString == "http://b/2" {
          request.setValue("other", forHTTPHeaderField: "Authorization")
        }
        return request
      }
      #expect(try Loading.run(request, Loading.configuration(server), log).last == "finish")
      #expect(server.requests[0].hasPrefix("GET /1 HTTP/1.1\r\nHost: mine.test\r\nAuthorization: secret\r\n"))
      #expect(server.requests[1].contains("Authorization: other") == givesBack)
      #expect(server.requests[1].contains("Host: b\r\n"))
      let third = try #require(server.requests[0].firstRange(of: "GET /3 ")).lowerBound
      #expect(!server.requests[0][third...].contains("Authorization"))
      #expect(server.requests[0][third...].contains("Host: a\r\n"))
    }
  }

  /// The request's URL, `Location` as code points that are bytes, the target requested, and the URL that answers.
  private static let places: [(url: String, location: String, target: String, final: String)] = [
    ("http://h/a/b/c?q=1", "d", "/a/b/d", "http://h/a/b/d"),
    ("http://h/a/b/c?q=1", "../d", "/a/d", "http://h/a/d"),
    ("http://h/a/b/c?q=1", "./", "/a/b/", "http://h/a/b/"),
    ("http://h/a/b/c?q=1", "?z=2", "/a/b/c?z=2", "http://h/a/b/c?z=2"),
    ("http://h/a", "/x%2Fy", "/x%2Fy", "http://h/x%2Fy"),
    ("http://h/a", "/foo/./bar", "/foo/bar", "http://h/foo/bar"),
    ("http://h/a", "/t/1#reply9", "/t/1", "http://h/t/1#reply9"),
    ("http://h/a#x", "/b", "/b", "http://h/b#x"),
    ("http://h/a#x", "/b#y", "/b", "http://h/b#y"),
    ("http://h/a#x", "/b#", "/b", "http://h/b#"),
    ("http://h/a", "/c\u{C3}\u{A9}", "/c%C3%A9", "http://h/c%C3%A9"),
    ("http://h/a", "/c\u{E9}", "/c%E9", "http://h/c%E9"),
    ("http://h/a", "http://h/%C3%A9", "/%C3%A9", "http://h/%C3%A9"),
    (
      "http://h/a", "/x%0d%0aSet-Cookie:%20a=b", "/x%0d%0aSet-Cookie:%20a=b",
      "http://h/x%0d%0aSet-Cookie:%20a=b"
    ),
    ("http://h/a", "/a b", "/a%20b", "http://h/a%20b"),
  ]

  @Test(arguments: places)
  func whereALocationLeads(_ url: String, _ location: String, _ target: String, _ final: String) throws {
    let bytes =
      Array("HTTP/1.1 302 Found\r\nContent-Length: 0\r\nLocation: ".utf8) + Bytes.latin1(location)
      + Array("\r\n\r\n".utf8)
    let server = ScriptedServer([[Answer(bytes: bytes), .ok("x")]])
    let log = CallbackLog()
    #expect(try Loading.run(URLRequest(string: url), Loading.configuration(server), log).last == "finish")
    #expect(server.requests[0].contains("\r\n\r\nGET \(target) HTTP/1.1\r\nHost: h\r\n"))
    #expect(log.responses.last?.urlString == final)
  }

  @Test func aDefaultPortReplacesAnother() throws {
    let server = ScriptedServer([[Self.redirect(302, to: "http://127.0.0.1/b")], [.ok("x")]])
    let lines = try Loading.run(URLRequest(string: "http://127.0.0.1:8080/a"), Loading.configuration(server))
    #expect(lines.last == "finish")
    #expect(server.peers.map(\.origin.port) == [8080, 80])
    #expect(server.requests[1].contains("Host: 127.0.0.1\r\n"))
  }

  @Test(arguments: [
    "HTTP/1.1 300 M\r\nLocation: /b\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 302 F\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 302 F\r\nLocation:\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 304 N\r\nLocation: /b\r\n\r\n",
    "HTTP/1.1 305 U\r\nLocation: /b\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 306 S\r\nLocation: /b\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 399 X\r\nLocation: /b\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 201 C\r\nLocation: /b\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 202 A\r\nLocation: /b\r\nContent-Length: 4\r\n\r\nbody",
    "HTTP/1.1 200 OK\r\nRefresh: 0; url=/b\r\nContent-Length: 4\r\n\r\nbody",
  ])
  func whatIsNotARedirectIsDelivered(_ answer: String) throws {
    let log = CallbackLog()
    let lines = try Loading.run("http://h/a", [Answer(answer)], log)
    #expect(log.responses.count == 1)
    #expect(Array(lines.dropFirst()) == (answer.hasSuffix("body") ? ["data body", "finish"] : ["finish"]))
  }

  @Test(arguments: [20, 3, 0])
  func tooManyRedirectsEndTheLoad(_ limit: Int) throws {
    let loops = Array(repeating: Self.redirect(302, to: "/a"), count: 40)
    let server = ScriptedServer([loops])
    var configuration = Loading.configuration(server)
    configuration.maximumRedirects = limit
    let log = CallbackLog()
    let lines = try Loading.run(URLRequest(string: "http://h/a"), configuration, log)
    #expect(lines.last == "fail httpTooManyRedirects receiving")
    #expect(lines.count { $0.hasPrefix("willSend") } == limit)
    #expect(server.requests[0].components(separatedBy: "GET /a ").count == limit + 2)
    #expect(log.error?.cause == .limit("maximumRedirects"))
    #expect(log.error?.code.rawValue == -1007)
  }

  @Test(arguments: [
    ("Location: ftp://h/b\r\n", "fail unsupportedURL receiving"),
    ("Location: http://\r\n", "fail redirectToNonExistentLocation receiving"),
    ("Location: http://h:99999/\r\n", "fail redirectToNonExistentLocation receiving"),
    ("Location: /b\r\nLocation: /c\r\n", "fail badServerResponse receiving"),
  ])
  func aLocationThatLeadsNowhereFails(_ fields: String, _ line: String) throws {
    let lines = try Loading.run("http://h/a", [.ok("gone", status: "302 Found", fields), .ok("x")])
    #expect(lines == [line])
  }

  @Test func equalLocationsAreOne() throws {
    let lines = try Loading.run(
      "http://h/a", [.ok("", status: "302 Found", "Location: /b\r\nLocation: /b\r\n"), .ok("x")])
    #expect(lines.last == "finish")
  }

  @Test func aRefusedRedirectIsDeliveredOrFails() throws {
    for fails in [false, true] {
      let server = ScriptedServer([[Self.redirect(302, to: "/b"), .ok("next")]])
      var configuration = Loading.configuration(server)
      if fails { configuration.refusedRedirect = .fail }
      let log = CallbackLog()
      log.answer = { request, response in response == nil ? request : nil }
      let lines = try Loading.run(URLRequest(string: "http://h/a"), configuration, log)
      #expect(
        lines == ["willSend GET http://h/b after 302"]
          + (fails
            ? ["fail redirectToNonExistentLocation receiving"]
            : ["response 302 length 4", "data gone", "finish"]))
    }
  }

  @Test func aRefusedCanonicalStepFails() throws {
    for policy in [URLConnection.RefusedRedirect.deliverResponse, .fail] {
      let server = ScriptedServer([[.ok("x")]])
      var configuration = Loading.configuration(server)
      configuration.refusedRedirect = policy
      let log = CallbackLog()
      log.answer = { _, _ in nil }
      let lines = try Loading.run(URLRequest(string: "http://H"), configuration, log)
      #expect(lines == ["willSend GET http://h/", "fail redirectToNonExistentLocation preparing"])
      #expect(server.peers.isEmpty)
    }
  }

  @Test func theDelegateMayLoadSomethingElse() throws {
    let server = ScriptedServer([[Self.redirect(302, to: "/b")], [.ok("x")]])
    let log = CallbackLog()
    log.answer = { request, response in
      guard response != nil else { return request }
      var other = URLRequest(string: "http://O/c")
      other.httpMethod = "PUT"
      other.httpBody = Data("new".utf8)
      return other
    }
    let lines = try Loading.run(URLRequest(string: "http://h/a"), Loading.configuration(server), log)
    #expect(lines.suffix(3) == ["response 200 length 1", "data x", "finish"])
    #expect(server.requests[1].hasPrefix("PUT /c HTTP/1.1\r\nHost: o\r\n"))
    #expect(server.requests[1].hasSuffix("Content-Length: 3\r\n\r\nnew"))
  }

  @Test(arguments: ["nonsense", "ftp://h/", "http://"])
  func anAnswerThatCannotBeLoadedFails(_ url: String) throws {
    for isCanonicalStep in [true, false] {
      let server = ScriptedServer([[Self.redirect(302, to: "/b"), .ok("next")]])
      let log = CallbackLog()
      log.answer = { _, _ in URLRequest(string: url) }
      let start = isCanonicalStep ? "http://H/a" : "http://h/a"
      let lines = try Loading.run(URLRequest(string: start), Loading.configuration(server), log)
      #expect(lines.count == 2)
      #expect(["fail unsupportedURL preparing", "fail badURL preparing"].contains(lines[1]), "\(lines)")
    }
  }

  @Test func aLongBodyOfARedirectCostsItsConnection() throws {
    for (count, connections) in [(64 * 1024, 1), (64 * 1024 + 1, 2)] {
      let redirect = Self.redirect(302, to: "/b", body: String(repeating: "x", count: count))
      let server = ScriptedServer([[redirect, .ok("x")], [.ok("x")]])
      let lines = try Loading.run(URLRequest(string: "http://h/a"), Loading.configuration(server))
      #expect(lines.last == "finish")
      #expect(server.peers.count == connections)
    }
  }
}
