import Gannet
import GannetSockets
import TestSupport
import Testing

/// What is left of loads and connections when their loop has gone: nothing, however far they had come.
@Suite(.longWork) struct LifetimeTests {
  /// Held by every connection and every load, through their configuration: while it lives, one of them does.
  // UNCHECKED: has no state.
  private final class Witness: TrafficObserver, @unchecked Sendable {
    func opened(_ connection: ConnectionDescription) {}
    func sent(_ bytes: Span<UInt8>, on connection: UInt64) {}
    func received(_ bytes: Span<UInt8>, on connection: UInt64) {}
    func ended(_ connection: UInt64, reset: Bool) {}
  }

  private static let stages: [(name: String, answers: [[Answer]])] = [
    ("not run", []),
    ("awaiting", [[]]),
    ("in the head", [[Answer("HTTP/1.1 2")]]),
    ("in the body", [[Answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello")]]),
    ("idle", [[.ok("x")]]),
    ("asked", [[.ok("no", status: "401 U", "WWW-Authenticate: Basic realm=\"r\"\r\n")]]),
    ("paused", [[.ok(String(repeating: "x", count: 300_000))]]),
    (
      "draining",
      [[Answer("HTTP/1.1 302 F\r\nLocation: /b\r\nContent-Length: 9\r\n\r\nhello")]]
    ),
    (
      "in a part",
      [
        [
          Answer(
            "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n--B\r\n\r\nabc")
        ]
      ]
    ),
  ]

  @Test(arguments: stages.map(\.name), [true, false])
  func nothingIsLeft(_ name: String, _ isShutDown: Bool) throws {
    let answers = try #require(Self.stages.first { $0.name == name }).answers
    weak var witness: Witness?
    weak var delegate: CallbackLog?
    weak var loading: URLConnection?
    weak var gone: EventLoop?
    let server = ScriptedServer(answers)
    try {
      let loop = try EventLoop()
      gone = loop
      var configuration = Loading.configuration(server)
      let observer = Witness()
      witness = observer
      configuration.trafficObserver = observer
      configuration.maximumConnectionsPerHost = 1
      var logs: [CallbackLog] = []
      // The second waits for the first's connection.
      for index in 0..<2 {
        let log = CallbackLog()
        if name == "paused" { log.onCallback = { _, connection in connection.pause() } }
        log.challengeAnswer = { _ in }
        let connection = URLConnection(
          request: URLRequest(string: "http://h/\(index)"), delegate: log, configuration: configuration,
          on: .loop(loop.handle))
        (delegate, loading) = (log, connection)
        logs.append(log)
      }
      if name != "not run" {
        loop.retain()
        loop.run(until: .now + .milliseconds(50))
        loop.release()
      }
      guard isShutDown else { return }
      loop.shutDown()
      for log in logs {
        let terminals = log.finished().count { $0 == "finish" || $0.hasPrefix("fail") }
        #expect(terminals == 1, "\(log.finished())")
      }
    }()
    #expect(gone == nil)
    #expect(delegate == nil)
    #expect(loading == nil)
    #expect(witness == nil)
    let areClosed = server.peers.allSatisfy { $0.isClosed }
    #expect(areClosed)
  }

  /// As above, over sockets and TLS: connecting, shaking hands, loading.
  @Test(arguments: [true, false])
  func nothingIsLeftOfSockets(_ isShutDown: Bool) throws {
    let server = try LoopbackServer(.silent)
    defer { server.stop() }
    for (scheme, milliseconds) in [("http", 0), ("http", 5), ("https", 0), ("https", 5)] {
      weak var witness: Witness?
      weak var gone: EventLoop?
      try {
        let loop = try EventLoop()
        gone = loop
        var configuration = URLConnection.Configuration()
        let observer = Witness()
        witness = observer
        configuration.trafficObserver = observer
        configuration.trust = .unverified
        for host in ["127.0.0.1", "localhost"] {
          _ = URLConnection(
            request: URLRequest(string: server.url(scheme, host: host)), delegate: CallbackLog(),
            configuration: configuration, on: .loop(loop.handle))
        }
        loop.run(until: .now + .milliseconds(milliseconds))
        if isShutDown { loop.shutDown() }
      }()
      #expect(gone == nil)
      #expect(witness == nil, "\(scheme) after \(milliseconds) ms")
    }
  }

  /// A load that is started when its loop is ending already still ends once.
  @Test func aLoadStartedWhileItsLoopEnds() throws {
    let loop = try EventLoop()
    let (first, second) = (CallbackLog(), CallbackLog())
    let handle = loop.handle
    func start(_ log: CallbackLog) {
      _ = URLConnection(
        request: URLRequest(string: "http://h/"), delegate: log,
        configuration: Loading.configuration(ScriptedServer([[]])), on: .loop(handle))
    }
    first.onCallback = { word, _ in if word == "fail" { start(second) } }
    start(first)
    loop.run(until: .now + .milliseconds(50))
    loop.shutDown()
    #expect(first.finished() == ["fail networkConnectionLost awaiting"])
    #expect(second.finished() == ["fail networkConnectionLost preparing"])
  }

  /// Whatever is done to a connection whose loop has gone does nothing.
  @Test func aConnectionOutlivesItsLoop() throws {
    var connection: URLConnection?
    try {
      let loop = try EventLoop()
      connection = URLConnection(
        request: URLRequest(string: "http://h/"), delegate: nil,
        configuration: Loading.configuration(ScriptedServer([[]])), on: .loop(loop.handle))
      loop.run(until: .now + .milliseconds(50))
    }()
    connection?.pause()
    connection?.resume()
    connection?.cancel()
    connection?.start()
  }
}
