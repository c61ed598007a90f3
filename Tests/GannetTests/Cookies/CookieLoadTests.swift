import Gannet
import GannetSockets
import TestSupport
import Testing

/// Loads with cookies: which responses they are taken from, which requests they go with, and what the delegate has to say
/// (docs/CONTRACT.md, rule 16). Which cookies those are is `CookieJar`'s, and tested there.
@Suite("loads with cookies", .timeLimit(.minutes(1)))
struct CookieLoadTests {
  /// Loads one after the other with one storage. Each list answers one connection.
  private struct Bench {
    let server: ScriptedServer
    var configuration: URLConnection.Configuration
    let storage = HTTPCookieStorage()

    init(_ answers: [[Answer]]) {
      server = ScriptedServer(answers)
      configuration = Loading.configuration(server)
      configuration.cookieStorage = storage
    }

    func load(_ request: URLRequest, _ log: CallbackLog = CallbackLog()) throws -> [String] {
      try Loading.run(request, configuration, log)
    }

    @discardableResult
    func load(
      _ url: String = "http://h.test/", cookie: String? = nil, _ log: CallbackLog = CallbackLog()
    ) throws -> String? {
      var request = URLRequest(string: url)
      if let cookie { request.setValue(cookie, forHTTPHeaderField: "cookie") }
      return try load(request, log).last
    }

    /// The `Cookie` fields of each request, in the order of the connections; none is "-".
    var sent: [String] {
      server.requests.flatMap { $0.components(separatedBy: "\r\n\r\n").dropLast() }.map { head in
        let fields = head.components(separatedBy: "\r\n").filter { $0.lowercased().hasPrefix("cookie:") }
        return fields.isEmpty ? "-" : fields.map { String($0.dropFirst(8)) }.joined(separator: " | ")
      }
    }

    var kept: String {
      (storage.cookies ?? []).map { "\($0.name)=\($0.value)" }.joined(separator: " ")
    }
  }

  private static func set(_ cookies: String..., status: String = "200 OK", fields: String = "") -> Answer {
    .ok("x", status: status, cookies.map { "Set-Cookie: \($0)\r\n" }.joined() + fields)
  }
  private static func redirect(to location: String, _ cookies: String...) -> Answer {
    .ok(
      "", status: "302 Found", cookies.map { "Set-Cookie: \($0)\r\n" }.joined() + "Location: \(location)\r\n")
  }

  @Test func whatAResponseSetsGoesWithTheNextRequest() throws {
    let bench = Bench([
      [
        Self.set("a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "b=2", "c=\"x,y\"")
      ], [.ok("x")],
    ])
    #expect(try bench.load() == "finish")
    #expect(try bench.load() == "finish")
    #expect(bench.sent == ["-", "a=1; b=2; c=\"x,y\""])
    // Bytes that are not UTF-8 come back as they were.
    let raw = Bench([
      [
        Answer(
          bytes: Array("HTTP/1.1 200 OK\r\nSet-Cookie: a=".utf8) + [0xE9, 0x0D, 0x0A, 0x0D, 0x0A],
          ending: .endOfFile)
      ], [.ok("x")],
    ])
    try raw.load()
    #expect(raw.kept == "a=é")
    try raw.load()
    #expect(Bytes.text(raw.server.peers[1].sent).contains("\r\nCookie: a=\u{E9}\r\n"))
  }

  /// A redirect's cookies are there for the request that follows it, which is shown as it is sent.
  @Test func aRedirectSetsThem() throws {
    let bench = Bench([[Self.redirect(to: "/in", "s=1; Path=/", "t=2; Path=/other"), .ok("x")]])
    let log = CallbackLog()
    var shown: [String?] = []
    log.answer = { request, _ in
      shown.append(request.value(forHTTPHeaderField: "Cookie"))
      return request
    }
    #expect(try bench.load("http://h.test/login", log) == "finish")
    #expect(bench.sent == ["-", "s=1"])
    #expect(shown == ["s=1"])
    // The same URL once more, whose cookie changes, is no loop.
    let again = Bench([[Self.redirect(to: "/", "n=1"), Self.redirect(to: "/", "n=2"), .ok("x")]])
    #expect(try again.load() == "finish")
    #expect(again.sent == ["-", "n=1", "n=2"])
  }

