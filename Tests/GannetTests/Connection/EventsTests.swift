import Gannet
import GannetSockets
import TestSupport
import Testing

/// `events(for:)`: order, one load for each iterator, and a sender that waits for a slow consumer.
@Suite(.timeLimit(.minutes(1))) struct EventsTests {
  /// The events as lines, adjacent data merged.
  private static func lines(_ events: URLConnection.Events) async throws -> [String] {
    var lines: [String] = []
    for try await event in events {
      switch event {
      case .response(let response):
        lines.append("response \(response.statusCode)\(response.partIndex.map { " part \($0)" } ?? "")")
      case .data(let data):
        let text = String(decoding: data, as: UTF8.self)
        if let last = lines.last, last.hasPrefix("data ") {
          lines[lines.count - 1] = last + text
        } else {
          lines.append("data " + text)
        }
      case .sentBody(let total, let expected): lines.append("sent \(total)/\(expected)")
      case .informational(let response): lines.append("informational \(response.statusCode)")
      case .metrics(let metrics): lines.append("metrics of \(metrics.transactions.count)")
      case .partFinished: lines.append("part finished")
      case .trailers(let fields): lines.append("trailers \(fields.map { "\($0.name)=\($0.value)" })")
      }
    }
    return lines
  }

  @Test(arguments: [
    ("/", ["response 200", "data hello"]),
    ("/missing", ["response 404", "data no"]),
    ("/hints", ["informational 103", "response 200", "data hello"]),
    ("/trailers", ["response 200", "data abc", "trailers [\"X=y\"]"]),
    (
      "/parts",
      [
        "response 200", "response 200 part 0", "data one", "part finished", "response 200 part 1", "data two",
        "part finished",
      ]
    ),
  ])
  func theyComeInOrder(_ path: String, _ lines: [String]) async throws {
    let server = try Trouble.server()
    #expect(try await Self.lines(URLConnection.events(for: Trouble.request(server, path))) == lines)
  }

  @Test func whatIsSentAndWhatItCostAreEventsToo() async throws {
    let server = try Trouble.server()
    var request = Trouble.request(server, "/")
    request.httpMethod = "POST"
    request.body = .stream(length: 3) {
      AsyncStream { pieces in
        pieces.yield(Data("abc".utf8))
        pieces.finish()
      }
    }
    var configuration = URLConnection.Configuration()
    configuration.collectsMetrics = true
    let lines = try await Self.lines(URLConnection.events(for: request, configuration: configuration))
    #expect(lines == ["sent 3/3", "response 200", "data hello", "metrics of 1"])
  }

  /// Sending does not stop for a slow consumer, so what it was told and did not take does not add up.
  @Test func progressThatNobodyTakesIsReplaced() async throws {
    let server = try Trouble.server()
    var request = Trouble.request(server, "/")
    request.httpMethod = "POST"
    request.httpBody = Data(repeating: 0x61, count: 8 << 20)
    var iterator = URLConnection.events(for: request).makeAsyncIterator()
    _ = try await iterator.next()
    _ = try await server.until { $0.paths.count == 1 }
    var lines = 0
    var last = 0
    while let event = try await iterator.next() {
      guard case .sentBody(let total, _) = event else { continue }
      lines += 1
      last = total
    }
    #expect(last == 8 << 20)
    #expect(lines <= 3, "\(lines)")
  }

  @Test(arguments: Trouble.rows)
  func everyErrorPassesThroughOnceAndThenComesNothing(_ row: Trouble) async throws {
    let server = try Trouble.server()
    var iterator = URLConnection.events(for: row.request(server), configuration: row.configuration)
      .makeAsyncIterator()
    var caught: ConnectionError?
    do throws(ConnectionError) {
      while try await iterator.next() != nil {}
    } catch {
      caught = error
    }
    row.check(caught)
    #expect(try await iterator.next() == nil)
    #expect(try await iterator.next() == nil)
  }

  @Test func eachIteratorIsALoadThatBeginsWithItsFirstNext() async throws {
    let server = try Trouble.server()
    let events = URLConnection.events(for: Trouble.request(server, "/closing"))
    _ = events.makeAsyncIterator()
    var (first, second) = (events.makeAsyncIterator(), events.makeAsyncIterator())
    var count = 0
    while let event = try await first.next() { if case .data(let data) = event { count += data.count } }
    #expect(server.counts.paths.count == 1)
    while let event = try await second.next() { if case .data(let data) = event { count += data.count } }
    #expect(count == 10 && server.counts.paths.count == 2)
    #expect(try await first.next() == nil)
  }

  @Test(arguments: ["/endless", "/camera", "/stall"])
  func anIteratorThatIsLetGoEndsItsLoad(_ path: String) async throws {
    let server = try Trouble.server()
    if path == "/stall" {
      let request = Trouble.request(server, path)
      let task = Task { for try await _ in URLConnection.events(for: request) {} }
      try await server.until { $0.paths.count == 1 }
      task.cancel()
      let error = await #expect(throws: ConnectionError.self) { try await task.value }
      #expect(error?.code == .cancelled)
    } else {
      var count = 0
      for try await _ in URLConnection.events(for: Trouble.request(server, path)) {
        count += 1
        if count == 5 { break }
      }
    }
    try await server.until { $0.open == 0 }
  }

  @Test func aTaskThatWasCancelledLoadsNothing() async throws {
    let server = try Trouble.server()
    let request = Trouble.request(server, "/")
    let task = Task {
      unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
      for try await _ in URLConnection.events(for: request) {}
    }
    let error = await #expect(throws: ConnectionError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    #expect(server.counts.accepted == 0)
  }

  @Test func aCancelDropsWhatWaitsAndDoesNotPassForAnEnd() async throws {
    let server = try Trouble.server()
    let request = Trouble.request(server, "/parts")
    let (taken, isCancelled) = (Arrival<Bool>(), Arrival<Bool>())
    let task = Task {
      var iterator = URLConnection.events(for: request).makeAsyncIterator()
      _ = try await iterator.next()
      taken.arrive(true)
      _ = try? await isCancelled.value
      return try await iterator.next()
    }
    _ = try await taken.value
    // The load is complete by now, its events wait.
    try await server.until { $0.open == 0 }
    task.cancel()
    isCancelled.arrive(true)
    let error = await #expect(throws: ConnectionError.self) { try await task.value }
    #expect(error?.code == .cancelled)
  }

  @Test(arguments: ["/endless", "/camera", "/empty-parts"])
  func aSlowConsumerStopsTheSender(_ path: String) async throws {
    let server = try Trouble.server()
    var iterator = URLConnection.events(for: Trouble.request(server, path)).makeAsyncIterator()
    _ = try await iterator.next()
    let sent = try await server.stuck.value.sent
    // The two sockets' buffers take some.
    #expect(sent < 16 << 20)
    // And it goes on where it stopped, as long as the consumer does.
    let goal = sent + (2 << 20)
    while server.counts.sent < goal { _ = try await iterator.next() }
  }

  @Test func cancelsAtAnyMoment() async throws {
    let server = try Trouble.server()
    var generator = SeededGenerator(seed: 23)
    for index in 0..<200 {
      let request = Trouble.request(server, ["/", "/camera", "/closing", "/endless"][index % 4])
      let task = Task {
        var count = 0
        for try await _ in URLConnection.events(for: request) { count += 1 }
        return count
      }
      for _ in 0..<Int.random(in: 0..<200, using: &generator) { await Task.yield() }
      task.cancel()
      do { _ = try await task.value } catch { #expect((error as? ConnectionError)?.code == .cancelled) }
    }
    try await server.until { $0.open <= 6 }
  }
}
