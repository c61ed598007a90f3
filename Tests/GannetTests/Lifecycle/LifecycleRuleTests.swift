import Dispatch
import Gannet
import GannetSockets
import GannetTLS
import TestSupport
import Testing

/// What was reported of other clients' cancels, delegates and numbers, each by its rule (docs/CONTRACT.md).
@Suite(.longWork) struct LifecycleRuleTests {
  /// Loads that together come by every callback.
  enum Way: CaseIterable { case parts, stored, refused }

  private static func load(
    _ way: Way, _ answers: WatchedDelegate.Answers, on handle: EventLoop.Handle
  ) throws -> WatchedLoad {
    var answers = answers
    answers.challenge = {
      let credential = URLCredential(user: "u", password: "p", persistence: .none)
      if way == .refused { $0.sender?.cancel($0) } else { $0.sender?.use(credential, for: $0) }
    }
    let isHere: @Sendable () -> Bool = { handle.isCurrent }
    let challenge = Answer.ok("who", status: "401 U", "WWW-Authenticate: Basic realm=\"r\"\r\n")
    switch way {
    case .parts: break
    case .stored:
      let server = ScriptedServer([[.ok("kept", "Cache-Control: max-age=60\r\n")]])
      return try WatchedLoad(
        of: URLRequest(string: "http://h/a"), from: server, answers, on: .loop(handle), isOnHost: isHere)
    case .refused:
      return try WatchedLoad(
        of: URLRequest(string: "http://h/a"), from: ScriptedServer([[challenge]]), answers, on: .loop(handle),
        isOnHost: isHere)
    }
    // Its body is a stream, which a redirect has sent anew.
    var request = URLRequest(string: "HTTP://h/a")
    request.httpMethod = "PUT"
    request.body = .stream {
      AsyncStream { pieces in
        pieces.yield(Data("body".utf8))
        pieces.finish()
      }
    }
    let server = ScriptedServer([
      [
        .ok("gone", status: "307 T", "Location: /b\r\n"),
        challenge,
        Answer(
          "HTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n13\r\n--B\r\n\r\nabc\r\n--B\r\n\r\n\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"
        ),
      ]
    ])
    return try WatchedLoad(of: request, from: server, answers, on: .loop(handle), isOnHost: isHere)
  }

  /// In each callback in turn, while eight other threads do the same: it returns, and nothing comes.
  @Test func aCancelInsideACallbackNeverDeadlocks() throws {
    try Self.inEveryCallback { load, connection in
      DispatchQueue.concurrentPerform(iterations: 8) { _ in connection.cancel() }
      load.watch.cancel(connection)
    }
  }

  /// Whoever has the only reference besides the load's own may let go of it anywhere: the load goes on as it would have.
  /// Who keeps it to the end does not keep the delegate by it.
  @Test func theLastReferenceIsLetGoInsideACallback() throws {
    let owned = Guarded<URLConnection?>(nil)
    var whole: [[LoadWatch.Call]: Int] = [:]
    try Self.inEveryCallback(
      began: { load in owned.withLock { $0 = load.connection } },
      ended: { load in
        #expect(load.census.living([.delegate]) == "")
        owned.withLock { $0 = nil }
        whole[load.watch.report.calls, default: 0] += 1
      }
    ) { _, _ in owned.withLock { $0 = nil } }
    #expect(whole.count == Way.allCases.count)
  }

  /// Loads in each way as often as there are callbacks, and does something in one of them each time.
  private static func inEveryCallback(
    began: (WatchedLoad) -> Void = { _ in }, ended: (WatchedLoad) -> Void = { _ in },
    _ body: @escaping @Sendable (WatchedLoad, URLConnection) -> Void
  ) throws {
    var seen: Set<LoadWatch.Call> = []
    for way in Way.allCases {
      var stop = 0
      while true {
        stop += 1
        let loop = try EventLoop()
        let (place, current) = (stop, Arrival<WatchedLoad>())
        var answers = WatchedDelegate.Answers()
        answers.onCall = { number, _, connection in
          if number == place, let load = current.current { body(load, connection) }
        }
        let load = try Self.load(way, answers, on: loop.handle)
        current.arrive(load)
        began(load)
        #expect(loop.turnUntilIdle())
        ended(load)
        #expect(load.faults() == [], "\(way) in callback \(stop): \(load.watch.report.trace)")
        loop.shutDown()
        #expect(load.census.living() == "")
        seen.formUnion(load.watch.report.calls)
        if load.watch.report.calls.count < stop { break }
      }
    }
    #expect(Set(LoadWatch.Call.allCases).subtracting(seen) == [])
  }

