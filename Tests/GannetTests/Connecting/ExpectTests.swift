import Gannet
import GannetSockets
import TestSupport
import Testing

/// `Expect: 100-continue` (RFC 9110 section 10.1.1): when the body is sent, and what becomes of it when it is not.
@Suite struct ExpectTests {
  private static func request(_ method: String = "POST", _ body: Int = 40_000) -> URLRequest {
    var request = URLRequest(string: "http://h/a")
    request.httpMethod = method
    request.httpBody = body > 0 ? Data(repeating: 0x61, count: body) : nil
    request.setValue("100-Continue", forHTTPHeaderField: "Expect")
    return request
  }

  /// A server that says `answers` one after the other, each once a head that expects 100 has come; a request that does
  /// not expect it is answered when it is whole.
  private static func server(_ answers: [Answer], _ later: [Answer] = []) -> ScriptedServer {
    let server = ScriptedServer(Array(repeating: later, count: 3))
    var answers = answers
    server.onConnect = { peer in
      var heads = 0
      peer.onSent = { peer in
        let parts = String(decoding: peer.sent, as: UTF8.self).components(separatedBy: "\r\n\r\n")
        let expecting = parts.dropLast().count { $0.contains("Expect") }
        guard expecting > heads, !answers.isEmpty else { return }
        heads = expecting
        peer.say(answers.removeFirst())
      }
    }
    return server
  }

  private static func run(
    _ request: URLRequest, _ server: ScriptedServer, limit: Duration = .seconds(10),
    _ log: CallbackLog = CallbackLog()
  ) throws -> [String] {
    var configuration = Loading.configuration(server)
    configuration.expectContinueTimeLimit = limit
    return try Loading.run(request, configuration, log).filter { !$0.hasPrefix("sent") }
  }

  private static func bodyBytes(_ server: ScriptedServer, _ index: Int = 0) -> Int {
    server.peers[index].sent.count { $0 == 0x61 }
      - server.requests[index].components(separatedBy: "\r\n\r\n")[0]
      .count { $0 == "a" }
  }

  private static let done = ["response 200 length 4", "data done", "finish"]

  @Test(arguments: [10, 40_000, 3_000_000])
  func theBodyWaitsFor100(_ size: Int) throws {
    let server = ScriptedServer([[.ok("done")]])
    var headAlone: Int?
    server.onConnect = { peer in
      peer.onSent = { peer in
        guard headAlone == nil else { return }
        headAlone = Self.bodyBytes(server)
        peer.say(Answer("HTTP/1.1 100 Continue\r\nA: b\r\n\r\n"))
      }
    }
    let lines = try Self.run(Self.request("POST", size), server)
    #expect(headAlone == 0)
    #expect(lines == ["informational 100"] + Self.done)
    #expect(Self.bodyBytes(server) == size)
    #expect(server.requests[0].contains("\r\nExpect: 100-Continue\r\n"))
  }

  @Test func aServerThatSaysNothingGetsTheBodyInTheEnd() throws {
    let server = ScriptedServer([[.ok("done")]])
    let begin = ContinuousClock.now
    #expect(try Self.run(Self.request(), server, limit: .milliseconds(60)) == Self.done)
    #expect(ContinuousClock.now - begin >= .milliseconds(60))
    #expect(Self.bodyBytes(server) == 40_000)
  }

  @Test func anotherInformationalResponseIsNoContinue() throws {
    let server = Self.server([Answer("HTTP/1.1 103 Hints\r\n\r\n")], [.ok("done")])
    let begin = ContinuousClock.now
    let lines = try Self.run(Self.request(), server, limit: .milliseconds(60))
    #expect(lines == ["informational 103"] + Self.done)
    #expect(ContinuousClock.now - begin >= .milliseconds(60))
  }

  @Test(arguments: ["413 Too Large", "404 Not Found", "500 Oops"], [false, true])
  func aRefusalSavesTheBody(_ status: String, _ saysClose: Bool) throws {
    let server = Self.server([.ok("no", status: status, saysClose ? "Connection: close\r\n" : "")])
    let lines = try Self.run(Self.request(), server)
    #expect(lines == ["response \(status.prefix(3)) length 2", "data no", "finish"])
    #expect(Self.bodyBytes(server) == 0)
    #expect(server.peers[0].isClosed)
  }

