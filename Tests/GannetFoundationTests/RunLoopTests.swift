import Foundation
import Gannet
import GannetFoundation
import TestSupport
import Testing

/// Loads on a thread's `RunLoop`. The main one is tested by a program in `Tests/Consumer`: the test
/// runner's main thread has no run loop that runs.
@Suite(.timeLimit(.minutes(1))) struct RunLoopTests {
  private static let calls = ["response 200", "data", "finish"]
  private static let privateMode = RunLoop.Mode("gannet.test.private")

  private static func server() throws -> PathServer {
    try PathServer { path in
      switch path {
      case "/stall": .silence
      case "/closing": .closing("hello")
      case "/held": .held(Answer.ok("hello", "Connection: close\r\n").bytes)
      default: .ok("hello")
      }
    }
  }

  /// A run loop on its way to another thread.
  // UNCHECKED: what is used of it there, `add` and `schedule`, is made for that.
  private struct Place: @unchecked Sendable { let runLoop: RunLoop }

  /// Makes a load and starts it, here.
  @discardableResult
  private static func load(
    _ server: PathServer, _ path: String, _ probe: HostProbe, in runLoop: RunLoop = .current,
    _ modes: [RunLoop.Mode] = [.default], _ configuration: URLConnection.Configuration = .default
  ) throws -> URLConnection {
    let connection = try #require(
      URLConnection(
        request: Gannet.URLRequest(string: server.url(path)), delegate: probe, startImmediately: false,
        configuration: configuration))
    try connection.schedule(in: runLoop, forModes: modes)
    connection.start()
    return connection
  }

  /// Runs this thread's run loop until the condition holds.
  private static func run(_ mode: RunLoop.Mode = .default, until isMet: () -> Bool) {
    let limit = Date(timeIntervalSinceNow: 20)
    // A run loop without a source or timer returns at once.
    while !isMet(), Date() < limit {
      _ = RunLoop.current.run(mode: mode, before: Date(timeIntervalSinceNow: 0.05))
    }
    #expect(isMet())
  }

  /// Cocoa's rule: a callback may run the run loop, and other loads go on meanwhile.
  @Test func aRunLoopInACallbackDrivesAnotherLoad() async throws {
    let server = try Self.server()
    let report = try await TestThread.run {
      let inner = HostProbe()
      let outer = HostProbe { call, _ in
        guard call == "response 200" else { return }
        do { try Self.load(server, "/closing", inner) } catch { Issue.record(error) }
        Self.run { inner.report.ends == 1 }
      }
      try Self.load(server, "/", outer)
      Self.run { outer.report.ends == 1 }
      return (inner.report, outer.report)
    }
    #expect(report.0.calls == Self.calls && report.1.calls == Self.calls)
  }

  @Test(arguments: [[RunLoop.Mode.default], [privateMode], [.default, privateMode], [.common]])
  func callbacksComeOnItsThreadAndConnectionsAreKept(_ modes: [RunLoop.Mode]) async throws {
    let server = try Self.server()
    let (probe, other) = (HostProbe(ends: 2), HostProbe(ends: 3))
    let thread = try await TestThread.run {
      for index in 1...2 {
        try Self.load(server, "/", probe, modes)
        #expect(probe.report.ends == index - 1, "nothing comes from inside start")
        Self.run(modes.last == .common ? .default : modes[modes.count - 1]) { probe.report.ends == index }
      }
      #expect(server.counts.accepted == 1)
      // With nothing left in between, its source goes and comes.
      for index in 1...3 {
        try Self.load(server, "/closing", other, modes)
        Self.run(modes.last == .common ? .default : modes[0]) { other.report.ends == index }
      }
      return TestThread.current
    }
    let report = try await probe.end.value
    #expect(report.calls == Self.calls + Self.calls)
    #expect(report.threads == [thread])
    #expect(try await other.end.value.threads == [thread])
    #expect(report.overlaps == 0)
  }

  @Test func nothingComesInAnotherMode() async throws {
    let server = try Self.server()
    let probe = HostProbe()
    try await TestThread.run {
      try Self.load(server, "/", probe, [Self.privateMode])
      // Something that keeps the default mode running.
      let timer = Timer(timeInterval: 60, repeats: false) { _ in }
      RunLoop.current.add(timer, forMode: .default)
      let end = Date(timeIntervalSinceNow: 0.1)
      while Date() < end { _ = RunLoop.current.run(mode: .default, before: end) }
      #expect(probe.report.calls.isEmpty && server.counts.accepted == 0)
      Self.run(Self.privateMode) { probe.report.ends == 1 }
    }
    #expect(try await probe.end.value.calls == Self.calls)
  }

  @Test func anotherThreadSchedulesOnARunLoopThatWaits() async throws {
    let server = try Self.server()
    let (probe, place, thread) = (HostProbe(ends: 2), Arrival<Place>(), Arrival<Int>())
    async let ended: Void = TestThread.run {
      let timer = Timer(timeInterval: 60, repeats: false) { _ in }
      RunLoop.current.add(timer, forMode: .default)
      thread.arrive(TestThread.current)
      place.arrive(Place(runLoop: RunLoop.current))
      // It waits for a long time, so that only being woken can do it.
      while probe.report.ends < 2 { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
    }
    let runLoop = try await place.value
    for index in 1...2 {
      try await TestThread.run { _ = try Self.load(server, "/closing", probe, in: runLoop.runLoop) }
      while probe.report.ends < index { await Task.yield() }
    }
    let report = try await probe.end.value
    try await ended
    #expect(report.calls == Self.calls + Self.calls)
    #expect(try await report.threads == [thread.value])
  }

  @Test func aThreadThatEndsFailsItsLiveLoadsThere() async throws {
    let server = try Self.server()
    let probe = HostProbe(ends: 2)
    let thread = try await TestThread.run {
      try Self.load(server, "/stall", probe)
      try Self.load(server, "/stall", probe, [.default, Self.privateMode])
      Self.run { server.counts.paths.count == 2 }
      return TestThread.current
    }
    let report = try await probe.end.value
    #expect(report.calls == ["fail", "fail"])
    #expect(report.error?.code == .networkConnectionLost && report.error?.phase == .awaiting)
    #expect(report.threads == [thread])
    try await server.until { $0.open == 0 }
  }

  @Test func aRunLoopThatNeverRunsFailsItsLoadsWhenItIsLetGo() async throws {
    let server = try Self.server()
    let probe = HostProbe()
    try await TestThread.run {
      let (place, isThere, isScheduled) = (
        Handover(), DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)
      )
      Thread.detachNewThread {
        place.runLoop = RunLoop.current
        isThere.signal()
        isScheduled.wait()
      }
      isThere.wait()
      try place.take { _ = try Self.load(server, "/", probe, in: $0) }
      isScheduled.signal()
    }
    let report = try await probe.end.value
    #expect(report.calls == ["fail"] && report.error?.code == .networkConnectionLost)
    #expect(server.counts.accepted == 0)
  }

  /// Gives a run loop to one other thread, and keeps nothing.
  // UNCHECKED: the semaphores say whose it is.
  private final class Handover: @unchecked Sendable {
    var runLoop: RunLoop?
    func take(_ body: (RunLoop) throws -> Void) rethrows {
      guard let runLoop else { return }
      self.runLoop = nil
      try body(runLoop)
    }
  }

  @Test func moreSocketsThanOneTurnTakesAreAllServed() async throws {
    let server = try Self.server()
    let probe = HostProbe(ends: 200)
    var many = URLConnection.Configuration()
    many.maximumConnectionsPerHost = 200
    let configuration = many
    try await TestThread.run {
      for _ in 0..<200 { try Self.load(server, "/held", probe, [.default], configuration) }
      Self.run { server.counts.paths.count == 200 }
      // The answers of all pile up while it does not run.
      server.release()
      while server.counts.open > 0 { Thread.sleep(forTimeInterval: 0.001) }
      while probe.report.ends < 200 { _ = RunLoop.current.run(mode: .default, before: .distantFuture) }
    }
    #expect(try await probe.end.value.error == nil)
  }

  @Test func anOpenConnectionCostsNoTimeWhileNothingMoves() async throws {
    let server = try Self.server()
    let time = try await TestThread.run {
      let probe = HostProbe()
      let live = try Self.load(server, "/stall", HostProbe())
      try Self.load(server, "/", probe)
      Self.run { probe.report.ends == 1 && server.counts.paths.count == 2 }
      let end = Date(timeIntervalSinceNow: 0.1)
      let before = TestThread.cpuTime
      while Date() < end { _ = RunLoop.current.run(mode: .default, before: end) }
      let time = TestThread.cpuTime - before
      live.cancel()
      return time
    }
    #expect(time < .milliseconds(10))
  }

  @Test func aCancelAndAPauseFromAnotherThread() async throws {
    let server = try PathServer { _ in
      .endless(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), [UInt8](repeating: 7, count: 4096))
    }
    let isFirst = Arrival<Bool>()
    let probe = HostProbe { call, connection in
      guard call == "data", isFirst.current == nil else { return }
      isFirst.arrive(true)
      connection.pause()
    }
    let (begun, done) = (Arrival<URLConnection>(), Arrival<Bool>())
    async let ended: Void = TestThread.run {
      begun.arrive(try Self.load(server, "/", probe))
      while done.current == nil {
        _ = RunLoop.current.run(mode: .default, before: Date(timeIntervalSinceNow: 0.05))
      }
    }
    let connection = try await begun.value
    _ = try await server.stuck.value
    #expect(probe.report.calls == ["response 200", "data"])
    connection.resume()
    try await server.until { [sent = server.counts.sent] in $0.sent > sent }
    connection.cancel()
    try await server.until { $0.open == 0 }
    done.arrive(true)
    try await ended
    #expect(probe.report.ends == 0)
  }

  @Test func aSynchronousLoadInACallback() async throws {
    let server = try Self.server()
    let probe = HostProbe { call, _ in
      guard call == "response 200" else { return }
      let result = Result { () throws(ConnectionError) in
        try URLConnection.sendSynchronousRequest(Gannet.URLRequest(string: server.url("/")))
      }
      #expect((try? result.get())?.0.count == 5)
    }
    try await TestThread.run {
      try Self.load(server, "/", probe)
      Self.run { probe.report.ends == 1 }
    }
    #expect(try await probe.end.value.calls == Self.calls)
  }

  @Test func scheduleThrowsOnceTheLoadIsStartedAndForAnActorsDelegate() async throws {
    let server = try Self.server()
    try await TestThread.run {
      let probe = HostProbe()
      let connection = try Self.load(server, "/", probe)
      #expect(throws: ConnectionError.self) { try connection.schedule(in: .current, forMode: .default) }
      Self.run { probe.report.ends == 1 }
    }
    let (box, place) = (await Self.mainConnection(server), Arrival<Place>())
    try await TestThread.run {
      place.arrive(Place(runLoop: RunLoop.current))
      #expect(throws: ConnectionError.self) { try box?.schedule(in: .current, forMode: .default) }
      try box?.schedule(in: .main, forMode: .default)
    }
  }

  @MainActor private final class MainDelegate: @MainActor URLConnectionDataDelegate {}

  @MainActor private static func mainConnection(_ server: PathServer) -> URLConnection? {
    URLConnection(
      request: Gannet.URLRequest(string: server.url("/")), delegate: MainDelegate(), startImmediately: false)
  }
}
