import Gannet
import GannetSockets
import TestSupport
import Testing

/// `sendSynchronousRequest`: on any thread, in any place (design section 5).
@Suite(.timeLimit(.minutes(1))) struct SyncTests {
  /// On a thread of its own, so that none of the pool's waits.
  private static func load(
    _ request: URLRequest, _ configuration: URLConnection.Configuration = .default
  ) async throws -> (String, Int) {
    try await TestThread.run {
      let (data, response) = try URLConnection.sendSynchronousRequest(request, configuration: configuration)
      return (String(decoding: data, as: UTF8.self), (response as? HTTPURLResponse)?.statusCode ?? 0)
    }
  }

  @Test(arguments: [
    ("/", 200, "hello"), ("/missing", 404, "no"), ("/moved", 200, "hello"), ("/parts", 200, "two"),
  ])
  func theBodyAndTheResponseWhateverTheStatus(_ path: String, _ status: Int, _ body: String) async throws {
    let server = try Trouble.server()
    #expect(try await Self.load(Trouble.request(server, path)) == (body, status))
    try await server.until { $0.open == 0 }
  }

  @Test(arguments: Trouble.rows)
  func everyErrorPassesThrough(_ row: Trouble) async throws {
    let server = try Trouble.server()
    let error = await #expect(throws: ConnectionError.self) {
      try await Self.load(row.request(server), row.configuration)
    }
    row.check(error)
  }

  @Test func manyThreadsAtOnce() async throws {
    let server = try Trouble.server()
    try await withThrowingTaskGroup(of: (String, Int).self) { group in
      for _ in 0..<50 { group.addTask { try await Self.load(Trouble.request(server, "/")) } }
      for try await result in group { #expect(result == ("hello", 200)) }
    }
    try await server.until { $0.open == 0 }
    #expect(server.counts.accepted == 50)
  }

  @Test func insideACallbackOfALoop() async throws {
    let server = try Trouble.server()
    let inner = Arrival<Int>()
    let probe = HostProbe { call, _ in
      guard call == "response 200" else { return }
      let result = Result { () throws(ConnectionError) in
        try URLConnection.sendSynchronousRequest(Trouble.request(server, "/"))
      }
      inner.arrive((try? result.get())?.0.count ?? -1)
    }
    let thread = try await TestThread.run {
      let loop = EventLoop.current
      _ = URLConnection(request: Trouble.request(server, "/"), delegate: probe)
      loop.run()
      return TestThread.current
    }
    let report = try await probe.end.value
    #expect(report.calls == ["response 200", "data", "finish"] && report.threads == [thread])
    #expect(try await inner.value == 5)
  }
}
