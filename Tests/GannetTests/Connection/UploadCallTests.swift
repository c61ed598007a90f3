import Foundation
import Gannet
import GannetSockets
import TestSupport
import Testing

/// `upload(for:from:)` and `upload(for:fromFile:)`.
@Suite(.timeLimit(.minutes(1))) struct UploadCallTests {
  private static func request(_ server: LoopbackServer, _ method: String?) -> URLRequest {
    var request = URLRequest(string: server.url())
    request.httpMethod = method
    request.httpBody = Data("another body".utf8)
    return request
  }

  /// A server that answers once the whole request is there, and what went to it.
  private static func server() throws -> (
    server: LoopbackServer, configuration: URLConnection.Configuration, sent: Sent
  ) {
    let sent = Sent()
    var configuration = URLConnection.Configuration()
    configuration.trafficObserver = sent
    return (try LoopbackServer(.answers([.ok("thanks")])), configuration, sent)
  }

  private final class Sent: TrafficObserver {
    private let bytes = Guarded<[UInt8]>([])
    var text: String { String(decoding: bytes.withLock { $0 }, as: UTF8.self) }
    func opened(_ connection: ConnectionDescription) {}
    func sent(_ bytes: Span<UInt8>, on connection: UInt64) {
      let copy = bytes.indices.map { bytes[$0] }
      self.bytes.withLock { $0 += copy }
    }
    func received(_ bytes: Span<UInt8>, on connection: UInt64) {}
    func ended(_ connection: UInt64, reset: Bool) {}
  }

  @Test(arguments: [("POST", 5), ("PUT", 300_000), (nil, 5), ("POST", 0)] as [(String?, Int)])
  func theBodyIsSentInPlaceOfTheRequests(_ method: String?, _ count: Int) async throws {
    for isFile in [false, true] {
      let (server, configuration, sent) = try Self.server()
      defer { server.stop() }
      let bytes = Data(repeating: 0x61, count: count)
      let file = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-\(UUID()) %41")
      try bytes.write(to: file)
      defer { try? FileManager.default.removeItem(at: file) }
      let request = Self.request(server, method)
      let (data, response) =
        isFile
        ? try await URLConnection.upload(for: request, fromFile: file, configuration: configuration)
        : try await URLConnection.upload(for: request, from: bytes, configuration: configuration)
      #expect(response.statusCode == 200 && data == Data("thanks".utf8))
      let text = sent.text
      #expect(text.hasPrefix("\(method ?? "GET") / HTTP/1.1\r\n"))
      #expect(text.contains("Content-Length: \(count)\r\n"))
      #expect(text.hasSuffix("\r\n\r\n" + String(repeating: "a", count: count)))
    }
  }

  @Test func aFileThatCannotBeSent() async throws {
    let (server, _, _) = try Self.server()
    defer { server.stop() }
    let request = Self.request(server, "POST")
    for (url, code) in [
      (URL(filePath: "/nowhere/at/all"), ConnectionError.Code.fileDoesNotExist),
      (URL(filePath: "/"), .fileIsDirectory), (try #require(URL(string: "http://h/file")), .cannotOpenFile),
    ] {
      let error = await #expect(throws: ConnectionError.self) {
        try await URLConnection.upload(for: request, fromFile: url)
      }
      #expect(error?.code == code && error?.phase == .preparing)
    }
  }

  @Test func aCancelEndsTheUpload() async throws {
    let server = try PathServer { _ in .silence }
    var request = URLRequest(string: server.url("/"))
    request.httpMethod = "POST"
    let sent = request
    let task = Task { try await URLConnection.upload(for: sent, from: Data("x".utf8)) }
    try await server.until { $0.paths.count == 1 }
    task.cancel()
    let error = await #expect(throws: ConnectionError.self) { try await task.value }
    #expect(error?.code == .cancelled)
    try await server.until { $0.open == 0 }
  }

  /// The sequence of a body is iterated in a task of the priority of who asked for the load.
  @Test func aBodysSequenceHasThePriorityOfItsCaller() async throws {
    let server = try PathServer { _ in .ok("done") }
    for priority in [TaskPriority.high, .low] {
      let seen = Arrival<TaskPriority>()
      var request = URLRequest(string: server.url("/"))
      request.httpMethod = "POST"
      request.body = .stream {
        AsyncStream {
          seen.arrive(Task.currentPriority)
          return nil as Data?
        }
      }
      let sent = request
      let task = Task(priority: priority) { try await URLConnection.data(for: sent) }
      // Who waits for the task itself lends it his own.
      #expect(try await seen.value == priority)
      _ = try await task.value
    }
  }
}
