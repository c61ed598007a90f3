import FoundationEssentials
import GannetSockets
import TestSupport
import Testing

@testable import Gannet

/// What the error of a cancelled task says of the load: its phase and its URL then, as the error of a load that failed
/// there would (contract, 10).
@Suite(.timeLimit(.minutes(1)))
struct CancelledTaskTests {
  typealias Phase = ConnectionError.Phase

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String { path }
    var path: String
    var phase: Phase
    /// The path that the load is at when it is cancelled.
    var last: String
    /// Whether what the server says to that has come by then; the request has been read in any case.
    var isAnswered = true
  }

  static let rows: [Row] = [
    Row(path: "/stall", phase: .awaiting, last: "/stall", isAnswered: false),
    Row(path: "/moved", phase: .awaiting, last: "/stall", isAnswered: false),
    Row(path: "/line", phase: .receiving, last: "/line"),
    Row(path: "/body", phase: .receiving, last: "/body"),
    Row(path: "/part", phase: .receiving, last: "/part"),
  ]

  static func answer(to path: String) -> String {
    switch path {
    case "/line": "HTTP/1.1"
    case "/body": "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nabc"
    default:
      "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n--B\r\nX: y\r\n\r\nabc"
    }
  }

  static func server() throws -> PathServer {
    try PathServer { path in
      switch path {
      case "/moved": .ok("", status: "302 Found", "Location: /stall\r\n")
      case "/moved-on": .ok("", status: "302 Found", "Location: /closing\r\n")
      case "/line", "/body", "/part": .bytes(Array(answer(to: path).utf8))
      default: Trouble.reply(to: path)
      }
    }
  }

  /// Tells when so many bytes have come and been processed.
  private final class Receipt: TrafficObserver {
    let isThere = Arrival<Bool>()
    let isClosed = Arrival<Bool>()
    private let missing: Guarded<Int>

    init(of count: Int) { missing = Guarded(count) }

    func received(_ bytes: Span<UInt8>, on connection: UInt64) {
      let isThere = missing.withLock { missing in
        missing -= bytes.count
        return missing <= 0
      }
      if isThere { EventLoop.running?.perform { [self] _ in self.isThere.arrive(true) } }
    }
    func opened(_ connection: ConnectionDescription) {}
    func sent(_ bytes: Span<UInt8>, on connection: UInt64) {}
    func ended(_ connection: UInt64, reset: Bool) {}
    func closed(_ connection: UInt64, _ reason: ConnectionCloseReason) { isClosed.arrive(true) }
  }

  static func error(of task: Task<some Sendable, any Error>) async -> ConnectionError? {
    do {
      _ = try await task.value
      return nil
    } catch { return error as? ConnectionError }
  }

  static func check(_ error: ConnectionError?, _ phase: Phase, _ url: String) {
    #expect(error?.code == .cancelled)
    #expect(error?.phase == phase)
    #expect(error?.url == url)
  }

  /// Only a stream of parts is one for `parts(for:)`.
  static let calls: [(Row, String)] =
    rows.flatMap { row in ["data", "download", "events", "bytes"].map { (row, $0) } }
    + rows.filter { $0.path != "/body" }.map { ($0, "parts") }

  @Test(arguments: calls)
  func itSaysWhereTheLoadWas(_ row: Row, _ call: String) async throws {
    let server = try Self.server()
    let request = Trouble.request(server, row.path)
    let receipt = Receipt(of: Self.answer(to: row.path).utf8.count)
    var observed = URLConnection.Configuration.default
    observed.trafficObserver = receipt
    let configuration = observed
    let task = Task {
      switch call {
      case "data": _ = try await URLConnection.data(for: request, configuration: configuration)
      case "download": _ = try await URLConnection.download(for: request, configuration: configuration)
      case "events": for try await _ in URLConnection.events(for: request, configuration: configuration) {}
      case "parts": for try await _ in URLConnection.parts(for: request, configuration: configuration) {}
      default:
        for try await _ in try await URLConnection.bytes(for: request, configuration: configuration).0 {}
      }
    }
    try await server.until { $0.paths.last == row.last }
    if row.isAnswered { _ = try await receipt.isThere.value }
    task.cancel()
    Self.check(await Self.error(of: task), row.phase, server.url(row.last))
    try await server.until { $0.open == 0 }
  }

  @Test func whileABodyIsSent() async throws {
    let server = try Self.server()
    let isSending = Arrival<Bool>()
    var request = Trouble.request(server, "/stall")
    request.httpMethod = "POST"
    let count = Guarded(0)
    request.body = .stream {
      AsyncStream {
        let isFirst = count.withLock { count in
          count += 1
          return count == 1
        }
        if isFirst { return Data("piece".utf8) }
        isSending.arrive(true)
        _ = try? await Arrival<Bool>().value
        return nil as Data?
      }
    }
    let sent = request
    let task = Task { try await URLConnection.data(for: sent) }
    _ = try await isSending.value
    task.cancel()
    Self.check(await Self.error(of: task), .sending, server.url("/stall"))
  }

  @Test(arguments: ["data", "events"])
  func beforeItHasBegun(_ call: String) async throws {
    let server = try Self.server()
    let request = Trouble.request(server, "/")
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      if call == "data" {
        _ = try await URLConnection.data(for: request)
      } else {
        for try await _ in URLConnection.events(for: request) {}
      }
    }
    Self.check(await Self.error(of: task), .preparing, server.url("/"))
  }

  /// All has come, but not all of it was taken.
  @Test func onceAllHasCome() async throws {
    let server = try Self.server()
    let request = Trouble.request(server, "/moved-on")
    let receipt = Receipt(of: 0)
    var observed = URLConnection.Configuration.default
    observed.trafficObserver = receipt
    let configuration = observed
    let isCancelled = Arrival<Bool>()
    let task = Task {
      var iterator = URLConnection.events(for: request, configuration: configuration).makeAsyncIterator()
      _ = try await iterator.next()
      _ = try? await isCancelled.value
      return try await iterator.next() != nil
    }
    _ = try await receipt.isClosed.value
    task.cancel()
    isCancelled.arrive(true)
    Self.check(await Self.error(of: task), .receiving, server.url("/closing"))
  }

  /// Cancelled between two events: what waits is told twice to end then, and the host answers all the same.
  @Test func betweenTwoEvents() async throws {
    let server = try Self.server()
    let request = Trouble.request(server, "/body")
    for _ in 0..<20 {
      let task = Task {
        var iterator = URLConnection.events(for: request).makeAsyncIterator()
        _ = try await iterator.next()
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        return try await iterator.next() != nil
      }
      Self.check(await Self.error(of: task), .receiving, server.url("/body"))
    }
  }

  /// The error that a connection tells who cancels it.
  static func error(cancelling connection: URLConnection) async throws -> ConnectionError {
    let told = Arrival<ConnectionError>()
    connection.cancel { told.arrive($0) }
    return try await told.value
  }

  @Test func aConnectionThatIsNotUnderWay() async throws {
    let server = try Self.server()
    let request = Trouble.request(server, "/moved-on")
    let idle = try #require(
      URLConnection(request: request, delegate: nil, startImmediately: false, on: .shared))
    Self.check(try await Self.error(cancelling: idle), .preparing, server.url("/moved-on"))

    let end = EndDelegate()
    let done = try #require(URLConnection(request: request, delegate: end, on: .shared))
    _ = try await end.hasEnded.value
    Self.check(try await Self.error(cancelling: done), .receiving, server.url("/closing"))
  }

  /// The only connection that there may be serves another load.
  @Test func aLoadThatWaitsForAConnection() async throws {
    let server = try Self.server()
    var configuration = URLConnection.Configuration.default
    configuration.maximumConnectionsPerHost = 1
    let request = Trouble.request(server, "/stall")
    let first = try #require(
      URLConnection(request: request, delegate: nil, configuration: configuration, on: .shared))
    try await server.until { $0.paths.count == 1 }
    let second = try #require(
      URLConnection(request: request, delegate: nil, configuration: configuration, on: .shared))
    // It begins in the loop's next turn.
    for _ in 0..<3 {
      let turn = Arrival<Bool>()
      EventLoop.shared.post { _ in turn.arrive(true) }
      _ = try await turn.value
    }
    Self.check(try await Self.error(cancelling: second), .connecting, server.url("/stall"))
    first.cancel()
  }

  /// Of two who share a body, none takes what was cut short for all of it.
  @Test(arguments: [false, true]) func whoSharesABodyIsToldToo(_ isCancelled: Bool) async throws {
    let server = try Self.server()
    let request = Trouble.request(server, isCancelled ? "/body" : "/short")
    let (bytes, _) = try await URLConnection.bytes(for: request)
    let (first, second) = (Arrival<Bool>(), Arrival<Bool>())
    let busy = Task {
      var iterator = bytes.chunks.makeAsyncIterator()
      #expect(try await iterator.next() == Data("abc".utf8))
      first.arrive(true)
      _ = try? await second.value
      return try await iterator.next() != nil
    }
    _ = try await first.value
    let waiting = Task {
      var iterator = bytes.chunks.makeAsyncIterator()
      return try await iterator.next() != nil
    }
    if isCancelled { waiting.cancel() }
    let code: ConnectionError.Code = isCancelled ? .cancelled : .networkConnectionLost
    #expect(await Self.error(of: waiting)?.code == code)
    second.arrive(true)
    #expect(await Self.error(of: busy)?.code == code)
  }

  private final class EndDelegate: URLConnectionDataDelegate, Sendable {
    let hasEnded = Arrival<Bool>()
    func connectionDidFinishLoading(_ connection: URLConnection) { hasEnded.arrive(true) }
  }
}