  /// The caller's field goes as it is and alone, to its own origin; what is stored goes where it does not.
  @Test func aFieldOfTheCallersOwnStandsAlone() throws {
    let there = [Self.redirect(to: "/b", "k=2"), Self.redirect(to: "http://o.test/", "l=3")]
    let bench = Bench([
      [Self.set("j=1")], there + [.ok("x")], [Self.redirect(to: "http://h.test/c", "o=4")],
    ])
    try bench.load()
    #expect(try bench.load("http://h.test/a", cookie: "mine=0; j=9") == "finish")
    // There and back: the caller's stays behind, and the storage's is sent in its place.
    #expect(bench.sent == ["-", "mine=0; j=9", "mine=0; j=9", "j=1; k=2; l=3", "-"])
    #expect(bench.kept == "j=1 k=2 l=3 o=4")
  }

  @Test func cookiesGoToTheirOwnHosts() throws {
    let bench = Bench([
      [Self.set("a=1", "b=2; Domain=h.test"), .ok("x")], [.ok("x")], [.ok("x")], [.ok("x")], [.ok("x")],
    ])
    try bench.load()
    for host in ["www.h.test", "noth.test", "h.test.evil.net", "h.test:81"] {
      try bench.load("http://\(host)/")
    }
    #expect(bench.sent == ["-", "b=2", "-", "-", "a=1; b=2"])
  }

  @Test func aChallengeSetsThem() throws {
    let asks = Self.set("s=1", status: "401 Unauthorized", fields: "WWW-Authenticate: Basic realm=\"r\"\r\n")
    let bench = Bench([[asks, Self.set("s=2")], [.ok("x")]])
    #expect(try bench.load("http://u:p@h.test/") == "finish")
    try bench.load()
    #expect(bench.sent == ["-", "s=1", "s=2"])
  }

  /// A 304 sets cookies as any response does; what is stored sets none when it answers later.
  @Test func theCacheSetsNothingAgain() throws {
    let stale = "ETag: \"v\"\r\nCache-Control: max-age=0\r\n"
    let valid = Answer("HTTP/1.1 304 Not Modified\r\nSet-Cookie: n=2\r\nCache-Control: max-age=60\r\n\r\n")
    let bench = Bench([[Self.set("s=1", fields: stale)], [valid]])
    try bench.load()
    try bench.load()
    #expect(bench.kept == "s=1 n=2")
    bench.storage.removeCookies(since: .distantPast)
    let log = CallbackLog()
    #expect(try bench.load("http://h.test/", log) == "finish")
    #expect(log.responses.first?.isFromCache == true)
    #expect(bench.kept == "")
    #expect(bench.sent == ["-", "s=1"])
  }

  @Test func storedResponsesAreChosenByTheCookiesSent() throws {
    let varied = "Vary: Cookie\r\nCache-Control: max-age=60\r\n"
    let bench = Bench([[Self.set("s=1", fields: varied)], [.ok("two", varied)]])
    try bench.load()
    let log = CallbackLog()
    #expect(try bench.load(URLRequest(string: "http://h.test/"), log).contains("data two"))
    #expect(log.responses.first?.isFromCache == false)
    let again = CallbackLog()
    #expect(try bench.load(URLRequest(string: "http://h.test/"), again).contains("data two"))
    #expect(again.responses.first?.isFromCache == true)
    #expect(bench.sent == ["-", "s=1"])
  }

