import Gannet
import GannetSockets
import TestSupport
import Testing

/// Exactly one terminal callback, and none after `cancel()` (docs/CONTRACT.md, rules 2, 3 and 5).
@Suite struct CancelTests {
  /// A load that comes by every callback there is.
  private static func server() -> ScriptedServer {
    ScriptedServer([
      [
        .ok("gone", status: "302 Found", "Location: http://h/b\r\n"),
        .ok("who", status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"r\"\r\n"),
        Answer(
          "HTTP/1.1 103 Early Hints\r\n\r\nHTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n"
            + "Transfer-Encoding: chunked\r\n\r\n"
            + "13\r\n--B\r\n\r\nabc\r\n--B\r\n\r\n\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"),
      ]
    ])
  }

  private static func request() -> URLRequest {
    var request = URLRequest(string: "HTTP://h/a")
    request.httpMethod = "PUT"
    request.httpBody = Data("body".utf8)
    return request
  }

  private static func log() -> CallbackLog {
    let log = CallbackLog()
    log.challengeAnswer = {
      $0.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: $0)
    }
    return log
  }

  @Test func theWholeLoadComesByEveryCallback() throws {
    let lines = try Loading.run(Self.request(), Loading.configuration(Self.server()), Self.log())
    #expect(
      lines == [
        "willSend PUT http://h/a", "sent 4/4", "willSend PUT http://h/b after 302", "sent 4/4",
        "challenge r failures 0", "sent 4/4", "informational 103", "response 200 length -1",
        "response 200 length -1 part 0", "data abc", "partEnd", "response 200 length -1 part 1", "data de",
        "trailers X=y", "finish",
      ])
  }

  @Test func nothingComesAfterACancelInsideAnyCallback() throws {
    var count = 0
    let counter = Self.log()
    counter.onCallback = { _, _ in count += 1 }
    _ = try Loading.run(Self.request(), Loading.configuration(Self.server()), counter)
    for stop in 1...count {
      var seen = 0
      let log = Self.log()
      log.onCallback = { _, connection in
        seen += 1
        if seen == stop {
          connection.cancel()
          connection.cancel()
        }
      }
      let server = Self.server()
      _ = try Loading.run(Self.request(), Loading.configuration(server), log)
      #expect(seen == stop, "\(log.finished())")
      let areClosed = server.peers.allSatisfy { $0.isClosed }
      #expect(areClosed)
    }
  }

  @Test func theDelegateIsLetGoAfterTheEndAndAfterACancel() throws {
    for cancels in [false, true] {
      let loop = try EventLoop()
      weak var log: CallbackLog?
      weak var connection: URLConnection?
      do {
        let delegate = CallbackLog()
        if cancels { delegate.onCallback = { _, connection in connection.cancel() } }
        log = delegate
        let made = URLConnection(
          request: URLRequest(string: "http://h/"), delegate: delegate,
          configuration: Loading.configuration(ScriptedServer([[.ok("x")]])), on: .loop(loop.handle))
        connection = made
      }
      #expect(log != nil && connection != nil, "kept while loading")
      loop.run()
      #expect(log == nil && connection == nil)
      loop.shutDown()
    }
  }

  @Test func noCallbackComesFromInsideInitStartOrCancel() throws {
    let loop = try EventLoop()
    let log = CallbackLog()
    let configuration = Loading.configuration(ScriptedServer([[.ok("x")]]))
    let connection = try #require(
      URLConnection(
        request: URLRequest(string: "HTTP://h"), delegate: log, startImmediately: false,
        configuration: configuration, on: .loop(loop.handle)))
    loop.run()
    #expect(log.finished() == [])
    connection.start()
    connection.start()
    #expect(log.finished() == [])
    #expect(throws: ConnectionError.self) { try connection.schedule(on: .shared) }
    loop.run()
    #expect(log.finished() == ["willSend GET http://h/", "response 200 length 1", "data x", "finish"])
    connection.cancel()
    connection.start()
    loop.run()
    #expect(log.finished().count == 4)
    loop.shutDown()
  }

  @Test func aCancelBeforeTheStartLetsTheDelegateGo() throws {
    let loop = try EventLoop()
    weak var log: CallbackLog?
    let connection: URLConnection?
    do {
      let delegate = CallbackLog()
      log = delegate
      connection = URLConnection(
        request: URLRequest(string: "http://h/"), delegate: delegate, startImmediately: false,
        configuration: Loading.configuration(ScriptedServer([])), on: .loop(loop.handle))
    }
    connection?.cancel()
    connection?.start()
    loop.run()
    #expect(log == nil)
    loop.shutDown()
  }

  @Test func aThreadsEndFailsItsLoads() throws {
    let loop = try EventLoop()
    let log = CallbackLog()
    _ = URLConnection(
      request: URLRequest(string: "http://h/"), delegate: log,
      configuration: Loading.configuration(ScriptedServer([[]])), on: .loop(loop.handle))
    loop.run(until: .now)
    loop.run(until: .now + .milliseconds(1))
    loop.shutDown()
    #expect(log.finished() == ["fail networkConnectionLost awaiting"])
  }

  @Test func pausedLoadsDeliverNothingUntilTheyAreResumed() throws {
    let loop = try EventLoop()
    let log = CallbackLog()
    let server = ScriptedServer([[.ok(String(repeating: "x", count: 90))]], cut: .everyByte)
    var held: URLConnection?
    log.onCallback = { word, connection in
      if word == "data", held == nil {
        held = connection
        connection.pause()
      }
    }
    _ = URLConnection(
      request: URLRequest(string: "http://h/"), delegate: log, configuration: Loading.configuration(server),
      on: .loop(loop.handle))
    loop.run(until: .now + .milliseconds(20))
    #expect(log.finished().last == "data x")
    held?.resume()
    loop.run(until: .now + .seconds(5))
    #expect(log.finished().last == "finish")
    loop.shutDown()
  }

  @Test(arguments: ["", "who are you?"]) func aChallengeAnsweredLaterGoesOn(_ body: String) throws {
    for answers in [true, false] {
      let loop = try EventLoop()
      let log = CallbackLog()
      var challenge: URLAuthenticationChallenge?
      log.challengeAnswer = { challenge = $0 }
      let server = ScriptedServer([
        [.ok(body, status: "401 Unauthorized", "WWW-Authenticate: Basic realm=\"r\"\r\n"), .ok("in")]
      ])
      _ = URLConnection(
        request: URLRequest(string: "http://h/"), delegate: log, configuration: Loading.configuration(server),
        on: .loop(loop.handle))
      loop.run(until: .now + .milliseconds(20))
      let asked = try #require(challenge)
      let credential = URLCredential(user: "u", password: "p", persistence: .none)
      asked.sender?.use(answers ? credential : nil, for: asked)
      asked.sender?.cancel(asked)
      loop.run(until: .now + .seconds(5))
      let data = body.isEmpty ? [] : ["data \(body)"]
      let rest =
        answers
        ? ["response 200 length 2", "data in", "finish"]
        : ["response 401 length \(body.utf8.count)"] + data + ["finish"]
      #expect(log.finished() == ["challenge r failures 0"] + rest)
      #expect(server.peers.count == 1)
      loop.shutDown()
    }
  }
}
