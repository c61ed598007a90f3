import Foundation
import Gannet
import GannetFoundation
import TestSupport
import Testing

/// `schedule(in:forMode:)` and `unschedule(from:forMode:)`: where a connection may be heard before it is started.
@Suite(.timeLimit(.minutes(1))) struct ScheduleTests {
  private static let calls = ["response 200", "data", "finish"]
  private static let (modeA, modeB) = (RunLoop.Mode("gannet.test.a"), RunLoop.Mode("gannet.test.b"))

  private static func connection(_ server: PathServer, _ probe: HostProbe) throws -> URLConnection {
    try #require(
      URLConnection(
        request: Gannet.URLRequest(string: server.url("/")), delegate: probe, startImmediately: false))
  }

  /// Runs this thread's run loop in a mode until the condition holds, or for a while.
  private static func run(_ mode: RunLoop.Mode, for seconds: Double = 20, until isMet: () -> Bool) {
    let keeper = Timer(timeInterval: 60, repeats: false) { _ in }
    RunLoop.current.add(keeper, forMode: mode)
    defer { keeper.invalidate() }
    let limit = Date(timeIntervalSinceNow: seconds)
    while !isMet(), Date() < limit {
      _ = RunLoop.current.run(mode: mode, before: min(limit, Date(timeIntervalSinceNow: 0.05)))
    }
  }

  /// Nothing comes, and nothing was asked of the server, while these modes run.
  private static func expectSilence(_ modes: [RunLoop.Mode], _ probe: HostProbe, _ server: PathServer) {
    for mode in modes { run(mode, for: 0.05) { false } }
    #expect(probe.report.calls.isEmpty && server.counts.accepted == 0)
  }

  private static func mode(_ letter: Character?) -> RunLoop.Mode {
    letter == "a" ? modeA : letter == "b" ? modeB : .default
  }

  /// Which modes a connection is scheduled in, step by step, and where it is heard then.
  @Test(arguments: [
    ("+a +b", heard: "a", silent: "d"), ("+a +b", heard: "b", silent: "d"),
    ("+d +a", heard: "d", silent: "b"),
    ("+a +b -a", heard: "b", silent: "ad"), ("+a +a -a +b", heard: "b", silent: "ad"),
    ("+a -b", heard: "a", silent: "bd"), ("-d +a", heard: "a", silent: "bd"),
    ("+a -a -a +b", heard: "b", silent: "ad"), ("+a +b -b -b", heard: "a", silent: "bd"),
  ])
  func modesAddUpAndAreTakenAway(_ steps: String, heard: String, silent: String) async throws {
    let server = try PathServer { _ in .ok("hello") }
    let probe = HostProbe()
    let thread = try await TestThread.run {
      let connection = try Self.connection(server, probe)
      for step in steps.split(separator: " ") {
        let mode = Self.mode(step.last)
        if step.first == "+" {
          try connection.schedule(in: .current, forMode: mode)
        } else {
          try connection.unschedule(from: .current, forMode: mode)
        }
      }
      connection.start()
      connection.start()
      Self.expectSilence(silent.map { Self.mode($0) }, probe, server)
      Self.run(Self.mode(heard.first)) { probe.report.ends == 1 }
      return TestThread.current
    }
    let report = probe.report
    #expect(report.calls == Self.calls && report.threads == [thread])
  }

  @Test func aStartedConnectionWithoutAHostWaitsForOne() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let probe = HostProbe()
    try await TestThread.run {
      let connection = try Self.connection(server, probe)
      try connection.schedule(in: .current, forMode: Self.modeA)
      try connection.unschedule(from: .current, forMode: Self.modeA)
      connection.start()
      Self.expectSilence([Self.modeA, .default], probe, server)
      try connection.schedule(in: .current, forMode: Self.modeB)
      Self.run(Self.modeB) { probe.report.ends == 1 }
    }
    #expect(probe.report.calls == Self.calls)
  }

  @Test func oneThatIsCancelledMeanwhileLetsItsDelegateGoAndSaysNothing() async throws {
    let server = try PathServer { _ in .ok("hello") }
    try await TestThread.run {
      weak var gone: HostProbe?
      let connection: URLConnection
      do {
        let probe = HostProbe()
        gone = probe
        connection = try Self.connection(server, probe)
      }
      try connection.schedule(in: .current, forMode: Self.modeA)
      try connection.unschedule(from: .current, forMode: Self.modeA)
      connection.start()
      connection.cancel()
      connection.cancel()
      #expect(gone == nil)
      try connection.schedule(in: .current, forMode: Self.modeA)
      connection.start()
      Self.run(Self.modeA, for: 0.05) { false }
    }
    #expect(server.counts.accepted == 0)
  }

  /// A run loop on its way to another thread.
  // UNCHECKED: what is used of it there, `add` and `schedule`, is made for that.
  private struct Place: @unchecked Sendable { let runLoop: RunLoop }

  @Test func anotherRunLoopTakesItOver() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let (probe, place, other) = (HostProbe(), Arrival<Place>(), Arrival<Int>())
    async let ended: Void = TestThread.run {
      other.arrive(TestThread.current)
      place.arrive(Place(runLoop: RunLoop.current))
      Self.run(Self.modeA) { probe.report.ends == 1 }
    }
    let runLoop = try await place.value
    try await TestThread.run {
      let connection = try Self.connection(server, probe)
      try connection.schedule(in: .current, forMode: .default)
      try connection.schedule(in: runLoop.runLoop, forMode: Self.modeA)
      // It is not here any more.
      try connection.unschedule(from: .current, forMode: .default)
      connection.start()
      Self.run(.default) { probe.report.ends == 1 }
    }
    try await ended
    #expect(probe.report.calls == Self.calls)
    #expect(try await probe.report.threads == [other.value])
  }

  /// Amid a load too: in a mode that is not its own nothing comes, in any of its own the rest does.
  @Test func aLoadGoesOnInAnyOfItsModesAlone() async throws {
    let server = try PathServer { _ in .ok(String(repeating: "x", count: 2_000_000)) }
    let probe = HostProbe()
    try await TestThread.run {
      let connection = try Self.connection(server, probe)
      try connection.schedule(in: .current, forMode: Self.modeA)
      try connection.schedule(in: .current, forMode: Self.modeB)
      connection.start()
      Self.run(Self.modeA) { !probe.report.body.isEmpty }
      let before = probe.report
      #expect(before.ends == 0)
      #expect(throws: ConnectionError.self) {
        try connection.unschedule(from: .current, forMode: Self.modeA)
      }
      Self.run(.default, for: 0.05) { false }
      #expect(probe.report.body.count == before.body.count && probe.report.ends == 0)
      Self.run(Self.modeB) { probe.report.ends == 1 }
    }
    #expect(probe.report.calls == Self.calls && probe.report.body.count == 2_000_000)
  }

  /// From inside its callbacks a load is not moved either; in the last it is over, and nothing is left to be taken away.
  @Test func aCallbackDoesNotMoveItsLoad() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let errors = Guarded<[String]>([])
    let probe = HostProbe { call, connection in
      func note(_ body: () throws -> Void) {
        do { try body() } catch { errors.withLock { $0.append(call) } }
      }
      note { try connection.unschedule(from: .current, forMode: Self.modeA) }
      note { try connection.schedule(in: .current, forMode: Self.modeB) }
      note { try connection.setDelegateQueue(nil) }
    }
    try await TestThread.run {
      let connection = try Self.connection(server, probe)
      try connection.schedule(in: .current, forMode: Self.modeA)
      connection.start()
      Self.run(Self.modeA) { probe.report.ends == 1 }
    }
    #expect(probe.report.calls == Self.calls)
    #expect(
      errors.withLock { $0 } == [
        "response 200", "response 200", "response 200", "data", "data", "data", "finish", "finish",
      ])
  }

  @Test func aLoadThatIsUnderWayIsNotMoved() async throws {
    let server = try PathServer { _ in .ok("hello") }
    let probe = HostProbe()
    try await TestThread.run {
      let connection = try Self.connection(server, probe)
      try connection.schedule(in: .current, forMode: Self.modeA)
      connection.start()
      for _ in 0..<2 {
        let error = #expect(throws: ConnectionError.self) {
          try connection.unschedule(from: .current, forMode: Self.modeA)
        }
        #expect(error?.code == .unknown && error?.phase == .preparing)
      }
      #expect(throws: ConnectionError.self) { try connection.schedule(in: .current, forMode: Self.modeB) }
      #expect(throws: ConnectionError.self) { try connection.setDelegateQueue(nil) }
      // Where it is not scheduled there is nothing to take away.
      try connection.unschedule(from: .current, forMode: Self.modeB)
      Self.run(Self.modeA) { probe.report.ends == 1 }
      // Nor when it is over.
      try connection.unschedule(from: .current, forMode: Self.modeA)
      try connection.unschedule(from: .current, forMode: Self.modeA)
    }
    #expect(probe.report.calls == Self.calls)
  }
}
