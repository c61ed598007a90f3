import Dispatch
import Foundation
import Gannet
import GannetFoundation
import GannetSockets
import TestSupport
import Testing

/// Loads whose callbacks come in operation queues, and `sendAsynchronousRequest`.
@Suite(.timeLimit(.minutes(1))) struct OperationQueueTests {
  private static let calls = ["response 200", "data", "finish"]

  private static func queue(_ kind: String) -> OperationQueue {
    let queue = OperationQueue()
    switch kind {
    case "main": return .main
    case "serial": queue.maxConcurrentOperationCount = 1
    default: queue.maxConcurrentOperationCount = 8
    }
    return queue
  }

  private static func start(
    _ server: PathServer, _ path: String, _ probe: HostProbe, _ queue: OperationQueue
  ) throws -> URLConnection {
    let connection = try #require(
      URLConnection(
        request: Gannet.URLRequest(string: server.url(path)), delegate: probe, startImmediately: false))
    try connection.setDelegateQueue(queue)
    connection.start()
    return connection
  }

  @Test(arguments: ["serial", "concurrent", "main"])
  func callbacksComeInOperationsOneByOne(_ kind: String) async throws {
    let server = try PathServer { $0 == "/closing" ? .closing("hello") : .ok("hello") }
    let queue = Self.queue(kind)
    for path in ["/", "/closing"] {
      let probe = HostProbe(ends: 10) { _, _ in #expect(OperationQueue.current === queue) }
      for _ in 0..<10 { _ = try Self.start(server, path, probe, queue) }
      let report = try await probe.end.value
      #expect(report.error == nil && report.overlaps == 0)
      #expect(report.calls.filter { $0 == "response 200" }.count == 10)
    }
  }

  @Test func whoKeepsTheOperationsKeepsNoTurnBack() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let queue = Self.queue("serial")
    let kept = Guarded<[Operations]>([])
    let probe = HostProbe { _, _ in kept.withLock { $0.append(Operations(all: queue.operations)) } }
    _ = try Self.start(server, "/", probe, queue)
    #expect(try await probe.end.value.calls == Self.calls)
    let again = HostProbe()
    _ = try Self.start(server, "/", again, queue)
    #expect(try await again.end.value.calls == Self.calls)
    #expect(kept.withLock { $0.contains { !$0.all.isEmpty } })
  }

  // UNCHECKED: operations are thread-safe, and are only kept.
  private struct Operations: @unchecked Sendable { let all: [Operation] }

  @Test func aSuspendedQueueHearsNothingUntilItGoesOn() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let (queue, probe) = (Self.queue("serial"), HostProbe())
    queue.isSuspended = true
    _ = try Self.start(server, "/", probe, queue)
    while queue.operationCount == 0 { await Task.yield() }
    // Whoever clears the queue does not lose the load.
    queue.cancelAllOperations()
    #expect(probe.report.calls.isEmpty && server.counts.accepted == 0)
    queue.isSuspended = false
    #expect(try await probe.end.value.calls == Self.calls)
  }

  @Test func aCancelWhileTheQueueStands() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let (queue, census) = (Self.queue("concurrent"), Census())
    let watch = LoadWatch { OperationQueue.current === queue }
    queue.isSuspended = true
    try {
      var configuration = URLConnection.Configuration()
      configuration.trafficObserver = DriverToken(census)
      let connection = try #require(
        CountedConnection(
          Gannet.URLRequest(string: server.url("/")), WatchedDelegate(watch, census), census, configuration,
          on: .shared))
      try connection.setDelegateQueue(queue)
      connection.start()
      watch.cancel(connection)
    }()
    #expect(census.living() == "1 connection, 1 delegate, 1 driver")
    queue.isSuspended = false
    _ = try await census.absence(of: Census.Kind.allCases).value
    #expect(watch.report.faults == [])
    #expect(watch.report.calls == [] && server.counts.accepted == 0)
  }

  /// What a slow delegate has not taken stays with the sender: at most one turn stands in the queue.
  @Test func aSlowQueueStopsTheSender() async throws {
    let server = try PathServer { _ in
      .endless(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), [UInt8](repeating: 7, count: 4096))
    }
    let (queue, begun, goOn) = (Self.queue("concurrent"), Arrival<Bool>(), DispatchSemaphore(value: 0))
    let probe = HostProbe { call, _ in
      guard call == "data", begun.current == nil else { return }
      begun.arrive(true)
      goOn.wait()
    }
    let connection = try Self.start(server, "/", probe, queue)
    _ = try await begun.value
    let stuck = try await server.stuck.value
    #expect(queue.operationCount <= 2 && probe.report.body.count <= 1 << 20)
    goOn.signal()
    try await server.until { $0.sent > stuck.sent + (4 << 20) }
    connection.cancel()
    try await server.until { $0.open == 0 }
    #expect(probe.report.overlaps == 0 && probe.report.ends == 0)
  }

  @Test func aQueueIsLetGoWithItsLastConnection() async throws {
    let server = try PathServer { _ in .closing("hello") }
    let gone = Arrival<Bool>()
    final class Farewell: Operation, @unchecked Sendable {
      let gone: Arrival<Bool>
      init(_ gone: Arrival<Bool>) { self.gone = gone }
      deinit { gone.arrive(true) }
    }
    weak var queue: OperationQueue?
    do {
      let made = Self.queue("serial")
      queue = made
      let probe = HostProbe()
      _ = try Self.start(server, "/", probe, made)
      _ = try await probe.end.value
      try await server.until { $0.open == 0 }
      made.addOperation(Farewell(gone))
    }
    _ = try await gone.value
    while queue != nil { await Task.yield() }
  }

  @Test func noQueueIsNoHost() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let probe = HostProbe()
    let connection = try #require(
      URLConnection(
        request: Gannet.URLRequest(string: server.url("/")), delegate: probe, startImmediately: false))
    try connection.setDelegateQueue(OperationQueue())
    try connection.setDelegateQueue(nil)
    connection.start()
    #expect(server.counts.accepted == 0)
    let queue = DispatchQueue(label: "queue")
    try connection.setDelegateQueue(queue)
    #expect(try await probe.end.value.calls == Self.calls)
  }

  @MainActor private final class MainDelegate: @MainActor URLConnectionDataDelegate {
    let end = Arrival<Bool>()
    func connectionDidFinishLoading(_ connection: URLConnection) { end.arrive(true) }
  }

  @Test @MainActor func theMainActorsDelegateIsAtHomeInTheMainQueueAlone() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let delegate = MainDelegate()
    let connection = try #require(
      URLConnection(
        request: Gannet.URLRequest(string: server.url("/")), delegate: delegate, startImmediately: false))
    #expect(throws: ConnectionError.self) { try connection.setDelegateQueue(OperationQueue()) }
    try connection.setDelegateQueue(.main)
    connection.start()
    #expect(try await delegate.end.value)
  }

  // MARK: sendAsynchronousRequest

  @Test(arguments: ["serial", "concurrent", "main"])
  func theHandlerIsCalledOnceOnTheQueue(_ kind: String) async throws {
    let server = try PathServer { $0 == "/missing" ? .ok("no", status: "404 Not Found") : .ok("hello") }
    let queue = Self.queue(kind)
    let rows: [(String, Int?, String?, ConnectionError.Code?)] = [
      ("/", 200, "hello", nil), ("/missing", 404, "no", nil), ("ftp:", nil, nil, .badURL),
      ("mailto:me", nil, nil, .unsupportedURL),
    ]
    for (path, status, body, code) in rows {
      let url = path.hasPrefix("/") ? server.url(path) : path
      let (response, data, error) = await withCheckedContinuation { continuation in
        URLConnection.sendAsynchronousRequest(Gannet.URLRequest(string: url), queue: queue) {
          #expect(OperationQueue.current === queue)
          continuation.resume(returning: ($0, $1, $2))
        }
      }
      #expect((response as? Gannet.HTTPURLResponse)?.statusCode == status)
      #expect(data.map { String(decoding: $0, as: UTF8.self) } == body && error?.code == code)
    }
  }

  @Test func aLoadGoesOnWhileItsQueueStands() async throws {
    let server = try PathServer { _ in .closing("hello") }
    let queue = Self.queue("serial")
    queue.isSuspended = true
    let end = Arrival<Int?>()
    URLConnection.sendAsynchronousRequest(Gannet.URLRequest(string: server.url("/")), queue: queue) {
      _, data, _ in end.arrive(data?.count)
    }
    try await server.until { $0.accepted == 1 && $0.open == 0 }
    #expect(end.current == nil)
    queue.isSuspended = false
    #expect(try await end.value == 5)
  }

  // MARK: sendSynchronousRequest

  /// Of the main thread's run loop, `Tests/Consumer` has a program.
  @Test func aSynchronousLoadInAnOperationAndItsCallback() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let queue = Self.queue("serial")
    let load: @Sendable () -> Int? = {
      let result = Result { () throws(ConnectionError) in
        try URLConnection.sendSynchronousRequest(Gannet.URLRequest(string: server.url("/")))
      }
      return (try? result.get())?.0.count
    }
    let count = await withCheckedContinuation { continuation in
      queue.addOperation { continuation.resume(returning: load()) }
    }
    #expect(count == 5)
    let probe = HostProbe { _, _ in #expect(load() == 5) }
    _ = try Self.start(server, "/", probe, queue)
    #expect(try await probe.end.value.calls == Self.calls)
  }
}
