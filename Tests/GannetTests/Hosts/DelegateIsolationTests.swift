import Dispatch
import Gannet
import GannetSockets
import TestSupport
import Testing

/// A delegate that conforms for an actor belongs on that actor's host, and is refused elsewhere.
@Suite(.timeLimit(.minutes(1))) struct DelegateIsolationTests {
  @MainActor private final class Tally: @MainActor URLConnectionDataDelegate {
    let end = Arrival<(calls: [String], error: ConnectionError?)>()
    private var calls: [String] = []

    func connection(_ connection: URLConnection, didReceive response: URLResponse) { note("response") }
    func connection(_ connection: URLConnection, didReceive data: Data) { note("data") }
    func connectionDidFinishLoading(_ connection: URLConnection) {
      note("finish")
      end.arrive((calls, nil))
    }
    func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
      note("fail")
      end.arrive((calls, error))
    }

    private func note(_ call: String) {
      dispatchPrecondition(condition: .onQueue(.main))
      calls.append(call)
    }
  }

  /// Only its data methods belong to the main actor.
  fileprivate final class Halved: URLConnectionDelegate, Sendable {
    let end = Arrival<ConnectionError>()
    func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
      end.arrive(error)
    }
  }

  private final class Mark: Sendable {
    let thread = Guarded<Int?>(nil)
  }

  /// A class of its own for each `Kind`, whose first delegate is looked at on a thread made for that.
  private final class Stranger<Kind>: URLConnectionDelegate, Sendable {
    private let gone: Mark
    init(_ gone: Mark) { self.gone = gone }
    deinit { gone.thread.withLock { $0 = TestThread.current } }
  }

  @Test func whoLooksAtADelegateKeepsNoHoldOfIt() throws {
    let request = URLRequest(string: "http://localhost/")
    func meet<Kind>(_ kind: Kind.Type, left: Int) throws {
      let gone = Mark()
      do {
        let connection = try #require(
          URLConnection(request: request, delegate: Stranger<Kind>(gone), startImmediately: false))
        try connection.schedule(on: .shared)
      }
      #expect(gone.thread.withLock { $0 } == TestThread.current)
      if left > 0 { try meet([Kind].self, left: left - 1) }
    }
    try meet(Int.self, left: 100)
  }

  @Test @MainActor func theMainActorsIsAtHomeInTheMainQueue() async throws {
    let server = try Hosting.server()
    let tally = Tally()
    let connection = try #require(
      URLConnection(request: Hosting.request(server, "/"), delegate: tally, startImmediately: false))
    try connection.schedule(on: .queue(.main))
    connection.start()
    #expect(try await tally.end.value.calls == ["response", "data", "finish"])
  }

  @Test @MainActor func scheduleRefusesItElsewhere() throws {
    let server = try Hosting.server()
    for _ in 0..<2 {
      let connection = try #require(
        URLConnection(request: Hosting.request(server, "/"), delegate: Tally(), startImmediately: false))
      for host: URLConnection.Host in [.shared, .queue(DispatchQueue(label: "other"))] {
        #expect(throws: ConnectionError.self) { try connection.schedule(on: host) }
      }
      try connection.schedule(on: .queue(.main))
    }
    let connection = try #require(
      URLConnection(request: Hosting.request(server, "/"), delegate: Halved(), startImmediately: false))
    #expect(throws: ConnectionError.self) { try connection.schedule(on: .shared) }
  }

  @Test @MainActor func aLoadThatWasStartedElsewhereFailsInTheMainQueue() async throws {
    let server = try Hosting.server()
    let loop = try EventLoop()
    for host: URLConnection.Host in [
      .shared, .queue(DispatchQueue(label: "other")), .loop(loop.handle), .loop(EventLoop.shared),
    ] {
      let tally = Tally()
      _ = URLConnection(request: Hosting.request(server, "/"), delegate: tally, on: host)
      if case .loop(let handle) = host, handle === loop.handle {
        let parcel = Parcel(loop: loop)
        try await TestThread.run { parcel.loop.run(until: .now + .milliseconds(1)) }
      }
      let (calls, error) = try await tally.end.value
      #expect(calls == ["fail"])
      #expect(error?.code == .unknown && error?.phase == .preparing)
    }
    let halved = Halved()
    _ = URLConnection(request: Hosting.request(server, "/"), delegate: halved, on: .shared)
    #expect(try await halved.end.value.code == .unknown)
    #expect(server.counts.accepted == 0)
    loop.shutDown()
  }

  @Test @MainActor func oneThatWasCancelledIsNotTold() async throws {
    let server = try Hosting.server()
    let tally = Tally()
    let connection = URLConnection(request: Hosting.request(server, "/"), delegate: tally, on: .shared)
    connection?.cancel()
    let passed = Arrival<Bool>()
    EventLoop.shared.post { _ in DispatchQueue.main.async { passed.arrive(true) } }
    _ = try await passed.value
    #expect(tally.end.current == nil)
  }

  @Test func everyOtherDelegateGoesAnywhere() throws {
    let server = try Hosting.server()
    let loop = try EventLoop()
    for host: URLConnection.Host in [
      .automatic, .shared, .queue(.main), .queue(DispatchQueue(label: "other")), .loop(loop.handle),
    ] {
      let connection = URLConnection(
        request: Hosting.request(server, "/"), delegate: HostProbe(), startImmediately: false)
      try connection?.schedule(on: host)
    }
    loop.shutDown()
  }

  /// A loop whose handle is an actor's executor.
  // UNCHECKED: only one thread holds it at a time.
  private struct Parcel: @unchecked Sendable { let loop: EventLoop }

  @globalActor private actor LoopActor {
    static let shared = LoopActor()
    static let loop = try? Parcel(loop: EventLoop())
    nonisolated var unownedExecutor: UnownedSerialExecutor {
      unsafe (LoopActor.loop?.loop.handle ?? EventLoop.shared).asUnownedSerialExecutor()
    }
  }

  @LoopActor private final class LoopTally: @LoopActor URLConnectionDataDelegate {
    var calls: [String] = []
    nonisolated init() {}
    func connectionDidFinishLoading(_ connection: URLConnection) { calls.append("finish") }
  }

  @Test func anActorWhoseExecutorIsALoopHasItsDelegatesThere() async throws {
    let server = try Hosting.server()
    let parcel = try #require(LoopActor.loop)
    let tally = LoopTally()
    let begun = Task { @LoopActor in
      let connection = try #require(
        URLConnection(request: Hosting.request(server, "/"), delegate: tally, startImmediately: false))
      try connection.schedule(on: .loop(parcel.loop.handle))
      connection.start()
    }
    try await TestThread.run {
      while server.counts.paths.isEmpty { parcel.loop.run(until: .now + .milliseconds(5)) }
      parcel.loop.run()
    }
    try await begun.value
    let calls = Task { @LoopActor in tally.calls }
    try await TestThread.run { parcel.loop.run(until: .now + .milliseconds(50)) }
    parcel.loop.shutDown()
    #expect(await calls.value == ["finish"])
  }
}

extension DelegateIsolationTests.Halved: @MainActor URLConnectionDataDelegate {
  func connectionDidFinishLoading(_ connection: URLConnection) {}
}