  /// Neither what comes before the response, nor after it, nor the parts in it.
  @Test func whatSetsNone() throws {
    let early = "HTTP/1.1 103 Early Hints\r\nSet-Cookie: e=1\r\n\r\n"
    let chunked = "HTTP/1.1 200 OK\r\nSet-Cookie: s=1\r\nTransfer-Encoding: chunked\r\n\r\n"
    let trailers = "1\r\nx\r\n0\r\nSet-Cookie: t=1\r\n\r\n"
    let parts = "--B\r\nSet-Cookie: p=1\r\n\r\nx\r\n--B--\r\n"
    let type = "Content-Type: multipart/x-mixed-replace;boundary=B\r\n"
    let bench = Bench([[Answer(early + chunked + trailers)], [.ok(parts, type)]])
    let log = CallbackLog()
    #expect(try bench.load("http://h.test/", log) == "finish")
    #expect(log.lines.contains("informational 103"))
    #expect(log.lines.contains { $0.hasPrefix("trailers Set-Cookie=t=1") })
    let stream = CallbackLog()
    #expect(try bench.load("http://h.test/", stream) == "finish")
    #expect(stream.responses.last?.fields["Set-Cookie"] == "p=1")
    #expect(bench.kept == "s=1")
  }

  @Test func aRequestMayDoWithout() throws {
    let bench = Bench([
      [Self.set("s=1")], [Self.redirect(to: "/b", "r=1"), Self.set("t=1")], [Self.set("u=1")],
    ])
    try bench.load()
    var request = URLRequest(string: "http://h.test/")
    request.httpShouldHandleCookies = false
    #expect(try bench.load(request).last == "finish")
    request.setValue("own=1", forHTTPHeaderField: "Cookie")
    #expect(try bench.load(request).last == "finish")
    #expect(bench.sent == ["-", "-", "-", "own=1"])
    #expect(bench.kept == "s=1")
  }

  @Test func aConfigurationMayDoWithout() throws {
    var bench = Bench([[Self.redirect(to: "/b", "s=1"), .ok("x")]])
    bench.configuration.cookieStorage = nil
    try bench.load()
    #expect(bench.sent == ["-", "-"])
    #expect(bench.kept == "")
    #expect(URLConnection.Configuration().cookieStorage === HTTPCookieStorage.shared)
  }

  /// What the delegate does with the request it is shown, and what is sent then.
  private static let edits: [(what: String, edit: @Sendable (inout URLRequest) -> Void, sent: String)] = [
    ("nothing", { _ in }, "s=1"),
    ("another value", { $0.setValue("d=1", forHTTPHeaderField: "Cookie") }, "d=1"),
    ("more", { $0.addValue("d=1", forHTTPHeaderField: "Cookie") }, "s=1 | d=1"),
    ("none", { $0.setValue(nil, forHTTPHeaderField: "Cookie") }, "-"),
    ("another URL of the host", { $0.url = URL(string: "http://h.test/p/q") }, "p=2; s=1"),
    ("another host", { $0.url = URL(string: "http://o.test/") }, "-"),
    ("another request", { $0 = URLRequest(string: "http://h.test/p") }, "p=2; s=1"),
    ("no handling", { $0.httpShouldHandleCookies = false }, "-"),
    (
      "no handling, and its own",
      {
        $0.httpShouldHandleCookies = false
        $0.setValue("d=1", forHTTPHeaderField: "Cookie")
      }, "d=1"
    ),
  ]

  @Test(arguments: edits.indices)
  func theDelegateHasTheLastWord(_ index: Int) throws {
    let (what, edit, sent) = Self.edits[index]
    let answers = [Self.redirect(to: "/b", "s=1", "p=2; Path=/p"), .ok("x")]
    let bench = Bench([[answers[0], answers[1]], [.ok("x")]])
    let log = CallbackLog()
    log.answer = { request, _ in
      #expect(request.value(forHTTPHeaderField: "Cookie") == "s=1")
      var request = request
      edit(&request)
      return request
    }
    #expect(try bench.load("http://h.test/a", log) == "finish")
    #expect(bench.sent.last == sent, "\(what)")
  }

