import Dispatch
import Gannet
import GannetSockets
import TestSupport
import Testing

/// What a caller may do to a load's host and to what it holds, however unkind: the promises stand (docs/CONTRACT.md,
/// rules 2, 3 and 5).
@Suite(.timeLimit(.minutes(1)), .serialized) struct HostileTests {
  /// One load that nothing has started, and all that is counted of it.
  private struct Idle {
    let census = Census()
    let watch: LoadWatch
    let connection: CountedConnection?

    init(on host: URLConnection.Host, isOnHost: @escaping @Sendable () -> Bool) {
      let watch = LoadWatch(isOnHost: isOnHost)
      self.watch = watch
      var configuration = URLConnection.Configuration()
      configuration.transportProvider = TappedProvider(ScriptedServer([[.ok("hello")]]), census, watch)
      configuration.trafficObserver = DriverToken(census)
      configuration.idleConnectionLifetime = .milliseconds(1)
      connection = CountedConnection(
        URLRequest(string: "HTTP://h"), WatchedDelegate(watch, census), census, configuration, on: host)
    }
  }

  /// One thread starts it while another cancels it.
  @Test(arguments: CancelOnHostsTests.Place.allCases)
  func aStartThatRacesACancel(_ place: CancelOnHostsTests.Place) async throws {
    let here = CancelOnHostsTests.Here(place)
    for round in 0..<200 {
      let (census, watch) = try await Self.race(Idle(on: here.host, isOnHost: here.isHere))
      _ = try await census.absence(of: Census.Kind.allCases).value
      #expect(watch.report.faults == [] && watch.report.ends <= 1, "\(round): \(watch.report.trace)")
    }
  }

  private static func race(_ load: consuming Idle) async throws -> (Census, LoadWatch) {
    let (census, watch, connection) = (load.census, load.watch, try #require(load.connection))
    await withTaskGroup { group in
      group.addTask { connection.start() }
      group.addTask { watch.cancelElsewhere(connection) }
    }
    return (census, watch)
  }

  /// Nothing is told of a load whose queue stands, whatever makes it stand; a load that is cancelled meanwhile is let go
  /// when it goes on, and the other is loaded.
  @Test(arguments: ["suspended", "inactive", "of a suspended queue"])
  func aQueueThatStands(_ kind: String) async throws {
    let server = try Hosting.server()
    let key = DispatchSpecificKey<Bool>()
    let root = DispatchQueue(label: "root")
    let queue: DispatchQueue
    switch kind {
    case "inactive": queue = DispatchQueue(label: "inactive", attributes: .initiallyInactive)
    case "suspended": queue = DispatchQueue(label: "suspended")
    default: queue = DispatchQueue(label: "leaf", target: root)
    }
    queue.setSpecific(key: key, value: true)
    let standing = kind == "of a suspended queue" ? root : queue
    if kind != "inactive" { standing.suspend() }
    let probe = HostProbe { _, _ in #expect(DispatchQueue.getSpecific(key: key) == true) }
    _ = URLConnection(request: Hosting.request(server, "/"), delegate: probe, on: .queue(queue))
    let census = try Self.cancelled(on: queue, key)
    // A load elsewhere has the time that this one could have had.
    let other = HostProbe()
    _ = URLConnection(request: Hosting.request(server, "/closing"), delegate: other, on: .shared)
    _ = try await other.end.value
    #expect(probe.report.calls == [] && census.living([.delegate]) == "1 delegate")
    if kind == "inactive" { queue.activate() } else { standing.resume() }
    #expect(try await probe.end.value.calls == Hosting.calls)
    _ = try await census.absence(of: Census.Kind.allCases).value
  }

  private static func cancelled(on queue: DispatchQueue, _ key: DispatchSpecificKey<Bool>) throws -> Census {
    let load = Idle(on: .queue(queue)) { DispatchQueue.getSpecific(key: key) == true }
    let connection = try #require(load.connection)
    connection.start()
    load.watch.cancel(connection)
    return load.census
  }

  /// Nothing comes from inside a `start()` in the host's own turn.
  @Test func aStartOnItsHost() throws {
    let loop = try EventLoop()
    let handle = loop.handle
    let load = Idle(on: .loop(handle)) { handle.isCurrent }
    loop.perform { _ in load.watch.perform("start") { load.connection?.start() } }
    #expect(loop.turnUntilIdle())
    #expect(
      load.watch.report.faults == [] && load.watch.report.calls == [.willSend, .response, .data, .finish])
    loop.shutDown()
  }

  /// Where the host has ended there is nowhere else to let the delegate go.
  @Test func aCancelAfterItsLoopHasEnded() throws {
    weak var gone: CallbackLog?
    let loop = try EventLoop()
    let connection: URLConnection?
    do {
      let log = CallbackLog()
      gone = log
      connection = URLConnection(
        request: URLRequest(string: "http://h/"), delegate: log, startImmediately: false,
        on: .loop(loop.handle))
    }
    loop.shutDown()
    connection?.cancel()
    #expect(gone == nil)
  }
}
