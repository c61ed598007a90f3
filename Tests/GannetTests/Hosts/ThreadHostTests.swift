import Gannet
import GannetSockets
import TestSupport
import Testing

/// Loads on a loop of the caller's own thread, and on the shared loop.
@Suite(.timeLimit(.minutes(1))) struct ThreadHostTests {
  @Test func anOwnLoopCallsBackOnItsThreadAndKeepsItsConnection() async throws {
    let server = try Hosting.server()
    let (probe, thread) = (HostProbe(ends: 2), Kept<Int>())
    try await TestThread.run {
      thread.put(TestThread.current)
      let loop = EventLoop.current
      for _ in 0..<2 {
        // Automatic is this thread's loop, since it was asked for.
        let connection = URLConnection(request: Hosting.request(server, "/"), delegate: probe)
        #expect(probe.report.ends == 0 || probe.report.ends == 1, "nothing comes from inside init")
        loop.run()
        withExtendedLifetime(connection) {}
      }
    }
    let report = try await probe.end.value
    #expect(report.calls == Hosting.calls + Hosting.calls)
    #expect(report.threads == [thread.value])
    #expect(report.overlaps == 0)
    #expect(server.counts.accepted == 1)
  }

  @Test func automaticIsTheSharedLoopWhereNothingElseIs() async throws {
    let server = try Hosting.server()
    let (probe, shared, here) = (HostProbe(), Arrival<Int>(), Kept<Int>())
    EventLoop.shared.post { _ in shared.arrive(TestThread.current) }
    try await TestThread.run {
      here.put(TestThread.current)
      _ = URLConnection(request: Hosting.request(server, "/"), delegate: probe)
    }
    let report = try await probe.end.value
    let sharedThread = try await shared.value
    #expect(report.calls == Hosting.calls)
    #expect(report.threads == [sharedThread])
    #expect(report.threads != [here.value])
    // And for a task of the cooperative pool.
    let second = HostProbe()
    await Task.detached { _ = URLConnection(request: Hosting.request(server, "/"), delegate: second) }.value
    #expect(try await second.end.value.threads == [sharedThread])
  }

  @Test func automaticInsideATurnIsThatLoop() async throws {
    let server = try Hosting.server()
    let (inner, thread) = (HostProbe(), Kept<Int>())
    let outer = HostProbe { call, _ in
      if call == "finish" { _ = URLConnection(request: Hosting.request(server, "/"), delegate: inner) }
    }
    try await TestThread.run {
      thread.put(TestThread.current)
      let loop = try EventLoop()
      _ = URLConnection(request: Hosting.request(server, "/"), delegate: outer, on: .loop(loop.handle))
      loop.run()
      loop.shutDown()
    }
    #expect(try await inner.end.value.threads == [thread.value])
    #expect(server.counts.accepted == 1)
  }

  @Test func aThreadThatEndsFailsItsLiveLoadsThere() async throws {
    let server = try Hosting.server()
    let thread = Kept<Int>()
    let retry = HostProbe()
    let probe = HostProbe { call, _ in
      if call == "fail" { _ = URLConnection(request: Hosting.request(server, "/"), delegate: retry) }
    }
    try await TestThread.run {
      thread.put(TestThread.current)
      _ = URLConnection(
        request: Hosting.request(server, "/stall"), delegate: probe, on: .loop(EventLoop.current.handle))
      while server.counts.paths.isEmpty { EventLoop.current.run(until: .now + .milliseconds(5)) }
    }
    let report = try await probe.end.value
    #expect(report.calls == ["fail"])
    #expect(report.error?.code == .networkConnectionLost)
    #expect(report.error?.phase == .awaiting)
    #expect(report.threads == [thread.value])
    // One that begins in those callbacks has no time left.
    let second = try await retry.end.value
    #expect(second.calls == ["fail"] && second.error?.code == .networkConnectionLost)
    #expect(second.threads == [thread.value])
    try await server.until { $0.open == 0 }
  }

  @Test func aLoadStartedOnALoopThatHasEndedFails() async throws {
    let server = try Hosting.server()
    let loop = try EventLoop()
    let probe = HostProbe()
    let connection = try #require(
      URLConnection(
        request: Hosting.request(server, "/"), delegate: probe, startImmediately: false,
        on: .loop(loop.handle)))
    loop.shutDown()
    connection.start()
    let report = try await probe.end.value
    #expect(report.calls == ["fail"] && report.error?.code == .networkConnectionLost)
    #expect(server.counts.accepted == 0)
    // A cancelled one says nothing, and lets its delegate go.
    weak var silent: HostProbe?
    do {
      let probe = HostProbe()
      silent = probe
      let connection = URLConnection(
        request: Hosting.request(server, "/"), delegate: probe, startImmediately: false,
        on: .loop(loop.handle))
      connection?.cancel()
      connection?.start()
      #expect(probe.report.calls.isEmpty)
    }
    #expect(silent == nil)
  }

  @Test func tasksRunOnTheLoopThatTheyPrefer() async throws {
    let server = try Hosting.server()
    let (probe, threads) = (HostProbe(), Kept<[Int]>())
    let thread = try await TestThread.run {
      let loop = EventLoop.current
      let handle = loop.handle
      Task(executorPreference: handle) {
        let before = TestThread.current
        let (data, _) = try await URLConnection.data(for: Hosting.request(server, "/"))
        let after = TestThread.current
        #expect(Array(data) == Array("hello".utf8))
        _ = URLConnection(request: Hosting.request(server, "/"), delegate: probe)
        var count = 0
        for try await event in URLConnection.events(for: Hosting.request(server, "/")) {
          if case .data(let data) = event { count += data.count }
        }
        #expect(count == 5)
        threads.put([before, after, TestThread.current])
        handle.post { $0.stop() }
      }
      loop.runForever()
      return TestThread.current
    }
    let seen = try #require(threads.value)
    #expect(Set(seen) == [thread])
    #expect(try await probe.end.value.threads == [thread])
  }

  @Test func anOpenConnectionCostsNoTimeWhileNothingMoves() async throws {
    let server = try Hosting.server()
    let time = try await TestThread.run {
      let loop = EventLoop.current
      let live = URLConnection(request: Hosting.request(server, "/stall"), delegate: HostProbe())
      _ = URLConnection(request: Hosting.request(server, "/"), delegate: HostProbe())
      while server.counts.paths.count < 2 { loop.run(until: .now + .milliseconds(5)) }
      loop.run(until: .now + .milliseconds(20))
      let before = TestThread.cpuTime
      loop.run(until: .now + .milliseconds(100))
      let time = TestThread.cpuTime - before
      live?.cancel()
      loop.run()
      return time
    }
    #expect(time < .milliseconds(3))
  }
}
