import Foundation
import Gannet
import GannetSockets
import TestSupport
import Testing

/// `multipart/form-data` (RFC 7578): how it is framed, escaped, measured and sent.
@Suite struct MultipartFormTests {
  private static func request(_ form: MultipartForm) -> URLRequest {
    var request = URLRequest(string: "http://h/a")
    request.httpMethod = "POST"
    request.setForm(form)
    return request
  }

  private static func sent(
    _ form: MultipartForm, _ log: CallbackLog = CallbackLog()
  ) throws -> (head: String, body: String, lines: [String]) {
    let server = ScriptedServer([[.ok("done")]])
    let lines = try Loading.run(request(form), Loading.configuration(server), log)
    guard let end = server.requests[0].range(of: "\r\n\r\n") else { return ("", "", lines) }
    return (
      String(server.requests[0][..<end.lowerBound]), String(server.requests[0][end.upperBound...]), lines
    )
  }

  private static func stream(_ text: String, length: Int64? = nil) -> URLRequest.Body {
    .stream(length: length) {
      AsyncStream { pieces in
        pieces.yield(Data(text.utf8))
        pieces.finish()
      }
    }
  }

  private static func withFile(_ text: String, _ use: (String) throws -> Void) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-\(UUID()).txt")
    try Data(text.utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    try use(file.path)
  }

  @Test func fieldsAndFilesInOrder() throws {
    try Self.withFile("of the disk") { path in
      var form = MultipartForm(boundary: "B")
      form.append("1 & 2\n", named: "sum")
      form.append(.data(Data([0x7B, 0x7D])), named: "meta", contentType: "application/json")
      form.append(file: path, named: "file", filename: "a.txt", contentType: "text/plain")
      form.append(file: path, named: "other")
      let (head, body, lines) = try Self.sent(form)
      let last = path.split(separator: "/").last ?? ""
      let expected =
        "--B\r\nContent-Disposition: form-data; name=\"sum\"\r\n\r\n1 & 2\n\r\n"
        + "--B\r\nContent-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{}\r\n"
        + "--B\r\nContent-Disposition: form-data; name=\"file\"; filename=\"a.txt\"\r\n"
        + "Content-Type: text/plain\r\n\r\nof the disk\r\n"
        + "--B\r\nContent-Disposition: form-data; name=\"other\"; filename=\"\(last)\"\r\n"
        + "Content-Type: application/octet-stream\r\n\r\nof the disk\r\n--B--\r\n"
      #expect(body == expected)
      #expect(head.contains("\r\nContent-Type: multipart/form-data; boundary=B\r\n"))
      #expect(head.contains("Content-Length: \(expected.utf8.count)"))
      #expect(lines.last == "finish")
    }
  }

