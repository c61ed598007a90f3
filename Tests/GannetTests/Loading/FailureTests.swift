import Gannet
import GannetSockets
import TestSupport
import Testing

/// What each kind of bad answer gets: code, phase, cause, and for syntax the rule, the byte and where it is
/// (docs/CONTRACT.md, rule 10), the same however the bytes were cut.
@Suite struct FailureTests {
  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String { name }
    var name: String
    var method = "GET"
    var answer: Answer
    /// What was delivered before the end.
    var before: [String] = []
    var code: ConnectionError.Code
    var phase = ConnectionError.Phase.receiving
    var cause: ConnectionError.Cause?
  }

  private static let ok = "HTTP/1.1 200 OK\r\n"
  private static let chunked = ok + "Transfer-Encoding: chunked\r\n\r\n"
  private static let start = Int64(chunked.utf8.count)

  private static func syntax(_ rule: String, _ byte: Character?, _ offset: Int64) -> ConnectionError.Cause {
    .syntax(rule: rule, byte: byte?.utf8.first, offset: offset)
  }

  private static let damagedGzip: [UInt8] = {
    var bytes = DeliveryTests.gzipAnswer
    bytes[bytes.count - 8] ^= 1
    return bytes
  }()

  static let rows: [Row] = [
    Row(
      name: "closed at once", answer: Answer("", ending: .endOfFile), code: .networkConnectionLost,
      phase: .awaiting, cause: syntax("no-response", nil, 0)),
    Row(
      name: "reset at once", answer: Answer("", ending: .failed(104)), code: .networkConnectionLost,
      phase: .awaiting, cause: .system(errno: 104)),
    Row(
      name: "garbage", answer: Answer("junkHTTP/1.1 200 OK\r\n\r\n"), code: .badServerResponse,
      cause: syntax("status-line", "j", 0)),
    Row(
      name: "a status that is none", answer: Answer("HTTP/1.1 2x0 OK\r\n\r\n"), code: .badServerResponse,
      cause: syntax("status-code", "x", 10)),
    Row(
      name: "head cut short", answer: Answer(ok + "A: b", ending: .endOfFile), code: .networkConnectionLost,
      cause: syntax("truncated-head", nil, 21)),
    Row(
      name: "head reset", answer: Answer(ok + "A: b", ending: .failed(104)), code: .networkConnectionLost,
      cause: .system(errno: 104)),
    Row(
      name: "NUL in a field", answer: Answer(ok + "A: b\u{0}c\r\n\r\n"), code: .badServerResponse,
      cause: syntax("field-value", "\u{0}", 21)),
    Row(
      name: "differing lengths", answer: Answer(ok + "Content-Length: 5\r\nContent-Length: 6\r\n\r\nhello"),
      code: .badServerResponse, cause: syntax("content-length", "6", 52)),
    Row(
      name: "length overflows", answer: Answer(ok + "Content-Length: 99999999999999999999\r\n\r\n"),
      code: .badServerResponse, cause: syntax("content-length", "9", 51)),
    Row(
      name: "short body", answer: Answer(ok + "Content-Length: 10\r\n\r\nhello", ending: .endOfFile),
      before: ["response 200 length 10", "data hello"], code: .networkConnectionLost,
      cause: syntax("truncated-body", nil, 44)),
    Row(
      name: "short body, reset", answer: Answer(ok + "Content-Length: 10\r\n\r\nhello", ending: .failed(104)),
      before: ["response 200 length 10", "data hello"], code: .networkConnectionLost,
      cause: .system(errno: 104)),
    Row(
      name: "until close, reset", answer: Answer(ok + "\r\nhello", ending: .failed(104)),
      before: ["response 200 length -1", "data hello"], code: .networkConnectionLost,
      cause: .system(errno: 104)),
    Row(
      name: "chunks cut short", answer: Answer(chunked + "5\r\nhello\r\n", ending: .endOfFile),
      before: ["response 200 length -1", "data hello"], code: .networkConnectionLost,
      cause: syntax("truncated-body", nil, start + 10)),
    Row(
      name: "chunk cut short", answer: Answer(chunked + "5\r\nhel", ending: .endOfFile),
      before: ["response 200 length -1", "data hel"], code: .networkConnectionLost,
      cause: syntax("truncated-body", nil, start + 6)),
    Row(
      name: "chunk size that is none", answer: Answer(chunked + "5\r\nhello\r\nx\r\n"),
      before: ["response 200 length -1", "data hello"], code: .badServerResponse,
      cause: syntax("chunk-size", "x", start + 10)),
    Row(
      name: "chunk size overflows", answer: Answer(chunked + "FFFFFFFFFFFFFFFF\r\n"),
      before: ["response 200 length -1"], code: .badServerResponse,
      cause: syntax("chunk-size", "F", start + 15)),
    Row(
      name: "no line end behind a chunk", answer: Answer(chunked + "5\r\nAAAAAXX0\r\n\r\n"),
      before: ["response 200 length -1", "data AAAAA"], code: .badServerResponse,
      cause: syntax("chunk-data-end", "X", start + 8)),
    Row(
      name: "a protocol nobody asked for",
      answer: Answer("HTTP/1.1 101 S\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n"), code: .badServerResponse,
      cause: syntax("unexpected-switch", nil, 0)),
    Row(
      name: "a gzip body with a wrong checksum", answer: Answer(bytes: damagedGzip),
      before: ["response 200 length -1", "data hello hello hello"], code: .cannotDecodeContentData,
      cause: syntax("content-coding", nil, 24)),
    Row(
      name: "100, then closed", answer: Answer("HTTP/1.1 100 Continue\r\n\r\n", ending: .endOfFile),
      before: ["informational 100"], code: .networkConnectionLost,
      cause: syntax("truncated-head", nil, 25)),
    Row(
      name: "TLS where plain was asked for",
      answer: Answer(bytes: [0x15, 0x03, 0x01, 0x00, 0x02, 0x02, 0x50], ending: .endOfFile),
      code: .badServerResponse, cause: .syntax(rule: "status-line", byte: 0x15, offset: 0)),
    Row(
      name: "HTTP/2", answer: Answer(bytes: [0, 0, 0x12, 4, 0, 0, 0, 0, 0], ending: .endOfFile),
      code: .badServerResponse, cause: .syntax(rule: "status-line", byte: 0, offset: 0)),
  ]

  @Test(arguments: rows)
  func theErrorSaysWhatAndWhere(_ row: Row) throws {
    for cut in Cut.all(of: row.answer.bytes.count) {
      let log = CallbackLog()
      var request = URLRequest(string: "http://u:p@h/p#f")
      request.httpMethod = row.method
      let lines = try Loading.run(
        request, Loading.configuration(ScriptedServer([[row.answer]], cut: cut)), log)
      #expect(lines == row.before + ["fail \(row.code.name) \(row.phase.rawValue)"], "\(cut)")
      let error = try #require(log.error)
      #expect(error.cause == row.cause, "\(cut)")
      #expect(error.url == "http://h/p#f")
      #expect(!error.reason.isEmpty && !error.description.contains("u:p"))
    }
  }

  @Test func aServerThatSpeaksTLSIsNamed() throws {
    let log = CallbackLog()
    _ = try Loading.run("http://h/", [Answer(bytes: [0x15, 3, 1, 0, 2, 2, 0x50])], log)
    #expect(log.error?.reason.contains("TLS") == true, "\(log.error?.reason ?? "")")
  }

  @Test(arguments: [
    ("head-size", "A: " + String(repeating: "x", count: 300) + "\r\n", 200, 500),
    ("head-size", String(repeating: "A: b\r\n", count: 100), 200, 500),
    ("field-count", String(repeating: "A: b\r\n", count: 11), 4096, 10),
  ])
  func limitsOfAHead(_ rule: String, _ fields: String, _ headBytes: Int, _ fieldCount: Int) throws {
    var configuration = Loading.configuration(ScriptedServer([[Answer(Self.ok + fields)]]))
    configuration.limits.headBytes = headBytes
    configuration.limits.fieldCount = fieldCount
    let log = CallbackLog()
    let lines = try Loading.run(URLRequest(string: "http://h/"), configuration, log)
    #expect(lines == ["fail dataLengthExceedsMaximum receiving"])
    #expect(log.error?.cause == .limit(rule))
  }

  @Test func chunkLinesAndTrailersAreLimited() throws {
    for (rule, answer) in [
      ("chunk-line-size", Self.chunked + String(repeating: "0", count: 40_000)),
      ("chunk-extension-size", Self.chunked + "1;" + String(repeating: "a", count: 5_000)),
      ("trailer-size", Self.chunked + "0\r\nA: " + String(repeating: "a", count: 80_000)),
    ] {
      let log = CallbackLog()
      let lines = try Loading.run("http://h/", [Answer(answer)], log)
      #expect(lines.last == "fail dataLengthExceedsMaximum receiving")
      #expect(log.error?.cause == .limit(rule))
    }
  }

  @Test(arguments: [50, 64, 65, 5000])
  func informationalResponsesAreCounted(_ count: Int) throws {
    let flood = String(repeating: "HTTP/1.1 102 P\r\n\r\n", count: count)
    let lines = try Loading.run(
      "http://h/", [Answer(flood + "HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\nx")])
    #expect(lines.count { $0 == "informational 102" } == min(count, 64))
    #expect(lines.last == (count <= 64 ? "finish" : "fail dataLengthExceedsMaximum receiving"))
  }

  @Test(arguments: [
    ("nothing comes", Answer(""), "fail timedOut awaiting"),
    ("head stalls", Answer("HTTP/1.1 200"), "fail timedOut receiving"),
    ("body stalls", Answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello"), "fail timedOut receiving"),
  ])
  func aStallEndsByTheInactivityLimit(_ name: String, _ answer: Answer, _ line: String) throws {
    var request = URLRequest(string: "http://h/")
    request.timeoutInterval = 0.05
    let server = ScriptedServer([[answer]])
    let begun = ContinuousClock.now
    let log = CallbackLog()
    let lines = try Loading.run(request, Loading.configuration(server), log)
    #expect(lines.last == line)
    #expect(ContinuousClock.now - begun >= .milliseconds(50))
    #expect(server.peers[0].isClosed)
    #expect(log.error?.reason.contains("0.05 seconds") == true)
  }

  /// The clock is one of inactivity: a body that comes slowly is no time-out.
  @Test func aSlowBodyIsNoTimeOut() throws {
    var request = URLRequest(string: "http://h/")
    request.timeoutInterval = 0.6
    let server = ScriptedServer([[Answer("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n")]])
    let loop = try EventLoop()
    let log = CallbackLog()
    _ = URLConnection(
      request: request, delegate: log, configuration: Loading.configuration(server), on: .loop(loop.handle))
    for letter in ["h", "e", "l", "l", "o"] {
      loop.run(until: .now + .milliseconds(150))
      server.peers[0].say(Answer(letter))
    }
    loop.run(until: .now + .seconds(5))
    #expect(log.finished().last == "finish")
    loop.shutDown()
  }

  @Test func aStalledUploadEndsByTheInactivityLimit() throws {
    var request = URLRequest(string: "http://h/")
    request.httpMethod = "POST"
    request.httpBody = Data(repeating: 0x61, count: 1 << 20)
    request.timeoutInterval = 0.05
    let server = ScriptedServer([[.ok("")]])
    server.onConnect = { $0.capacity = 5000 }
    let lines = try Loading.run(request, Loading.configuration(server))
    #expect(lines.last == "fail timedOut sending")
  }
}
