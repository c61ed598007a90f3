import Gannet
import GannetSockets
import TestSupport
import Testing

/// `data(for:)` and what fails it.
@Suite(.timeLimit(.minutes(1))) struct AsyncTests {
  @Test(arguments: [
    ("/", 200, "hello"), ("/missing", 404, "no"), ("/moved", 200, "hello"), ("/parts", 200, "two"),
  ])
  func theBodyAndTheResponseWhateverTheStatus(_ path: String, _ status: Int, _ body: String) async throws {
    let server = try Trouble.server()
    let (data, response) = try await URLConnection.data(for: Trouble.request(server, path))
    #expect(response.statusCode == status)
    #expect(String(decoding: data, as: UTF8.self) == body)
  }

  @Test(arguments: Trouble.rows)
  func everyErrorPassesThrough(_ row: Trouble) async throws {
    let server = try Trouble.server()
    let error = await #expect(throws: ConnectionError.self) {
      try await URLConnection.data(for: row.request(server), configuration: row.configuration)
    }
    row.check(error)
  }

  @Test func aTaskThatWasCancelledLoadsNothing() async throws {
    let server = try Trouble.server()
    let request = Trouble.request(server, "/")
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      return try await URLConnection.data(for: request)
    }
    let error = await #expect(throws: ConnectionError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(server.counts.accepted == 0)
  }

  @Test func aCancelWhileLoadingEndsTheLoad() async throws {
    let server = try Trouble.server()
    let request = Trouble.request(server, "/stall")
    let task = Task { try await URLConnection.data(for: request) }
    try await server.until { $0.paths.count == 1 }
    task.cancel()
    let error = await #expect(throws: ConnectionError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    try await server.until { $0.open == 0 }
  }

  @Test func aCancelAfterTheEndChangesNothing() async throws {
    let server = try Trouble.server()
    let request = Trouble.request(server, "/")
    let task = Task { try await URLConnection.data(for: request) }
    _ = try await task.value
    task.cancel()
    #expect(try await task.value.0.count == 5)
  }

  /// The continuation stops the program when it is resumed twice, and the time limit tells when it never is.
  @Test func aCancelAtAnyMomentGivesOneOutcome() async throws {
    let server = try Trouble.server()
    var generator = SeededGenerator(seed: 17)
    var (cancelled, loaded) = (0, 0)
    for index in 0..<300 {
      let request = Trouble.request(server, index.isMultiple(of: 3) ? "/closing" : "/")
      let task = Task { try await URLConnection.data(for: request) }
      for _ in 0..<Int.random(in: 0..<200, using: &generator) { await Task.yield() }
      task.cancel()
      do {
        let (data, _) = try await task.value
        #expect(data.count == 5)
        loaded += 1
      } catch {
        #expect((error as? ConnectionError)?.code == .cancelled)
        cancelled += 1
      }
    }
    #expect(cancelled + loaded == 300)
    _ = try await URLConnection.data(for: Trouble.request(server, "/closing"))
    try await server.until { $0.open <= 6 }
  }

  @Test func manyAtOnceShareFewConnections() async throws {
    let server = try Trouble.server()
    try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<100 {
        group.addTask { try await URLConnection.data(for: Trouble.request(server, "/")).0.count }
      }
      var total = 0
      for try await count in group { total += count }
      #expect(total == 500)
    }
    #expect(server.counts.accepted <= 6)
  }
}
