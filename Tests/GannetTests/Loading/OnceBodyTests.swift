import Foundation
import Gannet
import GannetSockets
import TestSupport
import Testing

/// Bodies that can be had but once, what is told of a body on its way, and a length that the caller promises.
@Suite struct OnceBodyTests {
  private static func pieces(_ texts: [String]) -> AsyncStream<Data> {
    AsyncStream { pieces in
      for text in texts { pieces.yield(Data(text.utf8)) }
      pieces.finish()
    }
  }

  private static func request(_ body: URLRequest.Body, _ fields: [(String, String)] = []) -> URLRequest {
    var request = URLRequest(string: "http://h/a")
    request.httpMethod = "POST"
    request.body = body
    for (name, value) in fields { request.addValue(value, forHTTPHeaderField: name) }
    return request
  }

  private static func answerToLogin(_ challenge: URLAuthenticationChallenge) {
    challenge.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: challenge)
  }

  @Test(arguments: [nil, 11] as [Int64?])
  func itIsSent(_ length: Int64?) throws {
    let server = ScriptedServer([[.ok("done")]])
    let lines = try Loading.run(
      Self.request(.stream(Self.pieces(["hello", " world"]), length: length)), Loading.configuration(server))
    #expect(lines.last == "finish")
    #expect(server.requests[0].contains("Content-Length: 11") == (length != nil))
    #expect(server.requests[0].hasSuffix("hello world") == (length != nil))
  }

  /// Sent again it would be empty, and look whole: the load fails before anything more is sent.
  @Test(arguments: [
    Answer.ok("", status: "307 T", "Location: http://h/b\r\n"),
    .ok("", status: "401 U", "WWW-Authenticate: Basic realm=r\r\n"),
  ])
  func aSecondTimeFailsTheLoad(_ first: Answer) throws {
    for isForm in [false, true] {
      let log = CallbackLog()
      log.challengeAnswer = Self.answerToLogin
      let server = ScriptedServer([[first, .ok("done")]])
      var request = Self.request(.stream(Self.pieces(["hello"])))
      if isForm, let body = request.body {
        var form = MultipartForm()
        form.append(body, named: "a")
        request.setForm(form)
      }
      let lines = try Loading.run(request, Loading.configuration(server), log)
      #expect(lines.last == "fail requestBodyStreamExhausted preparing")
      #expect(lines.contains("needNewBody"))
      #expect(server.requests.joined().components(separatedBy: "POST ").count == 2)
    }
  }

  @Test func theDelegateMayGiveAnother() throws {
    let log = CallbackLog()
    log.challengeAnswer = Self.answerToLogin
    log.newBody = { _ in .stream(Self.pieces(["again"])) }
    let server = ScriptedServer([
      [.ok("", status: "401 U", "WWW-Authenticate: Basic realm=r\r\n"), .ok("done")]
    ])
    let lines = try Loading.run(
      Self.request(.stream(Self.pieces(["hello"]))), Loading.configuration(server), log)
    #expect(lines.last == "finish")
    #expect(server.requests[0].hasSuffix("5\r\nagain\r\n0\r\n\r\n"))
  }

  @Test func aSecondLoadOfTheSameBodySendsNothing() throws {
    let request = Self.request(.stream(Self.pieces(["hello"])))
    let first = ScriptedServer([[.ok("done")]])
    #expect(try Loading.run(request, Loading.configuration(first)).last == "finish")
    let (second, log) = (ScriptedServer([[.ok("done")]]), CallbackLog())
    let lines = try Loading.run(request, Loading.configuration(second), log)
    #expect(lines == ["fail requestBodyStreamExhausted preparing"])
    #expect(log.error?.reason == "the request's body can be read once, and has been")
    #expect(second.requests == [""])
    // And so it is as a part.
    var (form, formed) = (MultipartForm(), request)
    if let body = request.body { form.append(body, named: "a") }
    formed.setForm(form)
    let third = ScriptedServer([[.ok("done")]])
    #expect(
      try Loading.run(formed, Loading.configuration(third)) == ["fail requestBodyStreamExhausted preparing"])
  }

  // MARK: A promised length

  /// As in Cocoa the caller's own Content-Length counts where no other length is known.
  @Test(arguments: [
    ("5", "Content-Length: 5", "finish"),
    ("4", "Content-Length: 4", "fail requestBodyStreamExhausted sending"),
    ("6", "Content-Length: 6", "fail requestBodyStreamExhausted sending"),
    ("x", "Transfer-Encoding: chunked", "finish"), ("-1", "Transfer-Encoding: chunked", "finish"),
    ("99999999999999999999", "Transfer-Encoding: chunked", "finish"),
  ])
  func theCallersContentLength(_ given: String, _ field: String, _ end: String) throws {
    let server = ScriptedServer([[.ok("done")]])
    let lines = try Loading.run(
      Self.request(.stream(Self.pieces(["hello"])), [("content-length", given)]),
      Loading.configuration(server))
    #expect(lines.last == end)
    let head = server.requests[0].components(separatedBy: "\r\n\r\n")[0]
    #expect(head.contains(field))
    #expect(
      head.lowercased().components(separatedBy: "content-length").count == (field.hasPrefix("C") ? 2 : 1))
  }

  // MARK: Progress

  /// A mebibyte is told in pieces, whatever it comes from: each more than the last, the last all of it.
  @Test(arguments: ["data", "file", "stream", "form"])
  func progress(_ kind: String) throws {
    let count = 1 << 20
    let bytes = Data(repeating: 0x78, count: count)
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-\(UUID())")
    try bytes.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var request = Self.request(.data(bytes))
    var total = count
    switch kind {
    case "file": request.body = .file(file.path)
    case "stream":
      request.body = .stream(Self.pieces(Array(repeating: String(repeating: "x", count: 1 << 16), count: 16)))
    case "form":
      var form = MultipartForm(boundary: "B")
      form.append(file: file.path, named: "f", filename: "n")
      request.setForm(form)
      total = count + 100
    default: break
    }
    let server = ScriptedServer([[.ok("done")]])
    let lines = try Loading.run(request, Loading.configuration(server))
    let sent = lines.filter { $0.hasPrefix("sent") }.compactMap { line in
      line.dropFirst(5).split(separator: "/").first.flatMap { Int($0) }
    }
    #expect(sent.count >= 2)
    #expect(zip(sent, sent.dropFirst()).allSatisfy { $0 < $1 })
    #expect(kind == "form" ? (sent.last ?? 0) > total : sent.last == total)
    #expect(lines.last == "finish")
  }

  // MARK: Files that change

  @Test(arguments: [false, true])
  func whatIsAddedToAFileOnTheWayIsNotSent(_ isForm: Bool) throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-\(UUID())")
    try Data(repeating: 0x78, count: 200_000).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    var request = Self.request(.file(file.path))
    if isForm {
      var form = MultipartForm(boundary: "B")
      form.append(file: file.path, named: "f")
      request.setForm(form)
    }
    let server = ScriptedServer([[.ok("done")]])
    server.onConnect = { peer in
      peer.onSent = { _ in
        guard let handle = FileHandle(forWritingAtPath: file.path) else { return }
        _ = try? handle.seekToEnd()
        try? handle.write(contentsOf: Data(repeating: 0x79, count: 1000))
        try? handle.close()
      }
    }
    #expect(try Loading.run(request, Loading.configuration(server)).last == "finish")
    #expect(server.requests[0].count { $0 == "x" } >= 200_000)
    #expect(!server.requests[0].contains("yyy"))
  }
}
