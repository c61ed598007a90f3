import Gannet
import GannetSockets
import TestSupport
import Testing

/// When a connection serves a second load, when a request is sent again, and who waits (RFC 9112 section 9).
@Suite struct ReuseTests {
  /// Loads URLs one after the other on one loop.
  private static func load(
    _ urls: [String], method: String = "GET", _ server: ScriptedServer,
    between: (EventLoop, Int) -> Void = { _, _ in }
  ) throws -> [CallbackLog] {
    let loop = try EventLoop()
    defer { loop.shutDown() }
    return urls.enumerated().map { index, url in
      var request = URLRequest(string: url)
      request.httpMethod = method
      if method == "POST" { request.httpBody = Data("x=1".utf8) }
      let log = CallbackLog()
      _ = URLConnection(
        request: request, delegate: log, configuration: Loading.configuration(server), on: .loop(loop.handle))
      loop.run(until: .now + .seconds(10))
      between(loop, index)
      return log
    }
  }

  @Test(arguments: [
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", true),
    ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", true),
    ("HTTP/1.1 204 No\r\n\r\n", true), ("HTTP/1.1 304 Not\r\nContent-Length: 9\r\n\r\n", true),
    ("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok", true),
    ("HTTP/1.1 200 OK\r\nConnection: X-Foo\r\nContent-Length: 2\r\n\r\nok", true),
    ("HTTP/1.0 200 OK\r\nContent-Length: 2\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nConnection: Close\r\nContent-Length: 2\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nConnection: keep-alive, close\r\nContent-Length: 2\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokEXTRA", false),
    ("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nokHTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nZ", false),
    ("HTTP/1.1 204 No\r\nContent-Length: 5\r\n\r\nhello", false),
    ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=0\r\nContent-Length: 2\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=1\r\nContent-Length: 2\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=5, max=0\r\nContent-Length: 2\r\n\r\nok", false),
    ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=x, max\r\nContent-Length: 2\r\n\r\nok", true),
    ("HTTP/1.1 200 OK\r\nKeep-Alive: timeout=99999999999999999999\r\nContent-Length: 2\r\n\r\nok", true),
    ("HTTP/1.1 200 OK\r\nKeep-Alive: max=9223372036854775807\r\nContent-Length: 2\r\n\r\nok", true),
  ])
  func aConnectionServesTheNextLoadOrNot(_ answer: String, _ isReused: Bool) throws {
    // What is left over when it comes in pieces is seen before the next load.
    for cut in [Cut.whole, .everyByte] {
      let server = ScriptedServer([[Answer(answer), .ok("b")], [.ok("b")]], cut: cut)
      let logs = try Self.load(["http://h/a", "http://h/b"], server)
      #expect(logs.map { $0.finished().last } == ["finish", "finish"])
      #expect(logs[1].finished().contains("data b"))
      #expect(server.peers.count == (isReused ? 1 : 2), "\(cut)")
      #expect(server.peers[0].isClosed)
    }
  }

  @Test func aConnectionServesAsManyRequestsAsTheServerSays() throws {
    for fields in ["Keep-Alive: timeout=5, max=2\r\n", "Keep-Alive: max=2\r\n"] {
      let server = ScriptedServer(
        Array(repeating: [.ok("a", fields), .ok("b", fields), .ok("c", fields)], count: 2))
      let logs = try Self.load(["http://h/1", "http://h/2", "http://h/3"], server)
      #expect(logs.map { $0.finished().last } == ["finish", "finish", "finish"])
      #expect(server.requests.map { $0.components(separatedBy: "GET").count - 1 } == [2, 1])
    }
    // A server that counts down, as Apache does.
    let server = ScriptedServer([(0..<5).map { .ok("a", "Keep-Alive: max=\(4 - $0)\r\n") }, [.ok("b")]])
    _ = try Self.load((1...5).map { "http://h/\($0)" }, server)
    #expect(server.requests.map { $0.components(separatedBy: "GET").count - 1 } == [4, 1])
  }

  @Test func anIdleConnectionIsClosedInItsTimeWhateverOthersHave() throws {
    let loop = try EventLoop()
    let server = ScriptedServer([[.ok("a")], [.ok("b")], []])
    var configuration = Loading.configuration(server)
    for (url, lifetime) in [("http://long/", 60_000), ("http://short/", 20)] {
      configuration.idleConnectionLifetime = .milliseconds(lifetime)
      _ = URLConnection(
        request: URLRequest(string: url), delegate: nil, configuration: configuration, on: .loop(loop.handle))
      loop.run()
    }
    #expect(server.peers.map(\.isClosed) == [false, false])
    // A load that only waits keeps the loop going past the end of the second one's time.
    let waiting = URLConnection(
      request: URLRequest(string: "http://silent/"), delegate: nil, configuration: configuration,
      on: .loop(loop.handle))
    loop.run(until: .now + .milliseconds(250))
    #expect(server.peers.map(\.isClosed) == [false, true, false])
    waiting?.cancel()
    loop.shutDown()
  }

