import Dispatch
import Gannet
import GannetSockets
import TestSupport
import Testing

/// `sendSynchronousRequest`: on any thread, in any place.
@Suite(.timeLimit(.minutes(1))) struct SyncTests {
  /// On a thread of its own, so that none of the pool's waits.
  private static func load(
    _ request: URLRequest, _ configuration: URLConnection.Configuration = .default
  ) async throws -> (String, Int) {
    try await TestThread.run {
      let (data, response) = try URLConnection.sendSynchronousRequest(request, configuration: configuration)
      return (String(decoding: data, as: UTF8.self), response.statusCode)
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

  /// A body's sequence is iterated on the loop of the call, so it needs no other thread than the one that waits.
  @Test func aStreamIsSentToo() async throws {
    let server = try Trouble.server()
    var request = Trouble.request(server, "/")
    request.httpMethod = "PUT"
    request.body = .stream {
      AsyncStream { pieces in
        for _ in 0..<100 { pieces.yield(Data(repeating: 0x61, count: 10_000)) }
        pieces.finish()
      }
    }
    #expect(try await Self.load(request) == ("hello", 200))
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

  @Test(arguments: Hosting.queueKinds)
  func onAQueueAndInsideACallbackThere(_ kind: String) async throws {
    let server = try Trouble.server()
    let queue = Hosting.queue(kind)
    let load: @Sendable () -> Int? = {
      let result = Result { () throws(ConnectionError) in
        try URLConnection.sendSynchronousRequest(Trouble.request(server, "/"))
      }
      return (try? result.get())?.0.count
    }
    let count = await withCheckedContinuation { continuation in
      queue.async { continuation.resume(returning: load()) }
    }
    #expect(count == 5)
    let probe = HostProbe { _, _ in #expect(load() == 5) }
    _ = URLConnection(request: Trouble.request(server, "/"), delegate: probe, on: .queue(queue))
    #expect(try await probe.end.value.calls == ["response 200", "data", "finish"])
  }
}

/// `sendAsynchronousRequest` on Dispatch queues; on operation queues it is tested with `GannetFoundation`.
@Suite(.timeLimit(.minutes(1))) struct AsynchronousRequestTests {
  @Test(arguments: Hosting.queueKinds)
  func theHandlerIsCalledOnceOnTheQueueWithWhatCame(_ kind: String) async throws {
    let server = try Trouble.server()
    let queue = Hosting.queue(kind)
    for (path, status, body) in [("/", 200, "hello"), ("/missing", 404, "no"), ("/moved", 200, "hello")] {
      let (response, data, error) = await withCheckedContinuation { continuation in
        URLConnection.sendAsynchronousRequest(Trouble.request(server, path), queue: queue) {
          dispatchPrecondition(condition: .onQueue(queue))
          continuation.resume(returning: ($0, $1, $2))
        }
      }
      #expect((response as? HTTPURLResponse)?.statusCode == status && error == nil)
      #expect(data.map { String(decoding: $0, as: UTF8.self) } == body)
    }
  }

  @Test(arguments: Trouble.rows)
  func everyErrorIsTheHandlers(_ row: Trouble) async throws {
    let server = try Trouble.server()
    let (response, data, error) = await withCheckedContinuation { continuation in
      URLConnection.sendAsynchronousRequest(
        row.request(server), queue: DispatchQueue(label: "queue"), configuration: row.configuration
      ) { continuation.resume(returning: ($0, $1, $2)) }
    }
    #expect(response == nil && data == nil)
    row.check(error)
  }
}
