import FetchTool
import Gannet
import GannetSockets
import TestSupport
import Testing

@Suite("Serve: recordings played over real sockets")
struct PlaybackServerTests {
  static let request = Array("GET /a HTTP/1.1\r\n\r\n".utf8)

  static func recording(_ events: [Recording.Event], scheme: String = "http") -> Recording {
    var recording = Recording(load: .init(method: "GET", url: "\(scheme)://127.0.0.1:8080/a"))
    recording.connections = [.init(number: 1, scheme: scheme, host: "127.0.0.1", port: 8080)]
    recording.records = ([.sent(request)] + events).map { .init(connection: 1, microseconds: 0, event: $0) }
    return recording
  }

  static func text(_ text: String) -> Recording.Event { .received(Array(text.utf8)) }

  /// Serves a recording once, loads it, and gives the lines of the delegate's log.
  func load(_ recording: Recording, identity: LoopbackIdentity? = nil) throws -> [String] {
    let loop = EventLoop.current
    var settings = PlaybackServer.Settings()
    settings.tls = identity?.context
    let server = try PlaybackServer(recording, on: loop, settings: settings)
    var configuration = URLConnection.Configuration()
    if let identity { configuration.trust = .pem(String(decoding: identity.authorityPEM, as: UTF8.self)) }
    let log = CallbackLog()
    let connection = URLConnection(
      request: URLRequest(string: server.url), delegate: log, configuration: configuration,
      on: .loop(loop.handle))
    loop.run(until: ContinuousClock.now + .seconds(10))
    connection?.cancel()
    server.stop()
    return log.finished().map { $0.replacing(":\(server.ports[0])", with: ":8080") }
  }

  @Test func aTruncatedAnswerEndsWhenTheConnectionDoes() throws {
    let lines = try load(
      Self.recording([Self.text("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"), .endOfFile]))
    #expect(lines == ["response 200 length 9", "data abc", "fail networkConnectionLost receiving"])
  }

  @Test func aResetFailsTheLoad() throws {
    let lines = try load(Self.recording([Self.text("HTTP/1.1 200 OK\r\n\r\nabc"), .reset]))
    #expect(lines.last == "fail networkConnectionLost receiving", "\(lines)")
  }

  @Test func anAnswerThatTheRecordedClientLeftIsEnded() throws {
    let lines = try load(Self.recording([Self.text("HTTP/1.0 200 OK\r\n\r\nabc")]))
    #expect(lines == ["response 200 length -1", "data abc", "finish"])
  }

  @Test func isServedOverTLS() throws {
    let answer = Self.text("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
    for scheme in ["http", "https"] {
      let lines = try load(Self.recording([answer], scheme: scheme), identity: try LoopbackIdentity())
      #expect(lines == ["response 200 length 3", "data abc", "finish"])
    }
  }

  @Test func redirectsLeadToTheServerItself() throws {
    var recording = Self.recording([
      Self.text("HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:9/b\r\nContent-Length: 0\r\n\r\n")
    ])
    recording.connections.append(.init(number: 2, scheme: "http", host: "127.0.0.1", port: 9))
    let second: [Recording.Event] = [
      .sent(Array("GET /b HTTP/1.1\r\n\r\n".utf8)),
      Self.text("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi"),
    ]
    recording.records += second.map { .init(connection: 2, microseconds: 0, event: $0) }
    let lines = try load(recording)
    #expect(Array(lines.suffix(3)) == ["response 200 length 2", "data hi", "finish"])
    #expect(lines.first?.hasPrefix("willSend GET http://127.0.0.1:") == true)
  }

  @Test func countsLoadsAndStops() throws {
    let loop = EventLoop.current
    let answer = Self.text("HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc")
    let server = try PlaybackServer(Self.recording([answer]), on: loop)
    var counts: [Int] = []
    var hasStopped = false
    server.onLoadPlayed = { count in
      counts.append(count)
      if count == 2 { server.stop() }
    }
    server.onStopped = { hasStopped = true }
    for _ in 1...2 {
      let log = CallbackLog()
      _ = URLConnection(request: URLRequest(string: server.url), delegate: log, on: .loop(loop.handle))
      loop.run(until: ContinuousClock.now + .seconds(10))
      #expect(log.finished().contains("data abc"))
    }
    let deadline = ContinuousClock.now + .seconds(10)
    let timer = loop.makeTimer { $0.stop() }
    timer.schedule(at: deadline)
    server.onStopped = {
      hasStopped = true
      loop.stop()
    }
    loop.runForever()
    #expect(counts == [1, 2])
    #expect(hasStopped)
  }
}
