import Gannet
import GannetHTTP
import GannetSockets
import Synchronization
import TestSupport
import Testing

/// What became of connections, for those who watch.
private final class Watcher: TrafficObserver {
  private let state = Mutex<[String]>([])
  var lines: [String] { state.withLock { $0 } }

  func opened(_ connection: ConnectionDescription) { state.withLock { $0.append("opened \(connection.id)") } }
  func sent(_ bytes: Span<UInt8>, on connection: UInt64) {}
  func received(_ bytes: Span<UInt8>, on connection: UInt64) {}
  func ended(_ connection: UInt64, reset: Bool) {}
  func kept(_ connection: UInt64) { state.withLock { $0.append("kept \(connection)") } }
  func closed(_ connection: UInt64, _ reason: ConnectionCloseReason) {
    state.withLock { $0.append("closed \(connection): \(reason)") }
  }
}

/// Why a connection was used again, or was not: told to watchers and in the metrics.
@Suite struct CloseReasonTests {
  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var fields: [(String, String)] = []
    var body: Int?
    let answer: Answer
    /// Nil when it is kept.
    var reason: ConnectionCloseReason?
  }

  private static let stream = "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n"

  private static let rows = [
    Row(testDescription: "kept", answer: .ok("a")),
    Row(
      testDescription: "the server asks", answer: .ok("a", "Connection: close\r\n"),
      reason: .response(.closeRequested)),
    Row(
      testDescription: "HTTP/1.0", answer: Answer("HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\na"),
      reason: .response(.http10)),
    Row(
      testDescription: "a body until the end", answer: Answer("HTTP/1.1 200 OK\r\n\r\na", ending: .endOfFile),
      reason: .response(.framedByClose)),
    Row(
      testDescription: "two framings",
      answer: Answer(
        "HTTP/1.1 200 OK\r\nContent-Length: 9\r\nTransfer-Encoding: chunked\r\n\r\n1\r\na\r\n0\r\n\r\n"),
      reason: .response(.lengthWithTransferEncoding)),
    Row(
      testDescription: "the caller asks", fields: [("Connection", "close")], answer: .ok("a"), reason: .asked),
    Row(testDescription: "the last one", answer: .ok("a", "Keep-Alive: max=1\r\n"), reason: .exchangeLimit),
    Row(
      testDescription: "more than was asked for", answer: .ok("a", "", status: "200 OK", extra: "b"),
      reason: .unaskedBytes),
    Row(
      testDescription: "an end with the answer", answer: .ok("a", ending: .endOfFile), reason: .serverEnded),
    Row(
      testDescription: "syntax", answer: Answer("HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n"),
      reason: .failed(.badServerResponse)),
    Row(
      testDescription: "a body cut short",
      answer: Answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\na", ending: .endOfFile),
      reason: .failed(.networkConnectionLost)),
    Row(
      testDescription: "the end of a stream", answer: Answer(stream + "--B\r\n\r\na\r\n--B--\r\n"),
      reason: .streamOver),
    Row(
      testDescription: "another protocol", fields: [("Connection", "upgrade"), ("Upgrade", "x")],
      answer: Answer("HTTP/1.1 101 Up\r\n\r\n"), reason: .response(.upgraded)),
  ]

  @Test(arguments: rows)
  func eachReasonIsTold(_ row: Row) throws {
    let server = ScriptedServer([[row.answer]])
    let watcher = Watcher()
    var configuration = Loading.configuration(server)
    configuration.trafficObserver = watcher
    configuration.collectsMetrics = true
    var request = URLRequest(string: "http://u:p@h/a")
    for (name, value) in row.fields { request.addValue(value, forHTTPHeaderField: name) }
    let log = CallbackLog()
    let lines = try Loading.run(request, configuration, log)
    let ending = row.reason.map { "closed 1: \($0)" } ?? "kept 1"
    #expect(watcher.lines.prefix(2) == ["opened 1", ending])
    // The end of the loop closes what is kept.
    if row.reason == nil { #expect(watcher.lines.last == "closed 1: the event loop has ended") }
    #expect(lines.suffix(2).first == "metrics")
    let transaction = try #require(log.metrics?.transactions.last)
    #expect(log.metrics?.transactions.count == 1)
    #expect(transaction.closeReason == row.reason)
    #expect(transaction.method == "GET" && transaction.urlString == "http://h/a")
    #expect(transaction.connectionNumber == 1 && !transaction.isReusedConnection)
    #expect(transaction.countOfRequestHeaderBytesSent == Int64(server.peers[0].sent.count))
    #expect(
      transaction.countOfResponseHeaderBytesReceived + transaction.countOfResponseBodyBytesReceived
        == Int64(row.answer.bytes.count))
    #expect(transaction.remoteAddress == nil && transaction.tlsVersion == nil)
    let connected = try #require(transaction.connectEnd)
    let sent = try #require(transaction.requestEnd)
    let ended = try #require(transaction.responseEnd)
    #expect(transaction.fetchStart <= connected && connected <= sent && sent <= ended)
  }

  /// Nobody reads on in a stream that is not wanted any more, though its chunks have an end.
  @Test func aStreamThatIsLeft() throws {
    let head = Self.stream.dropLast() + "Transfer-Encoding: chunked\r\n\r\n"
    let server = ScriptedServer([[Answer(head + "9\r\n--B\r\n\r\nab\r\n")]])
    let watcher = Watcher()
    var configuration = Loading.configuration(server)
    configuration.trafficObserver = watcher
    let log = CallbackLog()
    log.onCallback = { word, connection in if word == "response" { connection.cancel() } }
    _ = try Loading.run(URLRequest(string: "http://h/a"), configuration, log)
    #expect(watcher.lines == ["opened 1", "closed 1: the rest of the response is not wanted"])
  }

  /// Each request of a load is a transaction of its own.
  @Test func redirectsChallengesAndRepeatedRequests() throws {
    let server = ScriptedServer([
      [
        .ok("first"), Answer("", ending: .endOfFile),
      ],
      [
        .ok("", status: "302 F", "Location: /b\r\n"),
        .ok("", status: "401 U", "WWW-Authenticate: Basic realm=r\r\nConnection: close\r\n"),
      ], [.ok("done")],
    ])
    let loop = try EventLoop()
    defer { loop.shutDown() }
    var configuration = Loading.configuration(server)
    configuration.collectsMetrics = true
    var log = CallbackLog()
    for _ in 0..<2 {
      log = CallbackLog()
      log.challengeAnswer = {
        $0.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: $0)
      }
      _ = URLConnection(
        request: URLRequest(string: "http://h/a"), delegate: log, configuration: configuration,
        on: .loop(loop.handle))
      loop.run(until: .now + .seconds(5))
    }
    #expect(log.finished().suffix(4) == ["response 200 length 4", "data done", "metrics", "finish"])
    let metrics = try #require(log.metrics)
    #expect(metrics.redirectCount == 1)
    #expect(
      metrics.transactions.map(\.urlString) == ["http://h/a", "http://h/a", "http://h/b", "http://h/b"])
    #expect(metrics.transactions.map(\.statusCode) == [nil, 302, 401, 200])
    #expect(metrics.transactions.map(\.connectionNumber) == [1, 2, 2, 3])
    #expect(metrics.transactions.map(\.isReusedConnection) == [true, false, true, false])
    #expect(
      metrics.transactions.map(\.connectionChoice) == [.kept, .keptOneFailed, .kept, .noneOpen])
    #expect(
      metrics.transactions.map(\.closeReason) == [
        .failed(.networkConnectionLost), nil, .response(.closeRequested), nil,
      ])
  }

  @Test func aConnectionThatNeverWas() throws {
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let listener = try Listener(on: loop)
    let port = listener.port
    listener.close()
    var configuration = URLConnection.Configuration()
    configuration.collectsMetrics = true
    let log = CallbackLog()
    _ = URLConnection(
      request: URLRequest(string: "http://127.0.0.1:\(port)/"), delegate: log, configuration: configuration,
      on: .loop(loop.handle))
    loop.run(until: .now + .seconds(5))
    #expect(log.finished() == ["metrics", "fail cannotConnectToHost connecting"])
    let transaction = try #require(log.metrics?.transactions.first)
    #expect(
      transaction.connectionNumber == nil && transaction.connectEnd == nil && transaction.closeReason == nil)
    #expect(transaction.connectionChoice == .noneOpen && transaction.connectStart != nil)
  }

  /// Addresses and TLS are those of real sockets.
  @Test func addressesAreTold() throws {
    let server = try LoopbackServer(.answers([.ok("a")]))
    defer { server.stop() }
    let loop = try EventLoop()
    defer { loop.shutDown() }
    var configuration = URLConnection.Configuration()
    configuration.collectsMetrics = true
    let log = CallbackLog()
    _ = URLConnection(
      request: URLRequest(string: server.url()), delegate: log, configuration: configuration,
      on: .loop(loop.handle))
    loop.run(until: .now + .seconds(5))
    let transaction = try #require(log.metrics?.transactions.first)
    #expect(transaction.remoteAddress == "127.0.0.1" && transaction.remotePort == Int(server.port))
    #expect(transaction.localAddress == "127.0.0.1" && transaction.localPort ?? 0 > 0)
    let response = try #require(log.responses.first)
    #expect(response.remoteAddress == "127.0.0.1" && response.remotePort == Int(server.port))
    #expect(!response.isReusedConnection && !response.isFromCache)
  }

  /// Nothing is collected unless it is asked for, nothing comes after a cancel, and a cancel in the callback holds.
  @Test func metricsComeOnlyWhenTheyAreWanted() throws {
    let server = ScriptedServer([[.ok("a")], [.ok("a")]])
    #expect(
      try !Loading.run(URLRequest(string: "http://h/"), Loading.configuration(server)).contains("metrics"))
    var configuration = Loading.configuration(server)
    configuration.collectsMetrics = true
    let log = CallbackLog()
    log.onCallback = { word, connection in if word == "metrics" { connection.cancel() } }
    #expect(try Loading.run(URLRequest(string: "http://h/"), configuration, log).last == "metrics")
  }
}

extension Answer {
  fileprivate static func ok(_ body: String, _ fields: String, status: String, extra: String) -> Answer {
    var answer = Answer.ok(body, status: status, fields)
    answer.bytes += Array(extra.utf8)
    return answer
  }
}
