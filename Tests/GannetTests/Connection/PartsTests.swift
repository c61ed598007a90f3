import FoundationEssentials
import Gannet
import GannetHTTP
import TestSupport
import Testing

/// `parts(for:keeping:)`: complete parts, each as soon as its last byte is here, with backpressure or the newest only.
@Suite(.timeLimit(.minutes(1))) struct PartsTests {
  private static let head = "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n"
  /// The shortest picture with a scan.
  private static let picture: [UInt8] = [0xFF, 0xD8, 0xFF, 0xDA, 0, 2, 1, 0xFF, 0, 0xFF, 0xD9]

  private static func jpeg(_ fields: String = "") -> [UInt8] {
    Array("--B\r\nContent-Type: image/jpeg\r\n\(fields)\r\n".utf8) + picture
  }

  private static func server() throws -> PathServer {
    try PathServer { path in
      switch path {
      case "/all":
        .last(
          Array((head + "--B\r\nX: 1\r\n\r\none\r\n--B\r\nContent-Length: 3\r\n\r\ntwo\r\n--B--\r\n").utf8))
      case "/cut": .last(Array((head + "--B\r\n\r\none\r\n--B\r\n\r\ntw").utf8))
      case "/slack": .last(Array(head.utf8) + jpeg() + Array("slack\r\n--B\r\n\r\ntwo\r\n--B--".utf8))
      case "/none": .last(Array(head.utf8))
      // Their parts are complete, and the server says no more.
      case "/picture": .bytes(Array(head.utf8) + jpeg())
      case "/promised": .bytes(Array(head.utf8) + jpeg("Content-Length: \(picture.count)\r\n"))
      case "/proved":
        .bytes(Array((head + "--B\nContent-Length: 3\n\none\n--B\nContent-Length: 3\n\ntwo").utf8))
      case "/broken":
        .bytes(Array((head + "--B\nContent-Type: image/jpeg\n\n").utf8) + [0xFF, 0xD8, 1, 0xFF, 0xD9])
      case "/large": .endless(Array((head + "--B\r\n\r\n").utf8), [UInt8](repeating: 1, count: 4096))
      case "/camera":
        .endless(
          Array(head.utf8),
          Array("--B\r\nContent-Length: 20000\r\n\r\n".utf8) + [UInt8](repeating: 1, count: 20000))
      case "/missing": .ok("no", status: "404 Not Found")
      case "/empty": .ok("", "Content-Type: text/plain\r\n")
      default: .ok("hello")
      }
    }
  }

  private static func texts(_ parts: URLConnection.Parts) async throws -> [String] {
    var texts: [String] = []
    for try await part in parts {
      texts.append("\(part.response.partIndex ?? -1) \(String(decoding: part.data, as: UTF8.self))")
    }
    return texts
  }

  @Test(arguments: [
    ("/all", ["0 one", "1 two"]), ("/cut", ["0 one"]), ("/none", []),
  ])
  func completePartsCome(_ path: String, _ parts: [String]) async throws {
    let server = try Self.server()
    #expect(try await Self.texts(URLConnection.parts(for: Trouble.request(server, path))) == parts)
  }

  @Test func theirResponsesAreTheirOwn() async throws {
    let server = try Self.server()
    var iterator = URLConnection.parts(for: Trouble.request(server, "/all")).makeAsyncIterator()
    let first = try #require(try await iterator.next())
    #expect(first.response.value(forHTTPHeaderField: "x") == "1")
    #expect(first.response.outerResponse?.mimeType == "multipart/x-mixed-replace")
  }

  @Test func whatComesAfterAPictureIsLeftOut() async throws {
    let server = try Self.server()
    var iterator = URLConnection.parts(for: Trouble.request(server, "/slack")).makeAsyncIterator()
    #expect(try await iterator.next()?.data == Data(Self.picture))
    #expect(try await iterator.next()?.data == Data("two".utf8))
  }

  @Test(arguments: [("/picture", 1), ("/promised", 1), ("/proved", 2), ("/broken", 1)])
  func aPartComesWithItsLastByte(_ path: String, _ count: Int) async throws {
    let server = try Self.server()
    var iterator = URLConnection.parts(for: Trouble.request(server, path)).makeAsyncIterator()
    for _ in 0..<count { #expect(try await iterator.next() != nil) }
  }

  @Test(arguments: ["/missing", "/empty", "/hello"])
  func whatIsNoStreamIsAnError(_ path: String) async throws {
    let server = try Self.server()
    let error = await #expect(throws: ConnectionError.self) {
      try await Self.texts(URLConnection.parts(for: Trouble.request(server, path)))
    }
    #expect(error?.code == .badServerResponse && error?.reason.contains("no stream of parts") == true)
  }

  @Test(arguments: Trouble.rows)
  func everyErrorPassesThroughOnce(_ row: Trouble) async throws {
    let server = try Trouble.server()
    var iterator = URLConnection.parts(for: row.request(server), configuration: row.configuration)
      .makeAsyncIterator()
    var caught: ConnectionError?
    do throws(ConnectionError) { while try await iterator.next() != nil {} } catch { caught = error }
    // What has a body fails as no stream before its own error.
    if caught?.code != .badServerResponse { row.check(caught) }
    #expect(caught != nil)
    #expect(try await iterator.next() == nil)
  }

  @Test func aPartTooLargeIsAnError() async throws {
    let server = try Self.server()
    var configuration = URLConnection.Configuration()
    configuration.maximumGatheredBytes = 10_000
    let parts = URLConnection.parts(for: Trouble.request(server, "/large"), configuration: configuration)
    let error = await #expect(throws: ConnectionError.self) { try await Self.texts(parts) }
    #expect(error?.code == .dataLengthExceedsMaximum)
    try await server.until { $0.open == 0 }
  }

  @Test func ofEveryPartASlowConsumerStopsTheSender() async throws {
    let server = try Self.server()
    var iterator = URLConnection.parts(for: Trouble.request(server, "/camera")).makeAsyncIterator()
    _ = try await iterator.next()
    let sent = try await server.stuck.value.sent
    #expect(sent < 16 << 20)
    let goal = sent + (2 << 20)
    var expected = 1
    while server.counts.sent < goal {
      // None is missing.
      let part = try #require(try await iterator.next())
      #expect(part.response.partIndex == expected && part.data.count == 20_000)
      expected += 1
    }
  }

  @Test func ofTheNewestASlowConsumerMissesParts() async throws {
    let server = try Self.server()
    let newest = URLConnection.parts(for: Trouble.request(server, "/camera"), keeping: .newest)
    var iterator = newest.makeAsyncIterator()
    _ = try await iterator.next()
    // The server goes on, far past what buffers take.
    let sent = server.counts.sent
    try await server.until { $0.sent > sent + (64 << 20) }
    let part = try #require(try await iterator.next())
    #expect(part.response.partIndex ?? 0 > 500 && part.data.count == 20_000)
  }

  @Test func anIteratorThatIsLetGoEndsItsLoad() async throws {
    let server = try Self.server()
    for try await _ in URLConnection.parts(for: Trouble.request(server, "/camera")) { break }
    try await server.until { $0.open == 0 }
  }
}