  @Test func aConnectionWhoseTimeIsOverIsNotUsed() throws {
    let loop = try EventLoop()
    let server = ScriptedServer([[.ok("a"), .ok("b")], [.ok("b")]])
    var configuration = Loading.configuration(server)
    configuration.idleConnectionLifetime = .milliseconds(10)
    for _ in 0..<2 {
      _ = URLConnection(
        request: URLRequest(string: "http://h/"), delegate: nil, configuration: configuration,
        on: .loop(loop.handle))
      loop.run()
      // The loop is not run meanwhile, so nothing fires.
      let end = ContinuousClock.now + .milliseconds(15)
      while ContinuousClock.now < end {}
    }
    #expect(server.peers.count == 2)
    loop.shutDown()
  }

  @Test(arguments: [ReceiveOutcome.endOfFile, .failed(104)])
  func aConnectionThatEndedWhileIdleIsNotUsed(_ ending: ReceiveOutcome) throws {
    let server = ScriptedServer([[.ok("a"), .ok("b")], [.ok("b")]])
    let logs = try Self.load(["http://h/a", "http://h/b"], method: "POST", server) { loop, index in
      if index == 0 {
        server.peers[0].say(Answer("", ending: ending))
        loop.run(until: .now + .milliseconds(1))
      }
    }
    #expect(logs[1].finished().last == "finish")
    #expect(server.peers.count == 2)
  }