  @Test func aRefusedExpectationIsDroppedAndTheBodySentOnce() throws {
    let server = Self.server([.ok("no", status: "417 Expectation Failed")], [.ok("done")])
    var configuration = Loading.configuration(server)
    configuration.expectContinueTimeLimit = .seconds(10)
    configuration.collectsMetrics = true
    let log = CallbackLog()
    let lines = try Loading.run(Self.request(), configuration, log).filter { !$0.hasPrefix("sent") }
    #expect(lines == Self.done.dropLast() + ["metrics", "finish"])
    try #require(server.requests.map { $0.contains("Expect") } == [true, false])
    #expect(Self.bodyBytes(server) == 0)
    #expect(Self.bodyBytes(server, 1) == 40_000)
    #expect(log.metrics?.transactions.map(\.closeReason) == [.response(.requestUnfinished), nil])
  }

  /// Who asked for nothing is answered for good; so is who has dropped the expectation already.
  @Test func aRefusalOfWhatWasNotExpectedIsDelivered() throws {
    var request = Self.request()
    request.setValue(nil, forHTTPHeaderField: "Expect")
    let refusal = Answer.ok("no", status: "417 Expectation Failed")
    let lines = ["response 417 length 2", "data no", "finish"]
    #expect(try Self.run(request, ScriptedServer([[refusal]])) == lines)
    let server = Self.server([refusal], [refusal])
    #expect(try Self.run(Self.request(), server) == lines)
    #expect(server.peers.count == 2)
  }

  /// Nobody is asked for what is not there (RFC 9110 section 10.1.1).
  @Test func anEmptyBodyIsNotAskedFor() throws {
    var request = Self.request("PUT", 0)
    request.body = .stream(length: 0) { AsyncStream<Data> { $0.finish() } }
    let server = ScriptedServer([[.ok("done")]])
    #expect(try Self.run(request, server) == Self.done)
    #expect(!server.requests[0].contains("Expect"))
    #expect(server.requests[0].hasSuffix("Content-Length: 0\r\n\r\n"))
  }

  /// A 100 is no answer: what stands still after it is the sending.
  @Test func aBodyThatHangsAfter100() throws {
    var request = Self.request("PUT", 0)
    request.timeoutInterval = 0.1
    request.body = .stream { AsyncStream<Data> { $0.yield(Data([0x61])) } }
    let server = Self.server([Answer("HTTP/1.1 100 Continue\r\n\r\n")])
    #expect(try Self.run(request, server) == ["informational 100", "fail timedOut sending"])
  }

  /// A success in place of 100 does not say that the body is not wanted.
  @Test func aSuccessInPlaceOf100GetsTheBody() throws {
    let server = Self.server([.ok("done")])
    #expect(try Self.run(Self.request(), server) == Self.done)
    #expect(Self.bodyBytes(server) == 40_000)
  }

  @Test func aChallengeInPlaceOf100IsAnsweredAndTheExpectationKept() throws {
    let challenge = Answer.ok("", status: "401 U", "WWW-Authenticate: Basic realm=r\r\n")
    let server = Self.server([challenge, Answer("HTTP/1.1 100 C\r\n\r\n")], [.ok("done")])
    let log = CallbackLog()
    log.challengeAnswer = {
      $0.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: $0)
    }
    let lines = try Self.run(Self.request(), server, limit: .seconds(10), log)
    #expect(lines == ["challenge r failures 0", "informational 100"] + Self.done)
    #expect(Self.bodyBytes(server) == 0)
    #expect(server.requests[1].contains("Expect") && server.requests[1].contains("Authorization"))
  }

  @Test func aRequestWithoutABodyExpectsNothing() throws {
    for request in [Self.request("GET", 0), Self.request("POST", 0)] {
      let server = ScriptedServer([[.ok("done")]])
      #expect(try Self.run(request, server) == Self.done)
      #expect(!server.requests[0].contains("Expect"))
    }
  }

  @Test(arguments: [(ReceiveOutcome.endOfFile, "sending"), (.failed(104), "sending")])
  func aConnectionThatEndsInPlaceOf100(_ ending: ReceiveOutcome, _ phase: String) throws {
    let server = Self.server([Answer("", ending: ending)])
    #expect(try Self.run(Self.request(), server).last == "fail networkConnectionLost \(phase)")
    #expect(Self.bodyBytes(server) == 0)
  }

  @Test func aCancelWhileWaitingEndsIt() throws {
    let server = ScriptedServer([[.ok("done")]])
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let log = CallbackLog()
    var configuration = Loading.configuration(server)
    configuration.expectContinueTimeLimit = .milliseconds(50)
    let connection = URLConnection(
      request: Self.request(), delegate: log, configuration: configuration, on: .loop(loop.handle))
    server.onConnect = { peer in peer.onSent = { _ in connection?.cancel() } }
    loop.run(until: .now + .milliseconds(150))
    #expect(log.finished() == [])
    #expect(Self.bodyBytes(server) == 0)
    #expect(server.peers[0].isClosed)
  }
}
