import Foundation
import Gannet
import GannetSockets
import Synchronization
import TestSupport
import Testing

/// A sequence of pieces, and what became of it.
private final class PieceSource: Sendable {
  struct State: Sendable {
    var made = 0
    var pulled = 0
    var gone = 0
  }
  let pieces: [String]
  let failure: (any Error)?
  /// Pieces are repeated for ever.
  let isEndless: Bool
  let state = Mutex(State())

  init(_ pieces: [String], failing failure: (any Error)? = nil, isEndless: Bool = false) {
    (self.pieces, self.failure, self.isEndless) = (pieces, failure, isEndless)
  }

  func make() -> Sequence {
    state.withLock { $0.made += 1 }
    return Sequence(source: self)
  }

  struct Sequence: AsyncSequence, Sendable {
    let source: PieceSource
    func makeAsyncIterator() -> Iterator { Iterator(source) }
  }

  final class Iterator: AsyncIteratorProtocol {
    private let source: PieceSource
    private var next = 0
    init(_ source: PieceSource) { self.source = source }
    deinit { source.state.withLock { $0.gone += 1 } }

    func next() async throws -> Data? {
      await Task.yield()
      if next == source.pieces.count {
        if let failure = source.failure { throw failure }
        guard source.isEndless else { return nil }
        next = 0
      }
      source.state.withLock { $0.pulled += 1 }
      next += 1
      return Data(source.pieces[next - 1].utf8)
    }
  }
}

private struct Broken: Error, CustomStringConvertible { var description: String { "the tape tore" } }

/// Bodies that come from files and sequences: how they are framed, when they are pulled, and what is wrong with them.
@Suite struct BodyTests {
  private static func request(
    _ body: URLRequest.Body?, _ url: String = "http://h/a", _ fields: [(String, String)] = []
  ) -> URLRequest {
    var request = URLRequest(string: url)
    request.httpMethod = "PUT"
    request.body = body
    for (name, value) in fields { request.addValue(value, forHTTPHeaderField: name) }
    return request
  }

  /// The head's lines but the first, and what follows it, of the n-th request of a server.
  private static func sent(_ server: ScriptedServer, _ index: Int = 0) -> (fields: [String], body: String) {
    let halves = server.requests[index].components(separatedBy: "\r\n\r\n")
    return (
      Array(halves[0].components(separatedBy: "\r\n").dropFirst()),
      halves.dropFirst().joined(separator: "\r\n\r\n")
    )
  }

  private static func load(_ request: URLRequest, _ log: CallbackLog = CallbackLog()) throws -> (
    server: ScriptedServer, lines: [String]
  ) {
    let server = ScriptedServer([[.ok("done")]])
    return (server, try Loading.run(request, Loading.configuration(server), log))
  }

  private static let finished = ["response 200 length 4", "data done", "finish"]

  @Test func aStreamWithoutALengthGoesInChunks() throws {
    let source = PieceSource(["hello", "", " world"])
    let (server, lines) = try Self.load(Self.request(.stream { source.make() }))
    let (fields, body) = Self.sent(server)
    #expect(fields.contains("Transfer-Encoding: chunked"))
    #expect(!fields.contains { $0.hasPrefix("Content-Length") || $0.hasPrefix("Trailer") })
    #expect(body.hasSuffix("\r\n0\r\n\r\n"))
    #expect(["5\r\nhello\r\n6\r\n world\r\n0\r\n\r\n", "b\r\nhello world\r\n0\r\n\r\n"].contains(body))
    #expect(lines.filter { !$0.hasPrefix("sent") } == Self.finished)
    #expect(lines.last { $0.hasPrefix("sent") } == "sent 11/-1")
    #expect(source.state.withLock { $0.made } == 1)
  }

  @Test func aStreamWithALengthGoesAsItIs() throws {
    let source = PieceSource(["hello", " world"])
    let (server, lines) = try Self.load(Self.request(.stream(length: 11) { source.make() }))
    let (fields, body) = Self.sent(server)
    #expect(fields.last == "Content-Length: 11")
    #expect(body == "hello world")
    #expect(lines.filter { !$0.hasPrefix("sent") } == Self.finished)
    #expect(lines.last { $0.hasPrefix("sent") } == "sent 11/11")
  }