  /// Where a load is when it is cancelled, over a socket and TLS.
  @Test(arguments: [
    ConnectionError.Phase.preparing, .resolving, .connecting, .handshaking, .sending, .awaiting, .receiving,
  ])
  func aCancelInEveryPhaseLeavesNothing(_ phase: ConnectionError.Phase) throws {
    let identity = try CertificateAuthority.selfSigned(CertificateTemplate(hosts: ["localhost"]))
    let half = Answer("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\nhalf")
    let server = try LoopbackServer(.answers(phase == .awaiting ? [Answer("")] : [half]), identity: identity)
    // Takes no byte of what is sent.
    let deaf = try LoopbackServer(.answersEarly(after: 1, Answer(""), readsOn: false))
    defer {
      server.stop()
      deaf.stop()
    }
    for _ in 0..<3 {
      let census = Census()
      let loop = try EventLoop()
      let handle = loop.handle
      let watch = LoadWatch { handle.isCurrent }
      var configuration = URLConnection.Configuration()
      configuration.trafficObserver = DriverToken(census)
      configuration.trust = .unverified
      var request = URLRequest(string: server.url("https", host: "localhost"))
      if phase == .sending {
        request = URLRequest(string: deaf.url(host: "localhost"))
        request.httpMethod = "PUT"
        request.httpBody = Data(repeating: 0, count: 16 << 20)
      }
      var connection = CountedConnection(
        request, WatchedDelegate(watch, census), census, configuration, on: .loop(handle))
      let held = try #require(connection)
      held.start()
      let limit = ContinuousClock.now + .seconds(20)
      var isThere = phase == .preparing
      while !isThere, ContinuousClock.now < limit {
        // One turn at a time where the phase does not last.
        if [.sending, .awaiting, .receiving].contains(phase) {
          loop.run(until: .now + .milliseconds(1))
        } else {
          loop.poll()
        }
        isThere = held.currentPhase(on: loop) == phase
      }
      try #require(isThere)
      watch.cancel(held)
      connection = nil
      let isIdle = loop.turnUntilIdle()
      #expect(isIdle && loop.registeredSources == 0)
      #expect(watch.report.faults == [] && watch.report.ends == 0)
      #expect(census.living([.delegate, .driver]) == "1 driver", "the connection that this test holds")
      loop.shutDown()
    }
  }

  /// Only what it has is called of a delegate that has but some of the methods.
  @Test func aDelegateWithFewMethodsIsToldOfThose() throws {
    final class Nothing: URLConnectionDelegate {}
    final class Failure: URLConnectionDelegate {
      var codes: [ConnectionError.Code] = []
      func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
        codes.append(error.code)
      }
    }
    final class Finish: URLConnectionDataDelegate {
      var ends = 0
      func connectionDidFinishLoading(_ connection: URLConnection) { ends += 1 }
    }
    let (nothing, failure, finish) = (Nothing(), Failure(), Finish())
    let challenge = Answer.ok("no", status: "401 U", "WWW-Authenticate: Basic realm=\"r\"\r\n")
    let redirect = Answer.ok("gone", status: "302 F", "Location: /b\r\n")
    for delegate in [nothing, failure, finish] as [any URLConnectionDelegate] {
      for answers in [[redirect, challenge], [Answer("junk\r\n\r\n")], [Answer("", ending: .endOfFile)]] {
        let loop = try EventLoop()
        _ = URLConnection(
          request: URLRequest(string: "HTTP://h"), delegate: delegate,
          configuration: Loading.configuration(ScriptedServer([answers])), on: .loop(loop.handle))
        #expect(loop.turnUntilIdle())
        loop.shutDown()
      }
    }
    #expect(failure.codes == [.badServerResponse, .networkConnectionLost] && finish.ends == 1)
  }

  struct Progress: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var method = "GET"
    let head: String
    let body: [UInt8]
    let expected: Int64
    let received: Int
  }

  /// "hello" as gzip.
  private static let gzip: [UInt8] = [
    0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 2, 3, 0xCB, 0x48, 0xCD, 0xC9, 0xC9, 7, 0, 0x86, 0xA6, 0x10, 0x36, 5, 0, 0,
    0,
  ]

  static let progress: [Progress] = [
    Progress(
      testDescription: "a length", head: "200 OK\r\nContent-Length: 5", body: Array("hello".utf8),
      expected: 5,
      received: 5),
    Progress(
      testDescription: "gzip", head: "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(gzip.count)",
      body: gzip, expected: -1, received: 5),
    Progress(
      testDescription: "chunks", head: "200 OK\r\nTransfer-Encoding: chunked",
      body: Array("5\r\nhello\r\n0\r\n\r\n".utf8), expected: -1, received: 5),
    Progress(
      testDescription: "HEAD", method: "HEAD", head: "200 OK\r\nContent-Length: 500", body: [], expected: 500,
      received: 0),
    Progress(
      testDescription: "HEAD of gzip", method: "HEAD",
      head: "200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 500", body: [], expected: 500, received: 0),
    Progress(
      testDescription: "HEAD of a length that is none", method: "HEAD", head: "200 OK", body: [],
      expected: -1, received: 0),
    Progress(testDescription: "204", head: "204 No Content", body: [], expected: 0, received: 0),
    Progress(testDescription: "304", head: "304 Not Modified", body: [], expected: 0, received: 0),
    Progress(
      testDescription: "nothing", head: "200 OK\r\nContent-Length: 0", body: [], expected: 0, received: 0),
  ]

  /// `expectedContentLength` is what the delegate will get, or -1; never anything else.
  @Test(arguments: progress) func progressCanBeReckonedWith(_ row: Progress) throws {
    let answer = Answer(bytes: Array("HTTP/1.1 \(row.head)\r\n\r\n".utf8) + row.body)
    for cut in Cut.all(of: answer.bytes.count) {
      var request = URLRequest(string: "http://h/")
      request.httpMethod = row.method
      let log = CallbackLog()
      let lines = try Loading.run(request, Loading.configuration(ScriptedServer([[answer]], cut: cut)), log)
      #expect(log.responses.map(\.expectedContentLength) == [row.expected], "\(cut)")
      #expect(lines.filter { $0.hasPrefix("data") } == (row.received == 0 ? [] : ["data hello"]), "\(cut)")
      #expect(lines.last == "finish", "\(cut)")
    }
  }
}
