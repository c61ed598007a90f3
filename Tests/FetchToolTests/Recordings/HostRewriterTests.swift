import FetchTool
import GannetHTTP
import GannetSockets
import Testing

@Suite("Recordings: other hosts and ports in what the server sent")
struct HostRewriterTests {
  static let rewriter = HostRewriter([
    .init(origin: Origin(scheme: "http", host: "127.0.0.1", port: 8080), replacement: "http://127.0.0.1:41"),
    .init(
      origin: Origin(scheme: "https", host: "example.org", port: 443), replacement: "http://127.0.0.1:42"),
    .init(origin: Origin(scheme: "http", host: "::1", port: 81), replacement: "http://127.0.0.1:43"),
  ])

  @Test(arguments: [
    ("http://127.0.0.1:8080/a?b", "http://127.0.0.1:41/a?b"),
    ("http://127.0.0.1:8080", "http://127.0.0.1:41"),
    ("HTTP://127.0.0.1:8080/", "http://127.0.0.1:41/"),
    ("//127.0.0.1:8080/", "//127.0.0.1:41/"),
    ("https://u:p@example.org/x", "http://127.0.0.1:42/x"),
    ("https://EXAMPLE.org:443/x", "http://127.0.0.1:42/x"),
    ("http://[::1]:81/", "http://127.0.0.1:43/"),
    ("http://example.org/", "http://example.org/"),
    ("http://127.0.0.1:80801/", "http://127.0.0.1:80801/"),
    ("/a//b", "/a//b"),
  ])
  func rewritesAURL(_ url: String, _ expected: String) {
    #expect(Self.rewriter.rewrite(url: url) == expected)
  }

  static func recording(_ segments: [String], request: String = "GET / HTTP/1.1\r\n\r\n", ends: Bool = true)
    -> Recording
  {
    var recording = Recording(load: .init(method: "GET", url: "http://127.0.0.1:8080/"))
    recording.connections = [.init(number: 1, scheme: "http", host: "127.0.0.1", port: 8080)]
    var events: [Recording.Event] = [.sent(Array(request.utf8))]
    events += segments.map { .received(Array($0.utf8)) }
    if ends { events.append(.endOfFile) }
    recording.records = events.map { .init(connection: 1, microseconds: 0, event: $0) }
    return recording
  }

  func segments(_ recording: Recording) -> [String] {
    recording.records.compactMap {
      guard case .received(let bytes) = $0.event else { return nil }
      return String(decoding: bytes, as: UTF8.self)
    }
  }

  static let chunkedHead =
    "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\nTransfer-Encoding: chunked\r\n\r\n"

  static func chunked(_ chunks: [String]) -> String {
    chunks.map { "\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n" }.joined() + "0\r\n\r\n"
  }

  /// What is sent, and what is expected, as one text.
  static let streams: [(String, String)] = [
    (
      "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:8080/b\r\nVia: http://127.0.0.1:8080/\r\n"
        + "Content-Length: 25\r\n\r\nhttp://127.0.0.1:8080/xyz",
      "HTTP/1.1 302 Found\r\nlocation: http://127.0.0.1:41/b\r\nVia: http://127.0.0.1:8080/\r\n"
        + "Content-Length: 25\r\n\r\nhttp://127.0.0.1:8080/xyz"
    ),
    (
      "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\nContent-Length: 80\r\n\r\n"
        + "--B\r\nContent-Location: http://127.0.0.1:8080/1\r\n\r\nhttp://127.0.0.1:8080\r\n--B--\r\n",
      "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\nContent-Length: 78\r\n\r\n"
        + "--B\r\nContent-Location: http://127.0.0.1:41/1\r\n\r\nhttp://127.0.0.1:8080\r\n--B--\r\n"
    ),
    (
      chunkedHead
        + chunked([
          "--B\r\nX-At: http://127.0.0.1:8080", "/1\r\n\r", "\na\r\n--B\r\nX-At: http",
          "://127.0.0.1:8080/2\r\n\r\nb\r\n--B", "--",
        ]),
      chunkedHead
        + chunked([
          "--B\r\nX-At: http://127.0.0.1:41", "/1\r\n\r", "\na\r\n--B\r\nX-At: http://127.0.0.1:41",
          "/2\r\n\r\nb\r\n--B", "--",
        ])
    ),
  ]

  @Test(arguments: streams)
  func rewritesAtEveryCut(_ stream: String, _ expected: String) {
    for cut in 0...stream.utf8.count {
      let bytes = Array(stream.utf8)
      let pieces = [bytes[..<cut], bytes[cut...]].map { String(decoding: $0, as: UTF8.self) }
      let rewritten = segments(Self.rewriter.rewrite(Self.recording(pieces)))
      #expect(rewritten.count == 2)
      #expect(rewritten.joined() == expected, "cut \(cut)")
    }
  }
}

@Suite("Recordings: what the server sent, taken apart")
struct ServerStreamTests {
  @Test(
    arguments: [
      (["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nabc"], false),
      (["HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nab"], true),
      (["HTTP/1.1 103 Early\r\n\r\n", "HTTP/1.1 204 No\r\n\r\n"], false),
      (["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"], false),
      (["HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n"], true),
      (["HTTP/1.1 200 OK\r\n\r\nendless"], true), (["HTTP/1.1 200 OK\r\n"], true), ([], true),
    ] as [([String], Bool)])
  func aResponseThatIsNotWholeIsEndedOnReplay(_ segments: [String], _ isUnfinished: Bool) {
    let recording = HostRewriterTests.recording(segments, ends: false)
    #expect(ServerStream(recording, connection: 1).isUnfinished == isUnfinished)
    let ended = recording.endingWhatIsUnfinished
    #expect((ended.records.last?.event == .endOfFile) == isUnfinished)
    #expect(ended.endingWhatIsUnfinished == ended)
  }
}