  @Test(arguments: [nil, 0] as [Int64?])
  func anEmptyStream(_ length: Int64?) throws {
    let source = PieceSource([])
    let (server, lines) = try Self.load(Self.request(.stream(length: length) { source.make() }))
    #expect(Self.sent(server).body == (length == nil ? "0\r\n\r\n" : ""))
    #expect(lines == Self.finished)
  }

  /// More than one piece of what is read at once, and of what is put into a chunk.
  @Test(arguments: [nil, 3_000_000] as [Int64?])
  func aLargeStreamArrivesWhole(_ length: Int64?) throws {
    let pieces = (0..<30).map { String(repeating: Character(UnicodeScalar(UInt8(65 + $0))), count: 100_000) }
    let source = PieceSource(pieces)
    let (server, lines) = try Self.load(Self.request(.stream(length: length) { source.make() }))
    var body = Self.sent(server).body
    if length == nil {
      var decoded = ""
      for (index, line) in body.components(separatedBy: "\r\n").enumerated() where index % 2 == 1 {
        decoded += line
      }
      body = decoded
    }
    #expect(body == pieces.joined())
    #expect(lines.last == "finish")
    #expect(lines.last { $0.hasPrefix("sent") } == "sent 3000000/\(length ?? -1)")
  }

  @Test func trailersFollowTheLastChunk() throws {
    let source = PieceSource(["x"])
    let fields = FieldList([(name: "Digest", value: "1"), (name: "X-B", value: "2")])
    for (body, announces) in [
      (URLRequest.Body.stream(trailers: fields) { source.make() }, true),
      (.stream(length: 1, trailers: fields) { source.make() }, true),
      (.stream(make: { source.make() }, trailersAtEnd: { fields }), false),
    ] {
      let (server, lines) = try Self.load(Self.request(body))
      let sent = Self.sent(server)
      #expect(sent.body == "1\r\nx\r\n0\r\nDigest: 1\r\nX-B: 2\r\n\r\n")
      #expect(sent.fields.contains("Trailer: Digest, X-B") == announces)
      #expect(lines.last == "finish")
    }
    // A caller that names them has its own way.
    let (server, _) = try Self.load(
      Self.request(.stream(trailers: fields) { source.make() }, "http://h/", [("trailer", "Digest")]))
    #expect(Self.sent(server).fields.filter { $0.lowercased().hasPrefix("trailer") } == ["trailer: Digest"])
  }

  @Test(arguments: [
    ("Bad Name", "x", "field name"), ("A", "x\r\nInjected: 1", "field value"), ("A", "\0", "field value"),
    ("Content-Length", "5", "trailer"), ("transfer-encoding", "chunked", "trailer"), ("Host", "h", "trailer"),
  ])
  func trailersThatCannotBeSent(_ name: String, _ value: String, _ rule: String) throws {
    let source = PieceSource(["x"])
    let fields = FieldList([(name: name, value: value)])
    var log = CallbackLog()
    var (server, lines) = try Self.load(Self.request(.stream(trailers: fields) { source.make() }), log)
    #expect(lines == ["fail badURL preparing"])
    #expect(server.requests == [""])
    #expect(source.state.withLock { $0.made } == 0)

    log = CallbackLog()
    (server, lines) = try Self.load(
      Self.request(.stream(make: { source.make() }, trailersAtEnd: { fields })), log)
    #expect(lines.last == "fail requestBodyStreamExhausted sending")
    guard case .syntax(rule, _, _) = log.error?.cause else {
      Issue.record("\(String(describing: log.error))")
      return
    }
    #expect(!Self.sent(server).body.contains("0\r\n"))
    #expect(server.peers[0].isClosed)
  }

  /// Whatever is announced, the server never has a body that looks whole and is not.
  @Test(arguments: [
    (["hello"], 6, "the request's body ended 1 bytes before its announced length"),
    ([], 1, "the request's body ended 1 bytes before its announced length"),
    (["hello"], 4, "the request's body has more than its announced 4 bytes"),
    (["hell", "o"], 4, "the request's body has more than its announced 4 bytes"),
    (["x"], 0, "the request's body has more than its announced 0 bytes"),
  ])
  func aBodyOfAnotherLengthIsAnError(_ pieces: [String], _ length: Int64, _ reason: String) throws {
    for hasTrailers in [false, true] {
      let source = PieceSource(pieces)
      let log = CallbackLog()
      let trailers = FieldList(hasTrailers ? [(name: "A", value: "b")] : [])
      let (server, lines) = try Self.load(
        Self.request(.stream(length: length, trailers: trailers) { source.make() }), log)
      #expect(lines.last == "fail requestBodyStreamExhausted sending")
      #expect(log.error?.reason == reason)
      #expect(server.peers[0].isClosed)
      let body = Self.sent(server).body
      #expect(hasTrailers ? !body.contains("0\r\n") : length == 0 || body.utf8.count < length)
    }
  }