  /// What is short goes together, at most 64 KiB: many fields are not as many packets. A file begins a piece of its own.
  @Test func shortPartsAreSentTogether() throws {
    var form = MultipartForm(boundary: "B")
    for number in 0..<100 { form.append("x", named: "\(number)") }
    let fields = try Self.sent(form)
    #expect(
      fields.lines.filter { $0.hasPrefix("sent ") } == [
        "sent \(fields.body.utf8.count)/\(fields.body.utf8.count)"
      ])
    try Self.withFile("of the disk") { path in
      form.append(file: path, named: "file", filename: "a")
      form.append("y", named: "last")
      let (_, body, lines) = try Self.sent(form)
      #expect(lines.count { $0.hasPrefix("sent ") } == 3)
      #expect(
        body.hasSuffix(
          "\r\n\r\nof the disk\r\n--B\r\nContent-Disposition: form-data; name=\"last\"\r\n\r\ny\r\n--B--\r\n")
      )
    }
    var large = MultipartForm(boundary: "B")
    large.append(.data(Data(repeating: 0x61, count: 64 * 1024)), named: "large")
    #expect(try Self.sent(large).body.contains(String(repeating: "a", count: 64 * 1024) + "\r\n--B--\r\n"))
  }

  @Test func aFormWithoutParts() throws {
    let (head, body, _) = try Self.sent(MultipartForm(boundary: "B"))
    #expect(body == "--B--\r\n" && head.contains("Content-Length: 7"))
  }

  /// A name can close neither its quotes nor its line.
  @Test(arguments: [
    ("plain", "plain"), ("a\"b", "a%22b"), ("a\r\nX: y", "a%0D%0AX: y"), ("a\nb", "a%0Ab"),
    ("Bär ☃.jpg", "Bär ☃.jpg"),
    ("a\\b%22;", "a\\b%22;"),
  ])
  func namesAreEscapedAsBrowsersDo(_ name: String, _ escaped: String) throws {
    var form = MultipartForm(boundary: "B")
    form.append(.data(Data()), named: name, filename: name, contentType: "a/b")
    let (_, body, _) = try Self.sent(form)
    #expect(
      body == "--B\r\nContent-Disposition: form-data; name=\"\(escaped)\"; filename=\"\(escaped)\"\r\n"
        + "Content-Type: a/b\r\n\r\n\r\n--B--\r\n")
  }

  @Test(arguments: ["text/plain\r\nX: y", "a\0b", "\n"])
  func aTypeThatCannotBeSentFailsTheLoad(_ type: String) throws {
    var inner = MultipartForm(boundary: "I")
    inner.append(.data(Data()), named: "a", contentType: type)
    let log = CallbackLog()
    let (head, _, lines) = try Self.sent(inner, log)
    #expect(head == "" && lines == ["fail badURL preparing"])
    guard case .syntax("field value", _, _) = log.error?.cause else {
      Issue.record("\(String(describing: log.error))")
      return
    }
  }

  @Test func aBoundaryIsAnother() {
    let boundaries = Set((0..<100).map { _ in MultipartForm().boundary })
    #expect(boundaries.count == 100)
    #expect(boundaries.allSatisfy { $0.utf8.count == 39 && $0.hasPrefix("gannet-") })
  }

  // MARK: Lengths

  @Test func aStreamOfUnknownLengthMakesChunks() throws {
    var form = MultipartForm(boundary: "B")
    form.append("x", named: "a")
    form.append(Self.stream("streamed"), named: "b", filename: "s")
    let (head, body, lines) = try Self.sent(form)
    #expect(head.contains("Transfer-Encoding: chunked") && !head.contains("Content-Length"))
    #expect(body.contains("streamed") && body.hasSuffix("--B--\r\n\r\n0\r\n\r\n"))
    #expect(lines.last == "finish")
  }

  @Test(
    arguments: [
      (8, "finish"), (7, "fail requestBodyStreamExhausted sending"),
      (9, "fail requestBodyStreamExhausted sending"),
    ] as [(Int64, String)])
  func aStreamHasTheLengthItPromises(_ length: Int64, _ end: String) throws {
    var form = MultipartForm(boundary: "B")
    form.append(Self.stream("streamed", length: length), named: "b")
    let (head, body, lines) = try Self.sent(form)
    let rest = "--B\r\nContent-Disposition: form-data; name=\"b\"\r\n\r\n\r\n--B--\r\n".utf8.count
    #expect(head.contains("Content-Length: \(Int64(rest) + length)"))
    #expect(lines.last == end)
    #expect(body.hasSuffix("--B--\r\n") == (end == "finish"))
  }

  @Test func trailersOfAPartAreRefused() throws {
    var form = MultipartForm(boundary: "B")
    form.append(
      .stream(Self.pieces(), trailers: FieldList([(name: "A", value: "b")])), named: "a")
    let (head, _, lines) = try Self.sent(form)
    #expect(head == "" && lines == ["fail badURL preparing"])
  }

  private static func pieces() -> AsyncStream<Data> { AsyncStream { $0.finish() } }

  // MARK: Files

  @Test func aFileThatIsNotThereFailsTheLoadFirst() throws {
    for (path, code) in [("/nowhere/at/all", "fileDoesNotExist"), ("/", "fileIsDirectory")] {
      var form = MultipartForm()
      form.append(file: path, named: "f")
      let log = CallbackLog()
      let (head, _, lines) = try Self.sent(form, log)
      #expect(head == "" && lines == ["fail \(code) preparing"])
      #expect(log.error?.reason.contains(path) == true)
    }
  }

  @Test func aFileThatGetsShorterFailsTheLoad() throws {
    try Self.withFile(String(repeating: "x", count: 400_000)) { path in
      var form = MultipartForm(boundary: "B")
      form.append(file: path, named: "f")
      let server = ScriptedServer([[.ok("done")]])
      server.onConnect = { peer in
        peer.onSent = { _ in try? FileHandle(forWritingAtPath: path)?.truncate(atOffset: 70_000) }
      }
      let lines = try Loading.run(Self.request(form), Loading.configuration(server))
      #expect(lines.last == "fail requestBodyStreamExhausted sending")
      #expect(server.peers[0].isClosed && !server.requests[0].contains("--B--"))
    }
  }

  // MARK: Again

  /// A form of text and files is sent again without asking, one with a stream asks for it.
  @Test(arguments: [false, true])
  func itIsSentAgain(_ hasStream: Bool) throws {
    try Self.withFile("of the disk") { path in
      var form = MultipartForm(boundary: "B")
      form.append("1", named: "a")
      form.append(file: path, named: "f")
      if hasStream { form.append(Self.stream("streamed", length: 8), named: "s") }
      let server = ScriptedServer([[.ok("", status: "307 T", "Location: /b\r\n"), .ok("done")]])
      let lines = try Loading.run(Self.request(form), Loading.configuration(server))
      #expect(lines.last == "finish")
      #expect(lines.contains("needNewBody") == hasStream)
      let halves = server.requests[0].components(separatedBy: "\r\n--B--\r\n")
      #expect(halves.count == 3 && halves[2] == "")
      #expect(halves[1].contains("\r\n\r\nof the disk") && halves[1].hasPrefix("POST /b "))
      #expect(halves[1].contains("Content-Type: multipart/form-data; boundary=B\r\n"))
    }
  }
}
