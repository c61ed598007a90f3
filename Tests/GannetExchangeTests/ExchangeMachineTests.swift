import GannetExchange
import GannetHTTP
import TestSupport
import Testing

/// A connection's input, and what must come of it at every cut.
struct ExchangeCase: Sendable, CustomTestStringConvertible {
  let name: String
  var methods = ["GET"]
  let input: String
  var events: [String] = []
  var error: String?
  var leftOver = 0
  var endsWithInput = true

  var testDescription: String { name }

  init(
    _ name: String, answering methods: [String] = ["GET"], ending endsWithInput: Bool = true, _ input: String,
    _ events: [String] = [], error: String? = nil, leftOver: Int = 0
  ) {
    (self.name, self.methods, self.input, self.events) = (name, methods, input, events)
    (self.error, self.leftOver, self.endsWithInput) = (error, leftOver, endsWithInput)
  }
}

private let ok = "HTTP/1.1 200 OK\r\n"
private let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
private let lengthHead = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"

@Suite("exchanges", .longWork)
struct ExchangeMachineTests {
  @Test(
    "input of a connection",
    arguments: bodyCases + streamCases + lastingCases + informationalCases + endCases + wrongCases)
  func inputs(_ row: ExchangeCase) {
    let (whole, mismatches) = Exchanging.outcomes(of: Bytes.latin1(row.input), Exchanging.Client(row.methods))
    #expect(whole.events == row.events)
    #expect(whole.error.map { "\($0.rule.rawValue) at \($0.offset)" } == row.error)
    #expect(whole.leftOver == row.leftOver)
    #expect(mismatches.isEmpty, "\(mismatches.map { "\($0.cut): \($0.outcome)" })")
  }

  private static let bodyCases = [
    ExchangeCase("a length", lengthHead + "hello", ["200 length(5)", "data hello", "end"]),
    ExchangeCase("a length of 0", ok + "Content-Length: 0\r\n\r\n", ["200 length(0)", "end"]),
    ExchangeCase(
      "chunks", chunkedHead + "5\r\nhello\r\n6;x=y\r\n world\r\n0\r\n\r\n",
      ["200 chunked", "data hello world", "end"]),
    ExchangeCase(
      "trailers", chunkedHead + "1\r\nx\r\n0\r\nA: 1\r\n\r\n",
      ["200 chunked", "data x", "trailers A=1", "end"]),
    ExchangeCase("until close", ok + "\r\nhello", ["200 close", "data hello", "end, not reusable"]),
    ExchangeCase("until close, nothing", ok + "\r\n", ["200 close", "end, not reusable"]),
    ExchangeCase("no body: HEAD", answering: ["HEAD"], lengthHead, ["200 none", "end"]),
    ExchangeCase(
      "no body: 204 and 304", answering: ["GET", "GET"],
      "HTTP/1.1 204 No\r\nContent-Length: 0\r\n\r\nHTTP/1.1 304 No\r\nContent-Length: 5\r\n\r\n",
      ["204 none", "end", "304 none", "end"]),
    ExchangeCase(
      "a tunnel", answering: ["CONNECT"], ok + "Content-Length: 5\r\n\r\nhello",
      ["200 upgrade", "end, not reusable"],
      leftOver: 5),
    ExchangeCase(
      "chunks and a length", ok + "Transfer-Encoding: chunked\r\nContent-Length: 9\r\n\r\n0\r\n\r\n",
      ["200 chunked", "end, not reusable"]),
  ]

  private static let streamFields = "Content-Type: multipart/x-mixed-replace\r\nContent-Length: "
  private static let streamCases = [
    ExchangeCase(
      "a stream that says it is empty, HTTP/1.0", "HTTP/1.0 200 OK\r\n\(streamFields)0\r\n\r\n--B",
      ["200 close", "data --B", "end, not reusable"]),
    ExchangeCase(
      "a stream that says it is empty, and the last", ok + "Connection: close\r\n\(streamFields)0\r\n\r\n--B",
      ["200 close", "data --B", "end, not reusable"]),
    ExchangeCase(
      "an empty stream on a lasting connection", ok + streamFields + "0\r\n\r\n", ["200 length(0)", "end"]),
    ExchangeCase(
      "a stream with a length", "HTTP/1.0 200 OK\r\n\(streamFields)2\r\n\r\n--B",
      ["200 length(2)", "data --", "end, not reusable"], leftOver: 1),
    ExchangeCase(
      "an empty picture", "HTTP/1.0 200 OK\r\nContent-Type: image/jpeg\r\nContent-Length: 0\r\n\r\n",
      ["200 length(0)", "end, not reusable"]),
    ExchangeCase(
      "the head of a stream", answering: ["HEAD"], "HTTP/1.0 200 OK\r\n\(streamFields)0\r\n\r\n",
      ["200 none", "end, not reusable"]),
  ]

