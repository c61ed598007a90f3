import Dispatch
import Foundation
import Gannet
import GannetSockets
import TestSupport
import Testing

/// After many loads of every kind nothing is left of any: objects counted one by one, descriptors and bytes as before.
/// `GANNET_LOADS` says how many; 10,000 without it. In a process of its own, so that what is counted is its own.
@Suite(.longWork) struct LeakTests {
  @Test func nothingIsLeftOfManyMixedLoads() async {
    await #expect(processExitsWith: .success) {
      let count = ProcessInfo.processInfo.environment["GANNET_LOADS"].flatMap { Int($0) } ?? 10_000
      try MixedLoads().run(count)
    }
  }

  /// A thread is none of a connection's costs, on whatever host.
  @Test func aThousandConnectionsLeaveNoThread() async {
    await #expect(processExitsWith: .success) { try await MixedLoads.onEveryHost() }
  }
}

/// Loads of every kind, one after the other.
private final class MixedLoads {
  private static let challenge = Answer.ok(
    "who", status: "401 U", "WWW-Authenticate: Basic realm=\"r\"\r\n")
  private static let half = Answer("HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf")
  private static let chunks = Answer(
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX: y\r\n\r\n")
  private static let parts = Answer(
    "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n--B\r\n\r\nabc\r\n--B--\r\n",
    ending: .endOfFile)

  /// What a server says, and where the load is cancelled.
  private static let kinds: [(answers: [Answer], place: CancelPlace)] = [
    ([.ok("hello")], .nowhere), ([chunks], .nowhere), ([parts], .nowhere),
    ([.ok("gone", status: "302 F", "Location: /b\r\n"), .ok("here")], .nowhere),
    ([challenge, .ok("in")], .nowhere), ([Answer("junk\r\n\r\n")], .nowhere),
    ([Answer(bytes: half.bytes, ending: .endOfFile)], .nowhere),
    ([Answer("", ending: .failed(104))], .nowhere),
    // Silent, until its time is over.
    ([half], .nowhere), ([], .nowhere),
    ([.ok("hello")], .callback(1)), ([.ok("hello")], .callback(2)), ([.ok("hello")], .callback(3)),
    ([challenge, .ok("in")], .callback(2)),
    ([half], .byte(ReceivedByte(40, isProcessed: true))),
    ([.ok("hello")], .byte(ReceivedByte(9, isProcessed: false))),
  ]

  private let loop: EventLoop
  private let server: LoopbackServer
  private var watched: [WatchedLoad] = []

  init() throws {
    loop = try EventLoop()
    server = try LoopbackServer(.answers([.ok("hello")]))
  }

  /// So many loads, after a few whose costs come once.
  func run(_ count: Int) throws {
    try load(2000)
    server.catchUp()
    let (descriptors, bytes) = (try Soak.descriptors(), try Soak.memory())
    try load(count)
    server.catchUp()
    try #require(Soak.descriptors() == descriptors)
    let growth = try Soak.memory() - bytes
    try #require(growth < 4 << 20, "\(growth) bytes are left of \(count) loads")
    server.stop()
    loop.shutDown()
  }

  private func load(_ count: Int) throws {
    for index in 0..<count {
      // Some over a socket, on a connection that is kept or on a new one.
      if index % 20 == 19 { try loadOverSocket() } else { try load(Self.kinds[index % Self.kinds.count]) }
      if index % 500 == 499 || index == count - 1 { try checkAll() }
    }
  }

  private func load(_ kind: (answers: [Answer], place: CancelPlace)) throws {
    var answers = WatchedDelegate.Answers()
    answers.challenge = {
      $0.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: $0)
    }
    let handle = loop.handle
    watched.append(
      try WatchedLoad(
        of: URLRequest(string: "http://h/a", timeoutInterval: 2), from: ScriptedServer([kind.answers]),
        answers,
        at: kind.place, on: .loop(handle)
      ) { handle.isCurrent })
    try #require(loop.turnUntilIdle())
  }

  private func loadOverSocket() throws {
    let log = CallbackLog()
    _ = URLConnection(request: URLRequest(string: server.url()), delegate: log, on: .loop(loop.handle))
    loop.run(until: loop.now + .seconds(20))
    try #require(log.finished() == ["response 200 length 5", "data hello", "finish"])
  }

  /// Each of the loads has kept its promises and is gone, once the time of what was kept for others is over.
  private func checkAll() throws {
    loop.advance(by: .seconds(61))
    loop.poll()
    loop.poll()
    for load in watched {
      let (faults, living) = (load.faults(), load.census.living())
      try #require(faults == [] && living == "", "\(faults) \(living): \(load.watch.report.trace)")
    }
    watched = []
  }

  // MARK: Threads

  private static func threads() throws -> Int {
    try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").count
  }

  /// Two hundred and fifty connections on each kind of host, made, loaded or cancelled, and let go.
  static func onEveryHost() async throws {
    let server = try LoopbackServer(.answers([.ok("hello", "Connection: close\r\n")]))
    let url = server.url(host: "localhost")
    func load(_ count: Int) async throws {
      for index in 0..<count {
        let queue = DispatchQueue(label: "host \(index)")
        for host in [URLConnection.Host.shared, .queue(queue), .queue(.global())] {
          try await Self.load(url, on: host, isCancelled: index % 4 == 0)
        }
        let loop = try EventLoop()
        _ = URLConnection(
          request: URLRequest(string: url), delegate: CallbackLog(), on: .loop(loop.handle))
        loop.run(until: .now + .seconds(20))
        loop.shutDown()
      }
    }
    try await load(10)
    let before = try threads()
    try await load(250)
    server.stop()
    // Dispatch and the resolver keep a few for what comes next, however many connections there were.
    try #require(threads() <= before + 8)
  }

  private static func load(_ url: String, on host: URLConnection.Host, isCancelled: Bool) async throws {
    let probe = HostProbe()
    let connection = URLConnection(request: URLRequest(string: url), delegate: probe, on: host)
    if isCancelled { connection?.cancel() } else { _ = try await probe.end.value }
  }
}
