import Dispatch
import Gannet
import GannetSockets
import TestSupport
import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Loads on Dispatch queues, the main one included: the test runner's `main` waits in it.
@Suite(.timeLimit(.minutes(1))) struct QueueHostTests {
  @Test(arguments: Hosting.queueKinds)
  func callbacksComeOnTheQueueOneByOneAndConnectionsAreKept(_ kind: String) async throws {
    let server = try Hosting.server()
    let queue = Hosting.queue(kind)
    for _ in 0..<2 {
      let probe = HostProbe(ends: 10) { _, _ in dispatchPrecondition(condition: .onQueue(queue)) }
      for _ in 0..<10 {
        _ = URLConnection(request: Hosting.request(server, "/"), delegate: probe, on: .queue(queue))
      }
      let report = try await probe.end.value
      #expect(report.ends == 10 && report.error == nil)
      #expect(report.overlaps == 0)
    }
    #expect(server.counts.accepted <= 6, "the second round's connections are the first's")
  }

  @Test func callbacksOfAStreamAreSerialOnAConcurrentQueue() async throws {
    let server = try PathServer { _ in
      .endless(Array("HTTP/1.1 200 OK\r\n\r\n".utf8), [UInt8](repeating: 7, count: 4096))
    }
    let queue = DispatchQueue(label: "concurrent", attributes: .concurrent)
    let enough = Arrival<Bool>()
    let probe = HostProbe { call, connection in
      dispatchPrecondition(condition: .onQueue(queue))
      if call == "data" { enough.arrive(true) }
    }
    let connections = (0..<4).map { _ in
      URLConnection(request: Hosting.request(server, "/"), delegate: probe, on: .queue(queue))
    }
    _ = try await enough.value
    try await server.until { $0.sent > 8 << 20 }
    for connection in connections { connection?.cancel() }
    try await server.until { $0.open == 0 }
    #expect(probe.report.overlaps == 0 && probe.report.ends == 0)
  }

  @Test func nothingComesFromInsideInitOrStart() async throws {
    let server = try Hosting.server()
    let queue = DispatchQueue(label: "serial")
    let probe = HostProbe()
    queue.async {
      let connection = URLConnection(
        request: Hosting.request(server, "/"), delegate: probe, startImmediately: false, on: .queue(queue))
      connection?.start()
      connection?.pause()
      connection?.resume()
      #expect(probe.report.calls.isEmpty)
    }
    #expect(try await probe.end.value.calls == Hosting.calls)
  }

  @Test func automaticInACallbackIsTheQueueItCameOn() async throws {
    let server = try Hosting.server()
    let queue = DispatchQueue(label: "serial")
    let (late, inner) = (
      Kept<URLConnection>(), HostProbe { _, _ in dispatchPrecondition(condition: .onQueue(queue)) }
    )
    let outer = HostProbe { call, _ in
      guard call == "finish" else { return }
      let connection = URLConnection(
        request: Hosting.request(server, "/closing"), delegate: inner, startImmediately: false)
      if let connection { late.put(connection) }
    }
    _ = URLConnection(request: Hosting.request(server, "/closing"), delegate: outer, on: .queue(queue))
    _ = try await outer.end.value
    try await server.until { $0.open == 0 }
    queue.sync {}
    // Its host has nothing to do by now, and is woken for this.
    late.take()?.start()
    #expect(try await inner.end.value.calls == Hosting.calls)
  }

  @Test func aHostIsLetGoWhenItsLastConnectionIs() async throws {
    let server = try Hosting.server()
    let before = TestThread.openLoops
    for round in 0..<10 {
      let probe = HostProbe(ends: 20)
      let gone = try (0..<20).map { index in
        let queue = DispatchQueue(label: "queue \(round) \(index)")
        let gone = try Farewell.ofLoop(in: queue)
        var configuration = URLConnection.Configuration()
        configuration.idleConnectionLifetime = .milliseconds(20)
        _ = URLConnection(
          request: Hosting.request(server, index.isMultiple(of: 2) ? "/closing" : "/"), delegate: probe,
          configuration: configuration, on: .queue(queue))
        return gone
      }
      #expect(try await probe.end.value.ends == 20)
      for gone in gone { _ = try await gone.value }
    }
    try await server.until { $0.open == 0 }
    // Other tests have loops too.
    #expect(TestThread.openLoops - before < 100)
  }

  @Test func anIdleQueueIsNotWoken() async throws {
    let server = try Hosting.server()
    let queue = DispatchQueue(label: "serial")
    let probe = HostProbe()
    let host = try LoopHost.of(queue)
    let live = URLConnection(
      request: Hosting.request(server, "/stall"), delegate: HostProbe(), on: .queue(queue))
    _ = URLConnection(request: Hosting.request(server, "/"), delegate: probe, on: .queue(queue))
    _ = try await probe.end.value
    try await server.until { $0.paths.count == 2 }
    queue.sync {}
    try await TestThread.run {
      var entry = pollfd(fd: host.loop.descriptor, events: Int16(POLLIN), revents: 0)
      // What was ready is taken by the host's turn; then nothing is.
      while unsafe poll(&entry, 1, 0) == 1 { queue.sync {} }
      let ready = unsafe poll(&entry, 1, 100)
      #expect(ready == 0)
    }
    live?.cancel()
    try await server.until { $0.open == 1 }
  }

  @Test func aCancelOnTheQueueIsStrict() async throws {
    let server = try Hosting.server()
    let queue = DispatchQueue(label: "serial")
    let end = Arrival<Bool>()
    let probe = HostProbe { call, connection in
      if call == "response 200" {
        connection.cancel()
        queue.async { queue.async { end.arrive(true) } }
      }
    }
    _ = URLConnection(request: Hosting.request(server, "/closing"), delegate: probe, on: .queue(queue))
    _ = try await end.value
    try await server.until { $0.open == 0 }
    queue.sync {}
    #expect(probe.report.calls == ["response 200"])
  }

  @Test func aSynchronousLoadInACallbackDoesNotDisturbTheQueues() async throws {
    let server = try Hosting.server()
    let queue = DispatchQueue(label: "serial")
    let probe = HostProbe { call, _ in
      guard call == "response 200" else { return }
      #expect(throws: Never.self) {
        let (data, _) = try URLConnection.sendSynchronousRequest(Hosting.request(server, "/"))
        #expect(data.count == 5)
      }
    }
    _ = URLConnection(request: Hosting.request(server, "/"), delegate: probe, on: .queue(queue))
    #expect(try await probe.end.value.calls == Hosting.calls)
  }
}
