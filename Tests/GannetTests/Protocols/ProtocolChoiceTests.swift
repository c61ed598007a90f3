import Gannet
import GannetSockets
import TestSupport
import Testing

/// Which protocol class answers a request, and what of redirects between them and the network.
@Suite(.timeLimit(.minutes(1))) struct ProtocolChoiceTests {
  /// Takes the requests of one host, and names itself.
  class Named: URLProtocol, @unchecked Sendable {
    class var host: String { "" }
    override class func canInit(with request: URLRequest) -> Bool {
      request.urlString.hasPrefix("http://\(host)/")
    }
    override func startLoading() {
      client?.urlProtocol(self, didReceive: HTTPURLResponse(urlString: request.urlString, statusCode: 200))
      client?.urlProtocol(self, didLoad: Data("\(type(of: self))".utf8))
      client?.urlProtocolDidFinishLoading(self)
    }
  }
  final class First: Named, @unchecked Sendable { override class var host: String { "registered.test" } }
  final class Second: Named, @unchecked Sendable { override class var host: String { "registered.test" } }
  final class Third: Named, @unchecked Sendable { override class var host: String { "registered.test" } }
  final class Idle: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { request.urlString.hasPrefix("idle:") }
  }

  private static func answer(_ configuration: URLConnection.Configuration = .default) throws -> [String] {
    var configuration = configuration
    // What nobody takes fails without a network.
    configuration.unixSocketPath = "/nowhere"
    return try Loading.run(URLRequest(string: "http://registered.test/"), configuration)
  }

  @Test func theLastRegisteredIsAskedFirstAndTheConfigurationsBefore() throws {
    func named(_ name: String) -> [String] { ["response 200 length -1", "data \(name)", "finish"] }
    defer { for known in [First.self, Second.self, Third.self] { URLProtocol.unregisterClass(known) } }
    #expect(URLProtocol.registerClass(First.self))
    #expect(try Self.answer() == named("First"))
    URLProtocol.registerClass(Second.self)
    #expect(try Self.answer() == named("Second"))
    URLProtocol.registerClass(First.self)
    #expect(try Self.answer() == named("First"))
    var own = URLConnection.Configuration()
    own.protocolClasses = [Idle.self, Third.self, Second.self]
    #expect(try Self.answer(own) == named("Third"))
    URLProtocol.unregisterClass(First.self)
    #expect(try Self.answer() == named("Second"))
    URLProtocol.unregisterClass(First.self)
    URLProtocol.unregisterClass(Second.self)
    #expect(try Self.answer() == ["fail cannotConnectToHost connecting"])
    #expect(!URLProtocol.registerClass(URLProtocol.self))
  }

  @Test func whatCanBeLoadedFollowsTheClasses() throws {
    let request = URLRequest(string: "idle:x")
    #expect(!URLConnection.canHandle(request))
    #expect(throws: ConnectionError.self) { try request.validate() }
    var configuration = URLConnection.Configuration()
    configuration.protocolClasses = [Idle.self]
    try request.validate(for: configuration)
    #expect(URLConnection(request: request, delegate: nil, startImmediately: false) == nil)
    // One that overrides nothing says so.
    let log = CallbackLog()
    #expect(try Loading.run(request, configuration, log) == ["fail unsupportedURL preparing"])
    #expect(log.error?.reason.contains("Idle") == true)
    for malformed in ["http://", "http:///x", "idle"] {
      #expect(throws: ConnectionError.self) { try URLRequest(string: malformed).validate(for: configuration) }
    }
  }

  @Test func propertiesAreNotedOnCopies() {
    var request = URLRequest(string: "http://h/")
    let before = request
    #expect(URLProtocol.property(forKey: "a", in: request) == nil)
    URLProtocol.setProperty(1, forKey: "a", in: &request)
    let copy = request
    URLProtocol.setProperty("two", forKey: "a", in: &request)
    #expect(URLProtocol.property(forKey: "a", in: request) as? String == "two")
    #expect(URLProtocol.property(forKey: "a", in: copy) as? Int == 1)
    #expect(URLProtocol.property(forKey: "a", in: before) == nil && request != copy && copy != before)
    URLProtocol.removeProperty(forKey: "a", in: &request)
    URLProtocol.removeProperty(forKey: "a", in: &request)
    #expect(URLProtocol.property(forKey: "a", in: request) == nil && request == before)
  }

  /// A class that passes on what it takes, marked, and gives the delegate what comes, as Cocoa's samples do.
  final class Relay: URLProtocol, URLConnectionDataDelegate, @unchecked Sendable {
    private var inner: URLConnection?
    override class func canInit(with request: URLRequest) -> Bool {
      request.urlString.hasPrefix("http://127.0.0.1") && property(forKey: "relayed", in: request) == nil
    }
    override func startLoading() {
      var passed = request
      URLProtocol.setProperty(true, forKey: "relayed", in: &passed)
      var configuration = URLConnection.Configuration()
      configuration.protocolClasses = [Relay.self]
      inner = URLConnection(request: passed, delegate: self, configuration: configuration)
    }
    override func stopLoading() { inner?.cancel() }
    func connection(_ connection: URLConnection, didReceive response: URLResponse) {
      client?.urlProtocol(self, didReceive: response)
    }
    func connection(_ connection: URLConnection, didReceive data: Data) {
      client?.urlProtocol(self, didLoad: Data("relayed ".utf8) + data)
    }
    func connectionDidFinishLoading(_ connection: URLConnection) { client?.urlProtocolDidFinishLoading(self) }
    func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
      client?.urlProtocol(self, didFailWithError: error)
    }
  }

  @Test func aClassPassesItsRequestOnToTheNetwork() throws {
    let server = try PathServer { $0 == "/reset" ? .reset : .ok("hello") }
    var configuration = URLConnection.Configuration()
    configuration.protocolClasses = [Relay.self]
    #expect(
      try Loading.run(URLRequest(string: server.url("/")), configuration)
        == ["response 200 length 5", "data relayed hello", "finish"])
    #expect(
      try Loading.run(URLRequest(string: server.url("/reset")), configuration).last?.hasPrefix("fail") == true
    )
  }

  /// Redirects between classes and the network, both ways; `%` is the server.
  @Test func redirectsLeadFromOneToTheOther() throws {
    let server = try PathServer { path in
      switch path {
      case "/to-mock": .ok("", status: "302 Found", "Location: http://mock.test/from-net\r\n")
      case "/to-scheme": .ok("", status: "302 Found", "Location: mock:///from-net\r\n")
      case "/to-data": .ok("", status: "302 Found", "Location: data:,x\r\n")
      case "/to-unknown": .ok("", status: "302 Found", "Location: other:x\r\n")
      default: .ok("hello")
      }
    }
    Mock.answer("/from-net") { mock, _ in
      mock.respond()
      mock.load("mock")
      mock.finish()
    }
    for (path, url) in [
      ("/a", server.url("/")), ("/b", server.url("/to-mock")), ("/c", "file:///etc/passwd"),
      ("/d", "data:,x"),
      ("/e", "other:x"), ("/f", "http://"),
    ] {
      Mock.answer(path) { mock, _ in
        mock.redirect(to: url)
        mock.respond()
        mock.finish()
      }
    }
    Mock.answer("/loop") { mock, _ in mock.redirect(to: "http://mock.test/loop") }
    let (net, mock) = ("willSend GET \(server.url(""))", "willSend GET http://mock.test")
    let rows: [(String, [String])] = [
      (
        server.url("/to-mock"),
        ["\(mock)/from-net after 302", "response 200 length -1", "data mock", "finish"]
      ),
      (
        server.url("/to-scheme"),
        ["willSend GET mock:///from-net after 302", "response 200 length -1", "data mock", "finish"]
      ),
      (server.url("/to-data"), ["fail unsupportedURL receiving"]),
      (server.url("/to-unknown"), ["fail unsupportedURL preparing"]),
      ("http://mock.test/a", ["\(net)/ after 302", "response 200 length 5", "data hello", "finish"]),
      (
        "http://mock.test/b",
        [
          "\(net)/to-mock after 302", "\(mock)/from-net after 302", "response 200 length -1", "data mock",
          "finish",
        ]
      ),
      ("http://mock.test/c", ["fail unsupportedURL receiving"]),
      ("http://mock.test/d", ["fail unsupportedURL receiving"]),
      ("http://mock.test/e", ["fail unsupportedURL preparing"]),
      ("http://mock.test/f", ["fail badURL preparing"]),
    ]
    for (url, lines) in rows {
      #expect(try Loading.run(URLRequest(string: url), Mock.configuration) == lines, "\(url)")
    }
    let loop = try Loading.run(URLRequest(string: "http://mock.test/loop"), Mock.configuration)
    #expect(
      loop == Array(repeating: "\(mock)/loop after 302", count: 20) + ["fail httpTooManyRedirects receiving"])
  }

  /// Without any class the same redirects fail as well.
  @Test(arguments: ["data:,x", "file:///etc/passwd"])
  func noRedirectReachesWhatIsBuiltIn(_ url: String) throws {
    let moved = Answer.ok("", status: "302 Found", "Location: \(url)\r\n")
    #expect(try Loading.run("http://h.test/", [moved]) == ["fail unsupportedURL receiving"])
  }

  @Test func theDelegateRefusesARedirectOrLoadsAnotherRequest() throws {
    Mock.answer("/moved") { mock, _ in mock.redirect(to: "http://mock.test/target") }
    Mock.answer("/other") { mock, _ in
      mock.respond()
      mock.finish()
    }
    let request = URLRequest(string: "http://mock.test/moved")
    let log = CallbackLog()
    log.answer = { _, _ in nil }
    let ask = "willSend GET http://mock.test/target after 302"
    #expect(try Loading.run(request, Mock.configuration, log) == [ask, "response 302 length -1", "finish"])
    var failing = Mock.configuration
    failing.refusedRedirect = .fail
    let strict = CallbackLog()
    strict.answer = { _, _ in nil }
    #expect(
      try Loading.run(request, failing, strict) == [ask, "fail redirectToNonExistentLocation receiving"])
    let other = CallbackLog()
    other.answer = { _, _ in URLRequest(string: "http://mock.test/other") }
    #expect(try Loading.run(request, Mock.configuration, other) == [ask, "response 200 length -1", "finish"])
    let cancelling = CallbackLog()
    cancelling.onCallback = { _, connection in connection.cancel() }
    #expect(try Loading.run(request, Mock.configuration, cancelling) == [ask])
  }

  final class Canonical: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { request.urlString.hasPrefix("canon:") }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
      URLRequest(string: request.urlString.lowercased())
    }
    override func startLoading() {
      client?.urlProtocol(self, didReceive: HTTPURLResponse(urlString: request.urlString, statusCode: 200))
      client?.urlProtocolDidFinishLoading(self)
    }
  }

  @Test func theCanonicalFormIsAskedAboutOnce() throws {
    var configuration = URLConnection.Configuration()
    configuration.protocolClasses = [Canonical.self]
    let log = CallbackLog()
    #expect(
      try Loading.run(URLRequest(string: "canon:ABC"), configuration, log)
        == ["willSend GET canon:abc", "response 200 length -1", "finish"])
    #expect(log.responses.first?.urlString == "canon:abc")
    let refusing = CallbackLog()
    refusing.answer = { _, _ in nil }
    #expect(
      try Loading.run(URLRequest(string: "canon:ABC"), configuration, refusing)
        == ["willSend GET canon:abc", "fail redirectToNonExistentLocation preparing"])
    #expect(
      try Loading.run(URLRequest(string: "canon:abc"), configuration)
        == ["response 200 length -1", "finish"])
  }

  /// Says all it has to say, and runs the loop before it returns.
  final class Impatient: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { request.urlString.hasPrefix("now:") }
    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
      URLRequest(string: request.urlString.lowercased())
    }
    override func startLoading() {
      client?.urlProtocol(self, didReceive: HTTPURLResponse(urlString: request.urlString, statusCode: 200))
      client?.urlProtocolDidFinishLoading(self)
      EventLoop.running?.run(until: .now)
    }
  }

  @Test(arguments: ["now:a", "now:A"])
  func whatIsSaidWhileTheLoopRunsInsideIsTold(_ url: String) throws {
    var configuration = URLConnection.Configuration()
    configuration.protocolClasses = [Impatient.self]
    #expect(
      try Loading.run(URLRequest(string: url, timeoutInterval: 2), configuration).suffix(2)
        == ["response 200 length -1", "finish"])
  }

  /// Takes a request once and no more.
  final class Fickle: URLProtocol, @unchecked Sendable {
    static let asked = Guarded(0)
    override class func canInit(with request: URLRequest) -> Bool {
      guard request.urlString.hasPrefix("fickle:") else { return false }
      return asked.withLock { asked in
        asked += 1
        return asked % 2 == 1
      }
    }
  }

  @Test func aClassThatIsGoneByTheTimeOfTheLoadIsToldOf() async throws {
    var configuration = URLConnection.Configuration()
    configuration.protocolClasses = [Fickle.self]
    let (request, told) = (URLRequest(string: "fickle:a"), Arrival<ConnectionError.Code?>())
    URLConnection.sendAsynchronousRequest(request, queue: .global(), configuration: configuration) {
      _, _, error in told.arrive(error?.code)
    }
    #expect(try await told.value == .unsupportedURL)
    #expect(throws: ConnectionError.self) {
      try URLConnection.sendSynchronousRequest(request, configuration: configuration)
    }
  }
}