  private static let lastingCases = [
    ExchangeCase(
      "three exchanges", answering: ["GET", "HEAD", "GET"],
      lengthHead + "hello" + lengthHead + chunkedHead + "0\r\n\r\n",
      ["200 length(5)", "data hello", "end", "200 none", "end", "200 chunked", "end"]),
    ExchangeCase(
      "empty lines between", answering: ["GET", "GET"], lengthHead + "hello\r\n\r\n" + lengthHead + "world",
      ["200 length(5)", "data hello", "end", "200 length(5)", "data world", "end"]),
    ExchangeCase(
      "more than the request asked for", lengthHead + "helloEXTRA", ["200 length(5)", "data hello", "end"],
      error: "unexpected-bytes at 0"),
    ExchangeCase(
      "after the last", ok + "Content-Length: 5\r\nConnection: close\r\n\r\nhelloEXTRA",
      ["200 length(5)", "data hello", "end, not reusable"], leftOver: 5),
    ExchangeCase(
      "after a 1.0 response", "HTTP/1.0 200 OK\r\nContent-Length: 1\r\n\r\nxy",
      ["200 length(1)", "data x", "end, not reusable"], leftOver: 1),
  ]

  private static let informationalCases = [
    ExchangeCase(
      "informational responses",
      "HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Hints\r\nLink: x\r\n\r\n\(lengthHead)hello",
      ["informational 100", "informational 103", "200 length(5)", "data hello", "end"]),
    ExchangeCase(
      "64 of them", String(repeating: "HTTP/1.1 102 \r\n\r\n", count: 64) + ok + "\r\n",
      Array(repeating: "informational 102", count: 64) + ["200 close", "end, not reusable"]),
    ExchangeCase(
      "one too many", String(repeating: "HTTP/1.1 102 \r\n\r\n", count: 65),
      Array(repeating: "informational 102", count: 64), error: "informational-count at 1088"),
    ExchangeCase(
      "a switch that nobody asked for", "HTTP/1.1 100 \r\n\r\nHTTP/1.1 101 Up\r\n\r\n", ["informational 100"],
      error: "unexpected-switch at 17"),
    ExchangeCase(
      "only informational", "HTTP/1.1 100 Continue\r\n\r\n", ["informational 100"],
      error: "truncated-head at 25"),
  ]

  private static let endCases = [
    ExchangeCase("no response", "", error: "no-response at 0"),
    ExchangeCase("no response but an empty line", "\r\n", error: "no-response at 2"),
    ExchangeCase("in a head", "HTTP/1.1 200 OK\r\nA: b", error: "truncated-head at 21"),
    ExchangeCase(
      "in a body", lengthHead + "hel", ["200 length(5)", "data hel"], error: "truncated-body at 41"),
    ExchangeCase(
      "in a chunk", chunkedHead + "5\r\nhel", ["200 chunked", "data hel"], error: "truncated-body at 53"),
    ExchangeCase(
      "after a chunk", chunkedHead + "5\r\nhello\r\n", ["200 chunked", "data hello"],
      error: "truncated-body at 57"),
    ExchangeCase(
      "after the last chunk", chunkedHead + "5\r\nhello\r\n0\r\n",
      ["200 chunked", "data hello", "end, not reusable"]),
  ]

  private static let wrongCases = [
    ExchangeCase("no head", "garbage", error: "status-line at 0"),
    ExchangeCase(
      "in the second response", answering: ["GET", "GET"], lengthHead + "helloHTTP/2",
      ["200 length(5)", "data hello", "end"],
      error: "http-version at 5"),
    ExchangeCase(
      "a head after an informational one", "HTTP/1.1 100 \r\n\r\nHTTP/1.1 200 OK\r\nA\0: b",
      ["informational 100"],
      error: "field-name at 35"),
    ExchangeCase(
      "a length after an informational head", "HTTP/1.1 100 \r\n\r\n\(ok)Content-Length: x\r\n\r\n",
      ["informational 100"], error: "content-length at 50"),
    ExchangeCase(
      "a chunk", chunkedHead + "5\r\nhelloX", ["200 chunked", "data hello"], error: "chunk-data-end at 55"),
  ]

  @Test("a switch that was asked for")
  func upgrade() {
    var client = Exchanging.Client()
    client.mayUpgrade = true
    let (whole, mismatches) = Exchanging.outcomes(of: Bytes.latin1("HTTP/1.1 101 Up\r\n\r\nother"), client)
    #expect(whole.events == ["101 upgrade", "end, not reusable"])
    #expect(whole.leftOver == 5)
    #expect(mismatches.isEmpty)
  }