  /// The end is on its way when the next request goes out: no byte of an answer comes.
  @Test(
    arguments: [ReceiveOutcome.endOfFile, .failed(104)], ["GET", "HEAD", "PUT", "DELETE", "POST", "PATCH"])
  func aStaleConnectionIsRetriedOnceWhenThatIsSafe(_ ending: ReceiveOutcome, _ method: String) throws {
    let isSafe = !["POST", "PATCH"].contains(method)
    let gone = Answer("", ending: ending)
    let ok = Answer(
      method == "HEAD" ? "HTTP/1.1 200 OK\r\n\r\n" : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n")
    let server = ScriptedServer([[ok, gone], [ok]])
    let logs = try Self.load(["http://h/a", "http://h/b"], method: method, server)
    #expect(logs[1].finished().last == (isSafe ? "finish" : "fail networkConnectionLost awaiting"))
    #expect(server.peers.count == (isSafe ? 2 : 1))

    // A fresh one that fails the same way ends it.
    let dead = ScriptedServer([[ok, gone], [gone], [ok]])
    let last = try Self.load(["http://h/a", "http://h/b"], method: method, dead)[1]
    #expect(last.finished().last == "fail networkConnectionLost awaiting")
    #expect(dead.peers.count == (isSafe ? 2 : 1))
  }

  @Test func nothingIsSentAgainOnceAnAnswerBegan() throws {
    for partial in ["H", "HTTP/1.1 100 C\r\n\r\n", "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nab"] {
      for ending in [ReceiveOutcome.endOfFile, .failed(104)] {
        let server = ScriptedServer([[.ok("a"), Answer(partial, ending: ending)], [.ok("b")]])
        let log = try Self.load(["http://h/a", "http://h/b"], server)[1]
        #expect(log.finished().last == "fail networkConnectionLost receiving")
        #expect(server.peers.count == 1)
        if partial.hasSuffix("ab") { #expect(log.finished().contains("data ab")) }
      }
    }
    // A new connection is not retried at all.
    let server = ScriptedServer([[Answer("", ending: .endOfFile)], [.ok("b")]])
    #expect(try Self.load(["http://h/a"], server)[0].finished().last == "fail networkConnectionLost awaiting")
  }

  /// Seven loads at once, six connections: the last waits, and is served by the first that is free.
  @Test func aLoadPastTheLimitWaitsItsTurn() throws {
    let loop = try EventLoop()
    let server = ScriptedServer([])
    let logs = (0..<8).map { _ in CallbackLog() }
    let connections = logs.enumerated().map { index, log in
      URLConnection(
        request: URLRequest(string: "http://h/\(index)", timeoutInterval: index == 7 ? 0.05 : 60),
        delegate: log,
        configuration: Loading.configuration(server), on: .loop(loop.handle))
    }
    loop.run(until: .now + .milliseconds(250))
    #expect(server.peers.count == 6)
    #expect(logs[7].finished() == ["fail timedOut connecting"])
    #expect(logs[6].finished() == [])
    server.peers[2].say(.ok("x"))
    loop.run(until: .now + .milliseconds(50))
    #expect(logs[2].finished().last == "finish")
    #expect(server.peers.count == 6)
    #expect(server.requests[2].contains("GET /6 "))
    server.peers[2].say(.ok("y"))
    loop.run(until: .now + .milliseconds(50))
    #expect(logs[6].finished().last == "finish")
    for connection in connections { connection?.cancel() }
    loop.run(until: .now + .seconds(1))
    loop.shutDown()
  }

  /// Who leaves the queue is passed over; a connection that is lost makes room for the next.
  @Test func theQueueGoesOnWhateverHappens() throws {
    let loop = try EventLoop()
    let server = ScriptedServer([])
    let logs = (0..<5).map { _ in CallbackLog() }
    var configuration = Loading.configuration(server)
    configuration.maximumConnectionsPerHost = 1
    let connections = logs.enumerated().map { index, log in
      URLConnection(
        request: URLRequest(string: "http://h/\(index)"), delegate: log, configuration: configuration,
        on: .loop(loop.handle))
    }
    loop.run(until: .now + .milliseconds(50))
    connections[1]?.cancel()
    loop.run(until: .now + .milliseconds(50))
    server.peers[0].say(Answer("", ending: .failed(104)))
    loop.run(until: .now + .milliseconds(50))
    #expect(server.peers.count == 2)
    #expect(server.requests[1].contains("GET /2 "))
    connections[2]?.cancel()
    loop.run(until: .now + .milliseconds(50))
    #expect(server.requests[2].contains("GET /3 "))
    server.peers[2].say(.ok("x", "Connection: close\r\n"))
    loop.run(until: .now + .milliseconds(50))
    #expect(server.requests[3].contains("GET /4 "))
    server.peers[3].say(.ok("x"))
    loop.run(until: .now + .seconds(1))
    #expect(logs[4].finished().last == "finish")
    loop.shutDown()
  }

  /// The end that came with an answer is known before the next request goes out.
  @Test(arguments: ["GET", "POST"])
  func aConnectionThatIsEndingServesNoWaiter(_ method: String) throws {
    let loop = try EventLoop()
    let server = ScriptedServer([[.ok("a", ending: .endOfFile)], [.ok("b", ending: .endOfFile)]])
    var configuration = Loading.configuration(server)
    configuration.maximumConnectionsPerHost = 1
    let logs = (0..<2).map { _ in CallbackLog() }
    for log in logs {
      var request = URLRequest(string: "http://h/")
      request.httpMethod = method
      _ = URLConnection(
        request: request, delegate: log, configuration: configuration, on: .loop(loop.handle))
    }
    loop.run(until: .now + .seconds(5))
    #expect(logs.map { $0.finished().last } == ["finish", "finish"])
    #expect(server.requests.allSatisfy { $0.components(separatedBy: method).count == 2 })
    loop.shutDown()
  }

  @Test func endlessStreamsDoNotCount() throws {
    let loop = try EventLoop()
    let stream = Answer(
      "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n--B\r\n\r\nabc\r\n--B\r\n\r\n"
    )
    let server = ScriptedServer(Array(repeating: [stream], count: 12) + [[.ok("x")]])
    let streams = (0..<12).map { index in
      URLConnection(
        request: URLRequest(string: "http://h/\(index)"), delegate: nil,
        configuration: Loading.configuration(server), on: .loop(loop.handle))
    }
    loop.run(until: .now + .milliseconds(100))
    #expect(server.peers.count == 12)
    let log = CallbackLog()
    _ = URLConnection(
      request: URLRequest(string: "http://h/x"), delegate: log, configuration: Loading.configuration(server),
      on: .loop(loop.handle))
    loop.run(until: .now + .milliseconds(100))
    #expect(log.finished().last == "finish")
    for stream in streams { stream?.cancel() }
    loop.run(until: .now + .seconds(1))
    loop.shutDown()
  }

  /// A load that is cancelled within its body gives its connection back only when little is left of it.
  @Test(arguments: [(10, true), (64 * 1024, true), (200_000, false), (-1, false)])
  func whatIsLeftOfACancelledBodyIsReadWhenItIsShort(_ rest: Int, _ isReused: Bool) throws {
    let head = rest < 0 ? "HTTP/1.0 200 OK\r\n\r\n" : "HTTP/1.1 200 OK\r\nContent-Length: \(rest + 5)\r\n\r\n"
    let server = ScriptedServer([[Answer(head + "hello"), .ok("b")], [.ok("b")]])
    let loop = try EventLoop()
    let log = CallbackLog()
    log.onCallback = { word, connection in if word == "data" { connection.cancel() } }
    _ = URLConnection(
      request: URLRequest(string: "http://h/a"), delegate: log, configuration: Loading.configuration(server),
      on: .loop(loop.handle))
    loop.run(until: .now + .seconds(1))
    server.peers[0].say(Answer(String(repeating: "r", count: max(0, rest))))
    loop.run(until: .now + .milliseconds(50))
    let next = CallbackLog()
    _ = URLConnection(
      request: URLRequest(string: "http://h/b"), delegate: next, configuration: Loading.configuration(server),
      on: .loop(loop.handle))
    loop.run(until: .now + .seconds(2))
    #expect(next.finished().last == "finish")
    #expect(server.peers.count == (isReused ? 1 : 2))
    loop.shutDown()
  }
}
