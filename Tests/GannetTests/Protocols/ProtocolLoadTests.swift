import Dispatch
import Gannet
import GannetSockets
import TestSupport
import Testing

/// What a delegate hears of a load that a protocol class answers, whatever the class's code does.
@Suite(.timeLimit(.minutes(1))) struct ProtocolLoadTests {
  /// Loads a path of the mock, and returns the callbacks.
  private static func run(
    _ path: String, _ log: CallbackLog = CallbackLog(),
    _ configuration: URLConnection.Configuration = Mock.configuration, _ script: @escaping Mock.Script
  ) throws -> [String] {
    Mock.answer(path, script)
    return try Loading.run(URLRequest(string: "http://mock.test\(path)"), configuration, log)
  }

  @Test func aResponseAndItsBody() throws {
    let lines = try Self.run("/plain") { mock, _ in
      mock.respond(201)
      mock.load("hel")
      mock.load("")
      mock.load("lo")
      mock.finish()
    }
    #expect(lines == ["response 201 length -1", "data hello", "finish"])
    #expect(Mock.calls("/plain") == ["start", "stop"])
  }

  private static let mischief: [(String, [String], Mock.Script)] = [
    (
      "/twice", ["response 200 length -1", "finish"],
      { mock, client in
        mock.respond()
        mock.finish()
        mock.finish()
        mock.load("late")
        client.urlProtocol(
          mock, didFailWithError: ConnectionError(.unknown, phase: .receiving, url: "", reason: ""))
      }
    ),
    (
      "/early", ["fail badServerResponse awaiting"],
      { mock, _ in
        mock.load("early")
        mock.respond()
        mock.finish()
      }
    ),
    ("/hollow", ["fail badServerResponse awaiting"], { mock, _ in mock.finish() }),
    (
      "/turning", ["response 200 length -1", "fail badServerResponse receiving"],
      { mock, _ in
        mock.respond()
        mock.redirect(to: "http://mock.test/plain")
      }
    ),
    (
      "/failing", ["response 200 length -1", "data x", "fail timedOut connecting"],
      { mock, client in
        mock.respond()
        mock.load("x")
        client.urlProtocol(
          mock, didFailWithError: ConnectionError(.timedOut, phase: .connecting, url: "u", reason: "r"))
        mock.finish()
      }
    ),
    (
      "/foreign", ["fail unknown awaiting"],
      { mock, client in client.urlProtocol(mock, didFailWithError: CancellationError()) }
    ),
  ]

  @Test(arguments: mischief.indices)
  func theContractHoldsWhateverTheProtocolDoes(_ index: Int) throws {
    let (path, expected, script) = Self.mischief[index]
    #expect(try Self.run(path, CallbackLog(), Mock.configuration, script) == expected)
    #expect(Mock.calls(path) == ["start", "stop"])
  }

  /// Eight threads say everything at once, with the end among it; the load is one all the same.
  @Test func eightThreadsAtOnce() async throws {
    for round in 0..<20 {
      let path = "/threads\(round)"
      Mock.answer(path) { mock, client in
        mock.respond()
        for thread in 0..<8 {
          Task.detached {
            for piece in 0..<50 {
              mock.load("x")
              if piece == 25 + thread { mock.finish() }
              if piece % 10 == 9 { mock.respond() }
              if piece == 40 { client.urlProtocol(mock, didFailWithError: CancellationError()) }
            }
          }
        }
      }
      let probe = HostProbe()
      _ = URLConnection(
        request: URLRequest(string: "http://mock.test\(path)"), delegate: probe,
        configuration: Mock.configuration, on: .shared)
      let report = try await probe.end.value
      #expect(report.ends == 1 && report.overlaps == 0 && report.threads.count == 1)
      #expect(report.calls.first == "response 200" && ["finish", "fail"].contains(report.calls.last))
      #expect(report.body.count <= 8 * 50)
    }
  }

  @Test(arguments: ["response", "data"])
  func nothingComesAfterACancel(_ callback: String) throws {
    let log = CallbackLog()
    log.onCallback = { name, connection in if name == callback { connection.cancel() } }
    let lines = try Self.run("/cancel-\(callback)", log) { mock, _ in
      mock.respond()
      for _ in 0..<3 { mock.load("x") }
      mock.finish()
    }
    #expect(
      lines == (callback == "response" ? ["response 200 length -1"] : ["response 200 length -1", "data x"]))
    #expect(Mock.calls("/cancel-\(callback)") == ["start", "stop"])
  }

  @Test func aCancelBeforeTheHostsTurnStartsNothing() throws {
    Mock.answer("/never") { mock, _ in mock.finish() }
    let loop = try EventLoop()
    let log = CallbackLog()
    let connection = URLConnection(
      request: URLRequest(string: "http://mock.test/never"), delegate: log, configuration: Mock.configuration,
      on: .loop(loop.handle))
    connection?.cancel()
    loop.run()
    #expect(log.finished() == [] && Mock.calls("/never") == [])
    loop.shutDown()
  }

  /// While the load is paused nothing is told; what waits asks the protocol to pause, once, and to go on, once.
  @Test func whatWaitsHoldsTheProtocolUp() throws {
    let log = CallbackLog()
    log.onCallback = { name, connection in if name == "response" { connection.pause() } }
    Mock.answer("/much") { mock, _ in
      mock.respond()
      for _ in 0..<10 { mock.load(String(repeating: "x", count: 100_000)) }
    }
    let loop = try EventLoop()
    let connection = URLConnection(
      request: URLRequest(string: "http://mock.test/much"), delegate: log, configuration: Mock.configuration,
      on: .loop(loop.handle))
    loop.run(until: .now + .milliseconds(20))
    #expect(log.lines == ["response 200 length -1"] && Mock.calls("/much") == ["start", "pause"])
    connection?.resume()
    loop.run(until: .now + .milliseconds(20))
    #expect(log.finished() == ["response 200 length -1", "data 1000000 bytes"])
    #expect(Mock.calls("/much") == ["start", "pause", "resume"])
    connection?.cancel()
    loop.run()
    loop.shutDown()
  }

  /// A class whose `pauseLoading()` takes as long as the test says.
  private final class Slow: URLProtocol, @unchecked Sendable {
    static let calls = Guarded<[String]>([])
    static let current = Guarded<Slow?>(nil)
    static let isDrained = DispatchSemaphore(value: 0)

    override class func canInit(with request: URLRequest) -> Bool { request.urlString == "http://slow.test/" }
    override func startLoading() {
      Slow.current.withLock { $0 = self }
      DispatchQueue(label: "slow protocol").async { [self] in
        client?.urlProtocol(self, didReceive: HTTPURLResponse(urlString: request.urlString, statusCode: 200))
        load(300_000)
      }
    }
    override func pauseLoading() {
      Slow.calls.withLock { $0.append("pausing") }
      Slow.isDrained.wait()
      Slow.calls.withLock { $0.append("paused") }
    }
    override func resumeLoading() {
      Slow.calls.withLock { $0.append("resume") }
      client?.urlProtocolDidFinishLoading(self)
    }
    func load(_ count: Int) { client?.urlProtocol(self, didLoad: Data(count: count)) }
  }

  /// The host may be faster than the thread that is about to pause: who is told to go on has paused by then.
  @Test func aProtocolGoesOnOnlyAfterItHasPaused() throws {
    let log = CallbackLog()
    var pieces = 0
    log.onCallback = { word, _ in
      guard word == "data" else { return }
      pieces += 1
      if pieces == 1 { Slow.current.withLock { $0 }?.load(1) } else { Slow.isDrained.signal() }
    }
    var configuration = URLConnection.Configuration()
    configuration.protocolClasses = [Slow.self]
    let lines = try Loading.run(URLRequest(string: "http://slow.test/"), configuration, log)
    Slow.current.withLock { $0 = nil }
    #expect(lines == ["response 200 length -1", "data 300001 bytes", "finish"])
    #expect(Slow.calls.withLock { $0 } == ["pausing", "paused", "resume"])
  }

  @Test func aProtocolThatSaysNothingTimesOut() throws {
    var request = URLRequest(string: "http://mock.test/silent")
    request.timeoutInterval = 0.02
    #expect(try Loading.run(request, Mock.configuration) == ["fail timedOut awaiting"])
    #expect(Mock.calls("/silent") == ["start", "stop"])
  }

  @Test func aThreadThatEndsFailsIt() throws {
    let log = CallbackLog()
    let loop = try EventLoop()
    let connection = URLConnection(
      request: URLRequest(string: "http://mock.test/left"), delegate: log, configuration: Mock.configuration,
      on: .loop(loop.handle))
    loop.run(until: .now)
    loop.shutDown()
    #expect(log.finished() == ["fail networkConnectionLost awaiting"])
    #expect(Mock.calls("/left") == ["start", "stop"])
    withExtendedLifetime(connection) {}
  }

  @Test func metricsComeBeforeTheEnd() throws {
    var configuration = Mock.configuration
    configuration.collectsMetrics = true
    let lines = try Self.run("/metrics", CallbackLog(), configuration) { mock, _ in
      mock.respond()
      mock.finish()
    }
    #expect(lines == ["response 200 length -1", "metrics", "finish"])
  }

  /// Answers its challenge itself: what the delegate said is the body.
  private final class Sender: URLAuthenticationChallengeSender {
    let mock: Mock
    init(_ mock: Mock) { self.mock = mock }
    private func answer(_ text: String) {
      mock.respond()
      mock.load(text)
      mock.finish()
    }
    func use(_ credential: URLCredential?, for challenge: URLAuthenticationChallenge) {
      answer(credential?.user ?? "nil")
    }
    func continueWithoutCredential(for challenge: URLAuthenticationChallenge) { answer("without") }
    func cancel(_ challenge: URLAuthenticationChallenge) {
      mock.client?.urlProtocol(mock, didCancel: challenge)
      mock.client?.urlProtocol(
        mock,
        didFailWithError: ConnectionError(
          .userCancelledAuthentication, phase: .receiving, url: "", reason: "cancelled"))
    }
    func performDefaultHandling(for challenge: URLAuthenticationChallenge) { answer("default") }
    func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge) { answer("rejected") }
  }

  @Test(arguments: ["user", "without", "cancel"])
  func aChallengeIsTheDelegatesToAnswer(_ kind: String) throws {
    let log = CallbackLog()
    log.challengeAnswer = { challenge in
      switch kind {
      case "user":
        challenge.sender?.use(
          URLCredential(user: "user", password: "", persistence: .none), for: challenge)
      case "without": challenge.sender?.continueWithoutCredential(for: challenge)
      default: challenge.sender?.cancel(challenge)
      }
    }
    let lines = try Self.run("/challenge-\(kind)", log) { mock, client in
      client.urlProtocol(
        mock,
        didReceive: URLAuthenticationChallenge(
          protectionSpace: URLProtectionSpace(host: "mock.test", port: 80, protocol: "http", realm: "r"),
          proposedCredential: nil, previousFailureCount: 0, failureResponse: nil, error: nil,
          sender: Sender(mock)))
    }
    let rest =
      kind == "cancel"
      ? ["didCancel", "fail userCancelledAuthentication receiving"]
      : ["response 200 length -1", "data \(kind)", "finish"]
    #expect(lines == ["challenge r failures 0"] + rest)
  }

  @Test func theConveniencesTakeIt() async throws {
    Mock.answer("/whole") { mock, client in
      client.urlProtocol(
        mock,
        didReceive: URLResponse(
          urlString: mock.request.urlString, mimeType: "TEXT/Plain", expectedContentLength: 5,
          textEncodingName: "utf-8"))
      mock.load("hello")
      mock.finish()
    }
    let request = URLRequest(string: "mock:///whole")
    let (data, response) = try await URLConnection.data(for: request, configuration: Mock.configuration)
    #expect(data == Data("hello".utf8) && response.statusCode == 200 && response.expectedContentLength == 5)
    #expect(response.mimeType == "text/plain" && response.textEncodingName == "utf-8")
    var bytes = 0
    for try await case .data(let data) in URLConnection.events(
      for: request, configuration: Mock.configuration)
    {
      bytes += data.count
    }
    #expect(bytes == 5)
    let (whole, _) = try await TestThread.run {
      try URLConnection.sendSynchronousRequest(request, configuration: Mock.configuration)
    }
    #expect(whole == data)
    let (plain, body, error) = await withCheckedContinuation { continuation in
      URLConnection.sendAsynchronousRequest(
        request, queue: .main, configuration: Mock.configuration
      ) { continuation.resume(returning: ($0, $1, $2)) }
    }
    #expect(!(plain is HTTPURLResponse) && plain?.mimeType == "text/plain" && body == data && error == nil)
  }
}