  @Test("bytes before any request")
  func unasked() {
    var machine = ExchangeMachine()
    #expect(throws: SyntaxError(.unexpectedBytes, byte: 0x48, at: 0, "bytes that answer no request")) {
      try machine.receive(Bytes.latin1(lengthHead).span)
    }
    #expect(machine.persistence == .outOfStep)
    #expect(throws: SyntaxError.self) { try machine.receive(Bytes.latin1("x").span) }
    #expect(throws: SyntaxError.self) { try machine.receivedEndOfFile() }
  }

  @Test("a connection that ends between exchanges")
  func idleClose() throws {
    var client = Exchanging.Client()
    client.sendNext()
    var outcome = Outcome()
    _ = try Exchanging.take(&client, Bytes.latin1(lengthHead + "hello"), &outcome)
    #expect(client.machine.isIdle && client.machine.persistence.isReusable)
    #expect(try client.machine.receivedEndOfFile() == nil)
    #expect(client.machine.persistence == .closed)
    #expect(!client.machine.isIdle)
  }

  @Test("where a response starts, and whether any of it has come")
  func progress() throws {
    var client = Exchanging.Client(["GET", "GET"])
    client.sendNext()
    var outcome = Outcome()
    #expect(!client.machine.receivedAnything)
    _ = try Exchanging.take(&client, Bytes.latin1(lengthHead + "hello"), &outcome)
    #expect(client.machine.responseStart == 0)
    client.sendNext()
    #expect(!client.machine.receivedAnything)
    _ = try Exchanging.take(&client, Bytes.latin1("\r\n"), &outcome)
    #expect(!client.machine.receivedAnything)
    _ = try Exchanging.take(&client, Bytes.latin1("H"), &outcome)
    #expect(client.machine.receivedAnything)
    #expect(client.machine.responseStart == Int64(lengthHead.utf8.count + 5))
  }

  @Test(
    "only a body that ends with the connection needs not be given any more",
    arguments: [
      ("\r\n", true), ("Content-Length: 9\r\n\r\n", false),
      ("Transfer-Encoding: chunked\r\n\r\n9\r\n", false),
      ("Content-Length: 0\r\n\r\n", false), ("X: y\r\n", false),
    ])
  func passesAllInput(rest: String, isBody: Bool) throws {
    var machine = ExchangeMachine()
    machine.beganRequest(method: "GET")
    let bytes = Bytes.latin1("HTTP/1.1 200 OK\r\n\(rest)")
    for index in bytes.indices {
      #expect(!machine.passesAllInput)
      while try machine.receive(bytes.span.extracting(index..<index + 1)).consumed == 0 {}
    }
    #expect(machine.passesAllInput == isBody)
    guard isBody else { return }
    let data = Bytes.latin1("HTTP/1.1 200 OK\r\n\r\n")
    #expect(try machine.receive(data.span).event == .body(0..<data.count))
    #expect(try machine.receivedEndOfFile() == .end(reusable: false))
    #expect(!machine.passesAllInput)
  }

  @Test(
    "a stream's own length, when it is not looked at",
    arguments: [
      ("multipart/x-mixed-replace;boundary=B", "7", true), ("Multipart/X-Mixed-Replace", "0", true),
      ("multipart/mixed;boundary=B", "7", false), ("image/jpeg", "7", false),
    ])
  func streamLength(type: String, length: String, isIgnored: Bool) {
    let bytes = Bytes.latin1(
      "HTTP/1.1 200 OK\r\nContent-Length: \(length)\r\nContent-Type: \(type)\r\n\r\n--B\r\nx12345")
    for ignores in [true, false] {
      var client = Exchanging.Client()
      client.tellsReasons = true
      client.machine.ignoresStreamLengths = ignores
      let (whole, mismatches) = Exchanging.outcomes(of: bytes, client)
      #expect(mismatches.isEmpty)
      #expect(whole.events.contains("data --B\r\nx12345") == (ignores && isIgnored), "\(whole)")
      if ignores, isIgnored { #expect(whole.events.last?.contains("framedByClose") == true, "\(whole)") }
    }
  }

  @Test(
    "chunks that a multipart head announces and that don't come",
    arguments: [
      ("multipart/x-mixed-replace", "--B\r\nx", true), ("Multipart/Mixed; boundary=B", "\r\n--B", true),
      ("multipart/x-mixed-replace", "\n", true), ("multipart/x-mixed-replace", "B\r\n", false),
      ("text/plain", "--B\r\nx", false),
    ])
  func unchunked(type: String, body: String, isTaken: Bool) {
    let bytes = Bytes.latin1(
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: \(type)\r\n\r\n\(body)")
    for accepts in [true, false] {
      var client = Exchanging.Client()
      client.tellsReasons = true
      client.machine.acceptsUnchunkedStreams = accepts
      let (whole, mismatches) = Exchanging.outcomes(of: bytes, client)
      #expect(mismatches.isEmpty)
      if accepts, isTaken {
        #expect(whole.error == nil && whole.events.contains("data \(body)"), "\(whole)")
        #expect(whole.events.last?.contains("framedByClose") == true, "\(whole)")
      } else {
        #expect(whole.error != nil)
      }
    }
  }
}
