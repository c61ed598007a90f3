import FoundationEssentials
import Gannet
import GannetSockets
import TestSupport
import Testing

/// `bytes(for:)` and `lines(for:)`: the response at once, the body as it comes, a sender that waits for a slow consumer.
@Suite(.timeLimit(.minutes(1))) struct BytesTests {
  private static func server() throws -> PathServer {
    try PathServer { path in
      switch path {
      // The event is there, and the server says no more.
      case "/events":
        .bytes(Array("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\ndata: 1\r\n\r\n".utf8))
      case "/lines": .ok("one\r\ntwo\n\nthree\rfour")
      case "/long": .bytes(Answer.ok("short\n" + String(repeating: "x", count: 100_000) + "\nafter").bytes)
      case "/large": .last(large)
      case "/tiny": .last(Array("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n".utf8) + tiny)
      default: Trouble.reply(to: path)
      }
    }
  }

  private static let large =
    Array("HTTP/1.1 200 OK\r\nContent-Length: 300000\r\n\r\n".utf8) + (0..<300_000).map { UInt8($0 % 251) }
  private static let tiny = Array(
    ((0..<1000).map { _ in "1\r\nx\r\n" }.joined() + "0\r\n\r\n").utf8)

  private static func cancelled(_ body: () async throws -> Void) async -> ConnectionError.Code? {
    do { try await body() } catch { return (error as? ConnectionError)?.code }
    return nil
  }

  @Test(arguments: [("/", 200, 5), ("/missing", 404, 2), ("/moved", 200, 5), ("/tiny", 200, 1000)])
  func theResponseAndEachByte(_ path: String, _ status: Int, _ count: Int) async throws {
    let server = try Self.server()
    let (bytes, response) = try await URLConnection.bytes(for: Trouble.request(server, path))
    #expect(response.statusCode == status)
    var sum = 0
    for try await _ in bytes { sum += 1 }
    #expect(sum == count)
  }

  @Test func everyByteInItsPlace() async throws {
    let server = try Self.server()
    let (bytes, _) = try await URLConnection.bytes(for: Trouble.request(server, "/large"))
    var index = 0
    for try await byte in bytes {
      guard byte == UInt8(index % 251) else { break }
      index += 1
    }
    #expect(index == 300_000)
  }

  @Test func chunksAreTheSameBody() async throws {
    let server = try Self.server()
    let (bytes, _) = try await URLConnection.bytes(for: Trouble.request(server, "/large"))
    var data = Data()
    for try await chunk in bytes.chunks {
      #expect(!chunk.isEmpty)
      data += chunk
    }
    #expect(data == Data((0..<300_000).map { UInt8($0 % 251) }))
  }

  @Test func aStreamOfPartsComesAsItIs() async throws {
    let server = try Self.server()
    let (lines, response) = try await URLConnection.lines(for: Trouble.request(server, "/parts"))
    #expect(response.mimeType == "multipart/x-mixed-replace")
    var text: [String] = []
    for try await line in lines { text.append(line) }
    #expect(
      text == ["--B", "Content-Length: 3", "", "one", "--B", "Content-Length: 3", "", "two", "--B--"])
  }

  @Test func linesInOrder() async throws {
    let server = try Self.server()
    let (lines, _) = try await URLConnection.lines(for: Trouble.request(server, "/lines"))
    var all: [String] = []
    for try await line in lines { all.append(line) }
    #expect(all == ["one", "two", "", "three", "four"])
  }

  /// Nothing is waited for: the server sends no more, and no more than this is asked of it.
  @Test func anEventIsSeenAtOnce() async throws {
    let server = try Self.server()
    let (lines, response) = try await URLConnection.lines(for: Trouble.request(server, "/events"))
    #expect(response.mimeType == "text/event-stream")
    var iterator = lines.makeAsyncIterator()
    #expect(try await iterator.next() == "data: 1")
    #expect(try await iterator.next() == "")
    #expect(server.counts.open == 1)
  }

  @Test func aLineTooLongIsAnErrorAndEndsTheLoad() async throws {
    let server = try Self.server()
    var configuration = URLConnection.Configuration()
    configuration.maximumLineBytes = 99_999
    let (lines, _) = try await URLConnection.lines(
      for: Trouble.request(server, "/long"), configuration: configuration)
    var iterator = lines.makeAsyncIterator()
    #expect(try await iterator.next() == "short")
    let error = await #expect(throws: ConnectionError.self) { try await iterator.next() }
    #expect(error?.code == .dataLengthExceedsMaximum && error?.cause == .limit("maximumLineBytes"))
    #expect(try await iterator.next() == nil)
    configuration.maximumLineBytes = 100_000
    let (allowed, _) = try await URLConnection.lines(
      for: Trouble.request(server, "/long"), configuration: configuration)
    var counts: [Int] = []
    for try await line in allowed { counts.append(line.utf8.count) }
    #expect(counts == [5, 100_000, 5])
  }

  @Test(arguments: Trouble.rows)
  func everyErrorPassesThroughOnce(_ row: Trouble) async throws {
    let server = try Trouble.server()
    var caught: ConnectionError?
    do throws(ConnectionError) {
      let (bytes, _) = try await URLConnection.bytes(
        for: row.request(server), configuration: row.configuration)
      var iterator = bytes.makeAsyncIterator()
      do throws(ConnectionError) { while try await iterator.next() != nil {} } catch { caught = error }
      #expect(try await iterator.next() == nil)
    } catch { caught = error }
    row.check(caught)
  }

  /// What the two sockets and 256 KiB here hold is all that a server can send to who takes one byte.
  @Test(arguments: [0, 1, 2])
  func aSlowConsumerStopsTheSender(_ kind: Int) async throws {
    let server = try Self.server()
    var configuration = URLConnection.Configuration()
    configuration.maximumLineBytes = 1 << 20
    let (bytes, _) = try await URLConnection.bytes(
      for: Trouble.request(server, "/endless"), configuration: configuration)
    var (byte, chunk, line) = (
      bytes.makeAsyncIterator(), bytes.chunks.makeAsyncIterator(), bytes.lines.makeAsyncIterator()
    )
    if kind == 0 { _ = try await byte.next() }
    if kind == 1 { _ = try await chunk.next() }
    let sent = try await server.stuck.value.sent
    #expect(sent < 16 << 20)
    let goal = sent + (2 << 20)
    while kind != 2, server.counts.sent < goal { _ = try await chunk.next() }
    guard kind == 2 else { return }
    // Bytes without a line's end fill the line up to its limit, and no further.
    let error = await #expect(throws: ConnectionError.self) { try await line.next() }
    #expect(error?.cause == .limit("maximumLineBytes"))
    try await server.until { $0.open == 0 }
  }

  // MARK: Letting go

  @Test func aBodyThatIsLetGoEndsItsLoad() async throws {
    let server = try Self.server()
    do {
      let (bytes, _) = try await URLConnection.bytes(for: Trouble.request(server, "/endless"))
      for try await _ in bytes { break }
    }
    try await server.until { $0.open == 0 }
    _ = try await URLConnection.bytes(for: Trouble.request(server, "/endless"))
    try await server.until { $0.accepted == 2 && $0.open == 0 }
  }

  @Test func aTaskThatWasCancelledLoadsNothing() async throws {
    let server = try Self.server()
    let request = Trouble.request(server, "/")
    for isLines in [false, true] {
      let task = Task {
        unsafe withUnsafeCurrentTask { unsafe $0?.cancel() }
        if isLines {
          _ = try await URLConnection.lines(for: request)
        } else {
          _ = try await URLConnection.bytes(for: request)
        }
      }
      #expect(await Self.cancelled { try await task.value } == .cancelled)
    }
    #expect(server.counts.accepted == 0)
  }

  @Test(arguments: ["/stall", "/events", "/endless"])
  func aCancelEndsTheLoad(_ path: String) async throws {
    let server = try Self.server()
    let request = Trouble.request(server, path)
    let task = Task {
      let (bytes, _) = try await URLConnection.bytes(for: request)
      for try await _ in bytes {}
    }
    try await server.until { $0.paths.count == 1 }
    task.cancel()
    #expect(await Self.cancelled { try await task.value } == .cancelled)
    try await server.until { $0.open == 0 }
  }

  @Test func aCancelAfterTheEndChangesNothing() async throws {
    let server = try Self.server()
    let request = Trouble.request(server, "/")
    let (isDone, isCancelled) = (Arrival<Bool>(), Arrival<Bool>())
    let task = Task {
      let (bytes, _) = try await URLConnection.bytes(for: request)
      var iterator = bytes.makeAsyncIterator()
      while try await iterator.next() != nil {}
      isDone.arrive(true)
      _ = try? await isCancelled.value
      return try await iterator.next()
    }
    _ = try await isDone.value
    task.cancel()
    isCancelled.arrive(true)
    #expect(try await task.value == nil)
  }

  @Test func cancelsAtAnyMoment() async throws {
    let server = try Self.server()
    var generator = SeededGenerator(seed: 29)
    for index in 0..<200 {
      let path = ["/", "/lines", "/closing", "/endless"][index % 4]
      let request = Trouble.request(server, path)
      // The endless one has no lines: one would come to exceed what may be gathered.
      let takesLines = index % 8 < 4 && path != "/endless"
      let task = Task {
        let (bytes, _) = try await URLConnection.bytes(for: request)
        if takesLines { for try await _ in bytes.lines {} } else { for try await _ in bytes {} }
      }
      for _ in 0..<Int.random(in: 0..<200, using: &generator) { await Task.yield() }
      task.cancel()
      let code = await Self.cancelled { try await task.value }
      #expect(code == nil || code == .cancelled, "\(code.map { "\($0)" } ?? "none"), load \(index)")
    }
    try await server.until { $0.open <= 6 }
  }

  // UNCHECKED: has no state.
  private final class Witness: TrafficObserver, @unchecked Sendable {
    func opened(_ connection: ConnectionDescription) {}
    func sent(_ bytes: Span<UInt8>, on connection: UInt64) {}
    func received(_ bytes: Span<UInt8>, on connection: UInt64) {}
    func ended(_ connection: UInt64, reset: Bool) {}
  }

  /// The witness is held by every connection and load, through their configuration.
  @Test(arguments: ["/closing", "/endless", "/short"])
  func nothingIsLeft(_ path: String) async throws {
    let server = try Self.server()
    weak var witness: Witness?
    do {
      let observer = Witness()
      witness = observer
      var configuration = URLConnection.Configuration()
      configuration.trafficObserver = observer
      let (bytes, _) = try await URLConnection.bytes(
        for: Trouble.request(server, path), configuration: configuration)
      do {
        for try await _ in bytes { if path == "/endless" { break } }
      } catch { #expect(path == "/short") }
    }
    try await server.until { $0.open == 0 }
    while witness != nil { await Task.yield() }
  }

  /// Tasks that share one body wait side by side, and each of them is told of its end.
  @Test func manyMayTake() async throws {
    let server = try Self.server()
    let (bytes, _) = try await URLConnection.bytes(for: Trouble.request(server, "/large"))
    let total = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<8 {
        group.addTask {
          var count = 0
          for try await chunk in bytes.chunks { count += chunk.count }
          return count
        }
      }
      var total = 0
      for try await count in group { total += count }
      return total
    }
    #expect(total == 300_000)
  }

  /// The loop's thread is no task and has no priority of its own: who waits for it goes on with the one it had.
  @Test func aTaskKeepsItsPriority() async throws {
    let server = try Self.server()
    let request = Trouble.request(server, "/lines")
    for priority in [TaskPriority.high, .low] {
      let task = Task(priority: priority) {
        let (bytes, _) = try await URLConnection.bytes(for: request)
        for try await _ in bytes.lines {}
        return unsafe withUnsafeCurrentTask { task in unsafe task?.basePriority }
      }
      #expect(try await task.value == priority)
    }
  }
}