  @Test func anErrorOfTheSequenceIsTheLoads() throws {
    let source = PieceSource(["hello"], failing: Broken())
    let log = CallbackLog()
    let (server, lines) = try Self.load(Self.request(.stream { source.make() }), log)
    #expect(lines.last == "fail requestBodyStreamExhausted sending")
    #expect(log.error?.cause == .body("the tape tore"))
    #expect(log.error?.reason == "the request's body could not be had: the tape tore")
    #expect(server.peers[0].isClosed)
    #expect(!Self.sent(server).body.contains("0\r\n"))
  }

  @Test func oldHTTPHasNoChunks() throws {
    let source = PieceSource(["hello"])
    for body in [
      URLRequest.Body.stream { source.make() },
      .stream(length: 5, trailers: FieldList([(name: "A", value: "b")])) { source.make() },
    ] {
      var request = Self.request(body)
      request.httpVersion = .http10
      let log = CallbackLog()
      let (server, lines) = try Self.load(request, log)
      #expect(lines == ["fail badURL preparing"])
      #expect(log.error?.reason.contains("HTTP/1.0") == true)
      #expect(server.requests == [""])
    }
    var request = Self.request(
      .stream(length: 5) { source.make() }, "http://h/a", [("Expect", "100-continue")])
    request.httpVersion = .http10
    let (server, lines) = try Self.load(request)
    #expect(lines.last == "finish")
    #expect(server.requests[0].hasPrefix("PUT /a HTTP/1.0\r\nHost: h\r\n"))
    #expect(!server.requests[0].contains("Expect"))
    #expect(server.requests[0].hasSuffix("\r\n\r\nhello"))
    #expect(server.peers[0].isClosed)
  }

  // MARK: Pulling

  /// A connection that takes nothing more stops the sequence.
  @Test func aSequenceIsPulledAsTheSocketTakesIt() throws {
    let source = PieceSource([String(repeating: "x", count: 10_000)], isEndless: true)
    let server = ScriptedServer([[]])
    server.onConnect = { $0.capacity = 100_000 }
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let connection = URLConnection(
      request: Self.request(.stream { source.make() }), delegate: nil,
      configuration: Loading.configuration(server), on: .loop(loop.handle))
    loop.run(until: .now + .milliseconds(100))
    let pulled = source.state.withLock { $0.pulled }
    #expect(server.peers[0].sent.count == 100_000)
    #expect((10...45).contains(pulled), "\(pulled)")
    loop.run(until: .now + .milliseconds(50))
    #expect(source.state.withLock { $0.pulled } == pulled)
    server.peers[0].capacity = 400_000
    loop.run(until: .now + .milliseconds(100))
    #expect(server.peers[0].sent.count == 400_000)
    #expect((40...75).contains(source.state.withLock { $0.pulled }))
    // Who cancels the load cancels the task that iterates the sequence.
    connection?.cancel()
    loop.run(until: .now + .milliseconds(100))
    #expect(source.state.withLock { $0.gone } == 1)
  }

  @Test func aRefusedBodyIsNotPulledFurther() throws {
    let source = PieceSource([String(repeating: "x", count: 10_000)], isEndless: true)
    let server = ScriptedServer([[]])
    server.onConnect = { peer in
      var hasAnswered = false
      peer.onSent = { peer in
        guard !hasAnswered, peer.sent.count > 50_000 else { return }
        hasAnswered = true
        peer.say(.ok("big", status: "413 Too Large"))
      }
    }
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let log = CallbackLog()
    _ = URLConnection(
      request: Self.request(.stream { source.make() }), delegate: log,
      configuration: Loading.configuration(server), on: .loop(loop.handle))
    loop.run(until: .now + .seconds(10))
    #expect(log.finished().suffix(3) == ["response 413 length 3", "data big", "finish"])
    #expect(server.peers[0].isClosed)
    loop.run(until: .now + .milliseconds(50))
    #expect(source.state.withLock { $0.gone } == 1)
  }