  /// What was taken away from one request comes back with the next.
  @Test func anEditIsForOneRequest() throws {
    let bench = Bench([[Self.redirect(to: "/b", "s=1"), Self.redirect(to: "/c"), .ok("x")]])
    let log = CallbackLog()
    log.answer = { request, _ in
      var request = request
      if request.urlString.hasSuffix("b") { request.setValue(nil, forHTTPHeaderField: "Cookie") }
      return request
    }
    #expect(try bench.load("http://h.test/a", log) == "finish")
    #expect(bench.sent == ["-", "-", "s=1"])
  }

  @Test func theCanonicalRequestShowsThem() throws {
    let bench = Bench([[Self.set("s=1")], [.ok("x")]])
    try bench.load()
    let log = CallbackLog()
    log.answer = { request, response in
      #expect(response == nil && request.value(forHTTPHeaderField: "Cookie") == "s=1")
      return request
    }
    #expect(try bench.load("http://H.TEST:80", log) == "finish")
    #expect(log.lines.first?.hasPrefix("willSend") == true)
    #expect(bench.sent == ["-", "s=1"])
  }

  @Test func whichCookiesAreAccepted() throws {
    let table: [(HTTPCookie.AcceptPolicy, String?, String)] = [
      (.always, nil, "a=1 b=2"), (.always, "http://other.test/", "a=1 b=2"), (.never, nil, ""),
      (.onlyFromMainDocumentDomain, nil, "a=1 b=2"),
      (.onlyFromMainDocumentDomain, "https://api.h.test/x", "a=1 b=2"),
      (.onlyFromMainDocumentDomain, "http://www.h.test/", "b=2"),
      (.onlyFromMainDocumentDomain, "http://x.api.h.test/", "b=2"),
      (.onlyFromMainDocumentDomain, "http://other.test/", ""),
    ]
    for (policy, main, kept) in table {
      let bench = Bench([[Self.set("a=1", "b=2; Domain=h.test")]])
      bench.storage.cookieAcceptPolicy = policy
      var request = URLRequest(string: "http://api.h.test/")
      request.mainDocumentURL = main.flatMap { URL(string: $0) }
      #expect(try bench.load(request).last == "finish")
      #expect(bench.kept == kept, "\(policy) \(main ?? "none")")
    }
  }

  /// Secure ones neither come nor go without TLS, save to this machine itself.
  @Test func secureCookies() throws {
    let bench = Bench([
      [Self.set("s=1; Secure", "__Host-h=1; Secure; Path=/")], [Self.set("s=2; Secure", "s=3")], [.ok("x")],
      [Self.set("l=1; Secure"), .ok("x")],
    ])
    try bench.load("https://h.test/")
    try bench.load("http://h.test/")
    try bench.load("https://h.test/")
    #expect(bench.sent == ["-", "-", "s=1; __Host-h=1"])
    try bench.load("http://localhost/")
    #expect(bench.kept == "s=1 __Host-h=1 l=1")
  }

  /// Where a protocol class's answer leads to the network, the request is shown as it is sent there; what the class
  /// answers with sets nothing.
  @Test func protocolClasses() throws {
    var bench = Bench([[.ok("x")]])
    bench.configuration.protocolClasses = [Leading.self]
    let cookie = try #require(
      HTTPCookie(properties: [.name: "s", .value: "1", .domain: "h.test", .path: "/"]))
    bench.storage.setCookie(cookie)
    let log = CallbackLog()
    var shown: [String?] = []
    log.answer = { request, _ in
      shown.append(request.value(forHTTPHeaderField: "Cookie"))
      return request
    }
    #expect(try bench.load("leading:x", log) == "finish")
    #expect(shown == ["s=1"])
    #expect(bench.sent == ["s=1"])
    #expect(bench.kept == "s=1")
  }

  /// Leads to the network.
  private final class Leading: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { request.urlString.hasPrefix("leading:") }
    override func startLoading() {
      client?.urlProtocol(
        self, wasRedirectedTo: URLRequest(string: "http://h.test/"),
        redirectResponse: HTTPURLResponse(
          urlString: request.urlString, statusCode: 302, fields: ["Set-Cookie": "c=1"]))
    }
  }
}