  // MARK: Files

  private static func withFile(_ bytes: [UInt8], _ use: (String) throws -> Void) throws {
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-\(UUID().uuidString)")
    try Data(bytes).write(to: url)
    defer { try? FileManager.default.removeItem(at: url) }
    try use(url.path)
  }

  @Test(arguments: [0, 5, 64 * 1024, 300_000])
  func aFileIsSentAsLongAsItIs(_ size: Int) throws {
    let bytes = (0..<size).map { UInt8(65 + $0 % 26) }
    try Self.withFile(bytes) { path in
      let (server, lines) = try Self.load(Self.request(.file(path)))
      let sent = Self.sent(server)
      #expect(sent.fields.last == "Content-Length: \(size)")
      #expect(sent.body == String(decoding: bytes, as: UTF8.self))
      #expect(lines.last == "finish")
      #expect(size == 0 || lines.last { $0.hasPrefix("sent") } == "sent \(size)/\(size)")
    }
  }

  @Test func aFileThatCannotBeReadIsNamed() throws {
    var log = CallbackLog()
    var (server, lines) = try Self.load(Self.request(.file("/nowhere/at/all")), log)
    #expect(lines == ["fail fileDoesNotExist preparing"])
    #expect(log.error?.cause == .system(errno: 2))
    #expect(
      log.error?.reason == "the file to send, /nowhere/at/all, cannot be opened: No such file or directory")
    #expect(server.requests == [""])
    log = CallbackLog()
    (server, lines) = try Self.load(Self.request(.file("/")), log)
    #expect(lines == ["fail fileIsDirectory preparing"])
    #expect(log.error?.cause == .system(errno: 21))
    log = CallbackLog()
    (_, lines) = try Self.load(Self.request(.file("/dev/null")), log)
    #expect(lines == ["fail cannotOpenFile preparing"])
    #expect(log.error?.reason == "the file to send, /dev/null, cannot be opened: not a regular file")
  }

  @Test func aFileThatGetsShorterFailsTheLoad() throws {
    try Self.withFile(Array(repeating: 65, count: 200_000)) { path in
      let server = ScriptedServer([[.ok("done")]])
      server.onConnect = { peer in
        peer.onSent = { _ in try? FileHandle(forWritingAtPath: path)?.truncate(atOffset: 70_000) }
      }
      let log = CallbackLog()
      let lines = try Loading.run(Self.request(.file(path)), Loading.configuration(server), log)
      #expect(lines.last == "fail requestBodyStreamExhausted sending")
      #expect(server.peers[0].isClosed)
      #expect(Self.sent(server).body.utf8.count < 200_000)
    }
  }

  // MARK: Sending again

  /// Ways for a body to be needed twice: the first answer, and the answer to the next request.
  enum Again: CaseIterable, Sendable { case redirect, challenge, refusedExpectation, deadConnection }

  @Test(arguments: Again.allCases)
  func aStreamThatWasSentIsMadeAnew(_ again: Again) throws {
    let source = PieceSource(["hello"])
    let log = CallbackLog()
    log.challengeAnswer = {
      $0.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: $0)
    }
    var first: [Answer] =
      switch again {
      case .redirect: [.ok("", status: "307 T", "Location: http://h/b\r\n")]
      case .challenge: [.ok("", status: "401 U", "WWW-Authenticate: Basic realm=r\r\n")]
      case .refusedExpectation: [.ok("", status: "417 E")]
      case .deadConnection: [.ok("first"), Answer("", ending: .endOfFile)]
      }
    first.append(.ok("done"))
    let server = ScriptedServer([first, [.ok("done")]])
    let loop = try EventLoop()
    defer { loop.shutDown() }
    var configuration = Loading.configuration(server)
    configuration.expectContinueTimeLimit = .zero
    if again == .deadConnection {
      _ = URLConnection(
        request: URLRequest(string: "http://h/"), delegate: nil, configuration: configuration,
        on: .loop(loop.handle))
      loop.run(until: .now + .seconds(5))
    }
    let fields = again == .refusedExpectation ? [("Expect", "100-continue")] : []
    _ = URLConnection(
      request: Self.request(.stream { source.make() }, "http://h/a", fields), delegate: log,
      configuration: configuration, on: .loop(loop.handle))
    loop.run(until: .now + .seconds(10))
    let lines = log.finished()
    #expect(lines.suffix(3) == Self.finished, "\(lines)")
    #expect(lines.count { $0 == "needNewBody" } == 1)
    #expect(source.state.withLock { $0.made } == 2)
    let all = server.requests.joined()
    #expect(all.components(separatedBy: "5\r\nhello\r\n0\r\n\r\n").count == 3)
    #expect(all.components(separatedBy: "Expect").count == (again == .refusedExpectation ? 2 : 1))
  }

  @Test func aDelegateMayGiveAnotherBodyOrNone() throws {
    let source = PieceSource(["hello"])
    for (given, ending) in [
      (URLRequest.Body.data(Data("other".utf8)), "finish"),
      (nil, "fail requestBodyStreamExhausted preparing"),
    ] {
      let log = CallbackLog()
      log.newBody = { _ in given }
      let server = ScriptedServer([[.ok("", status: "307 T", "Location: /b\r\n"), .ok("done")], []])
      let lines = try Loading.run(
        Self.request(.stream { source.make() }), Loading.configuration(server), log)
      #expect(lines.last == ending)
      #expect(server.requests[0].hasSuffix("\r\n\r\nother") == (given != nil))
      #expect(server.requests[0].contains("Content-Length: 5") == (given != nil))
    }
  }

  @Test func aStreamThatWasNotBegunIsNotAskedFor() throws {
    let source = PieceSource(["hello"])
    let log = CallbackLog()
    let server = ScriptedServer([[], [.ok("done")]])
    server.onConnect = { peer in
      guard server.peers.count == 1 else { return }
      peer.onSent = { $0.say(.ok("", status: "307 T", "Location: /b\r\n")) }
    }
    let lines = try Loading.run(
      Self.request(.stream { source.make() }, "http://h/a", [("Expect", "100-continue")]),
      Loading.configuration(server), log)
    #expect(lines.last == "finish")
    #expect(!lines.contains("needNewBody"))
    #expect(source.state.withLock { $0.made } == 1)
    #expect(Self.sent(server).body == "")
  }

  /// A caller that gives a stream of its own in `willSend` is not asked for one.
  @Test func aRedirectToAnotherStreamNeedsNoAsking() throws {
    let (first, second) = (PieceSource(["hello"]), PieceSource(["world"]))
    let log = CallbackLog()
    log.answer = { request, response in
      guard response != nil else { return request }
      var other = request
      other.body = .stream { second.make() }
      return other
    }
    let server = ScriptedServer([[.ok("", status: "307 T", "Location: /b\r\n"), .ok("done")]])
    let lines = try Loading.run(Self.request(.stream { first.make() }), Loading.configuration(server), log)
    #expect(lines.last == "finish")
    #expect(!lines.contains("needNewBody"))
    #expect(server.requests[0].hasSuffix("5\r\nworld\r\n0\r\n\r\n"))
  }
}

/// Bodies on the hosts that are not a thread's own loop.
@Suite(.timeLimit(.minutes(1))) struct BodyHostTests {
  @Test(arguments: [false, true])
  func aStreamIsSentFromAQueueAndTheSharedLoop(_ isQueue: Bool) async throws {
    let server = try PathServer { _ in .ok("done") }
    let source = PieceSource(Array(repeating: String(repeating: "x", count: 50_000), count: 40))
    var request = URLRequest(string: "http://127.0.0.1:\(server.port)/")
    request.httpMethod = "PUT"
    request.body = .stream(length: 2_000_000) { source.make() }
    let ended = Arrival<[String]>()
    let log = CallbackLog()
    log.onCallback = { [weak log] word, _ in
      if word == "finish" || word == "fail" { ended.arrive(log?.finished() ?? []) }
    }
    let queue = DispatchQueue(label: "body")
    let load = URLConnection(
      request: request, delegate: log, on: isQueue ? .queue(queue) : .shared)
    let lines = try await ended.value
    #expect(lines.filter { !$0.hasPrefix("sent") } == ["response 200 length 4", "data done", "finish"])
    #expect(lines.last { $0.hasPrefix("sent") } == "sent 2000000/2000000")
    #expect(load != nil)
  }
}
