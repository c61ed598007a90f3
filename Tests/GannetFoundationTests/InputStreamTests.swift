import Foundation
import Gannet
import GannetSockets
import GannetFoundation
import TestSupport
import Testing

/// Bodies that are read from an `InputStream`.
@Suite(.timeLimit(.minutes(1))) struct InputStreamTests {
  /// A stream that gives pieces, and then ends or fails.
  private final class Pieces: InputStream {
    private var pieces: [String]
    private let failure: NSError?
    /// Written by the thread that reads, asked for by the test's.
    private let guarded = Guarded(Status.notOpen)
    private var status: Status {
      get { guarded.withLock { $0 } }
      set { guarded.withLock { $0 = newValue } }
    }

    init(_ pieces: [String], failing failure: NSError? = nil) {
      self.pieces = pieces
      self.failure = failure
      super.init(data: Data())
    }

    override var streamStatus: Status { status }
    override var streamError: (any Error)? { status == .error ? failure : nil }
    override func open() { status = .open }
    override func close() { status = .closed }
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
      guard !pieces.isEmpty else {
        status = failure == nil ? .atEnd : .error
        return failure == nil ? 0 : -1
      }
      let bytes = Array(pieces.removeFirst().utf8)
      for (index, byte) in bytes.enumerated() { unsafe buffer[index] = byte }
      return bytes.count
    }
  }

  /// A stream whose bytes do not come until the test says so.
  private final class Stuck: InputStream {
    struct Gate: Sendable {
      let isRead = Arrival<Bool>()
      let comes = DispatchSemaphore(value: 0)
      let isClosed = Arrival<Bool>()
    }
    private let gate: Gate

    init(_ gate: Gate) {
      self.gate = gate
      super.init(data: Data())
    }

    override var streamStatus: Status { gate.isRead.current == nil ? .notOpen : .open }
    override var streamError: (any Error)? { nil }
    override func open() {}
    override func close() { gate.isClosed.arrive(true) }
    override func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength length: Int) -> Int {
      gate.isRead.arrive(true)
      gate.comes.wait()
      unsafe buffer[0] = 0x78
      return 1
    }
  }

  private static func request(_ stream: InputStream, _ fields: [(String, String)] = []) -> URLRequest {
    var request = URLRequest(string: "http://h/a")
    request.httpMethod = "POST"
    request.httpBodyStream = stream
    for (name, value) in fields { request.addValue(value, forHTTPHeaderField: name) }
    return request
  }

  private static func load(
    _ request: URLRequest, _ answers: [Answer] = [.ok("done")], _ log: CallbackLog = CallbackLog()
  ) throws -> (sent: String, lines: [String]) {
    let server = ScriptedServer([answers])
    let lines = try Loading.run(request, Loading.configuration(server), log)
    return (server.requests[0], lines)
  }

  @Test func itsBytesAreTheBody() throws {
    let (sent, lines) = try Self.load(Self.request(InputStream(data: Data("hello".utf8))))
    #expect(sent.contains("Transfer-Encoding: chunked") && sent.hasSuffix("\r\n\r\n5\r\nhello\r\n0\r\n\r\n"))
    #expect(lines.last == "finish")
  }

  @Test func aLargeOneArrivesWhole() throws {
    let bytes = Data((0..<1_000_000).map { UInt8(65 + $0 % 26) })
    let (sent, lines) = try Self.load(
      Self.request(InputStream(data: bytes), [("Content-Length", "1000000")]))
    #expect(sent.contains("Content-Length: 1000000") && !sent.contains("chunked"))
    #expect(sent.hasSuffix("\r\n\r\n" + String(decoding: bytes, as: UTF8.self)))
    #expect(lines.last == "finish" && lines.contains("sent 1000000/1000000"))
  }

  @Test func ofAFile() throws {
    let file = FileManager.default.temporaryDirectory.appendingPathComponent("gannet-\(UUID())")
    try Data("of the disk".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let stream = try #require(InputStream(fileAtPath: file.path))
    let (sent, lines) = try Self.load(Self.request(stream))
    #expect(sent.hasSuffix("\r\nof the disk\r\n0\r\n\r\n") && lines.last == "finish")

    let log = CallbackLog()
    let missing = try #require(InputStream(fileAtPath: "/nowhere/at/all"))
    let (half, end) = try Self.load(Self.request(missing), [.ok("done")], log)
    #expect(end.last == "fail requestBodyStreamExhausted sending", "\(end)")
    #expect(!half.contains("0\r\n\r\n"))
  }

  @Test func itsErrorIsTheCause() throws {
    let log = CallbackLog()
    let failure = NSError(domain: "tape", code: 7)
    let (sent, lines) = try Self.load(
      Self.request(Pieces(["hello"], failing: failure)), [.ok("done")], log)
    #expect(lines.last == "fail requestBodyStreamExhausted sending")
    guard case .body(let words) = log.error?.cause else {
      Issue.record("\(String(describing: log.error))")
      return
    }
    #expect(words.contains("tape") && words.contains("7"))
    #expect(!sent.contains("0\r\n\r\n"))
  }

  @Test(arguments: [("4", "4"), ("6", "1")])
  func anotherLengthThanPromised(_ length: String, _ number: String) throws {
    let log = CallbackLog()
    let (_, lines) = try Self.load(
      Self.request(Pieces(["hel", "lo"]), [("Content-Length", length)]), [.ok("done")], log)
    #expect(lines.last == "fail requestBodyStreamExhausted sending")
    #expect(log.error?.reason.contains(number) == true)
  }

  /// What waits for the socket takes no more memory than it counts, though the stream gives little at a time: the
  /// pieces lie close together.
  @Test func aPieceTakesNoMoreMemoryThanItHasBytes() async throws {
    let count = 4000
    let reader = InputStreamReader(
      Pieces([String](repeating: String(repeating: "x", count: 32), count: count)))
    var pieces: [Data] = []
    while let piece = try await reader.read() { pieces.append(piece) }
    // UNCHECKED: the addresses are counted, not used.
    let places = pieces.map { piece in unsafe piece.withUnsafeBytes { UInt(bitPattern: $0.baseAddress) } }
    #expect(pieces.count == count && Set(places.map { $0 / 65536 }).count < count / 4)
  }

  @Test func theRequestHasItBack() {
    let stream = InputStream(data: Data())
    var request = Self.request(stream)
    #expect(request.httpBodyStream === stream && request.httpBody == nil)
    request.httpBody = Data()
    #expect(request.httpBodyStream == nil)
    request.httpBodyStream = stream
    request.httpBodyStream = nil
    #expect(request.body == nil)
  }

  // MARK: Again

  private static let login = Answer.ok("", status: "401 U", "WWW-Authenticate: Basic realm=r\r\n")

  /// A streamed body that cannot be rewound.
  @Test func aSecondTimeFailsTheLoad() throws {
    let log = CallbackLog()
    log.challengeAnswer = {
      $0.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: $0)
    }
    let (sent, lines) = try Self.load(
      Self.request(InputStream(data: Data("hello".utf8))), [Self.login, .ok("done")], log)
    #expect(lines.last == "fail requestBodyStreamExhausted preparing")
    #expect(sent.components(separatedBy: "POST ").count == 2)
  }

  private final class Giver: URLConnectionInputStreamDelegate {
    let stream: InputStream?
    private(set) var asked = 0
    private(set) var end = ""
    init(_ stream: InputStream?) { self.stream = stream }
    func connection(
      _ connection: URLConnection, needNewBodyStream request: URLRequest
    ) -> InputStream? {
      asked += 1
      return stream
    }
    func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
      challenge.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: challenge)
    }
    func connectionDidFinishLoading(_ connection: URLConnection) { end = "finish" }
    func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
      end = error.code.name
    }
  }

  @Test func aDelegateGivesAnother() throws {
    for (stream, end) in [
      (InputStream(data: Data("again".utf8)), "finish"), (nil, "requestBodyStreamExhausted"),
    ] {
      let server = ScriptedServer([[Self.login, .ok("done")]])
      let delegate = Giver(stream)
      let loop = try EventLoop()
      defer { loop.shutDown() }
      _ = URLConnection(
        request: Self.request(InputStream(data: Data("hello".utf8))), delegate: delegate,
        configuration: Loading.configuration(server), on: .loop(loop.handle))
      loop.run(until: .now + .seconds(20))
      #expect(delegate.asked == 1 && delegate.end == end)
      #expect(server.requests[0].hasSuffix("5\r\nagain\r\n0\r\n\r\n") == (stream != nil))
    }
  }

  /// A load that is cancelled while its stream's reader waits is let go at once; the stream is closed when it has come
  /// back.
  @Test func aCancelledLoadDoesNotWaitForAStreamThatIsStuck() async throws {
    let gate = Stuck.Gate()
    try await TestThread.run {
      weak var gone: URLConnection?
      let loop = try EventLoop()
      defer { loop.shutDown() }
      do {
        let connection = URLConnection(
          request: Self.request(Stuck(gate)), delegate: nil,
          configuration: Loading.configuration(ScriptedServer([[]])), on: .loop(loop.handle))
        gone = connection
        while gate.isRead.current == nil { loop.run(until: .now + .milliseconds(1)) }
        connection?.cancel()
      }
      loop.run(until: .now + .seconds(20))
      #expect(gone == nil && gate.isClosed.current == nil)
    }
    gate.comes.signal()
    _ = try await gate.isClosed.value
  }

  /// Who takes no more of it closes it.
  @Test func aCancelledLoadClosesIt() throws {
    let stream = Pieces(Array(repeating: String(repeating: "x", count: 10_000), count: 1000))
    let server = ScriptedServer([[]])
    server.onConnect = { $0.capacity = 50_000 }
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let connection = URLConnection(
      request: Self.request(stream), delegate: nil, configuration: Loading.configuration(server),
      on: .loop(loop.handle))
    while server.peers.first?.sent.count != 50_000 { loop.run(until: .now + .milliseconds(20)) }
    #expect(stream.streamStatus == .open)
    connection?.cancel()
    let limit = ContinuousClock.now + .seconds(20)
    while stream.streamStatus != .closed, ContinuousClock.now < limit {
      loop.run(until: .now + .milliseconds(20))
    }
    #expect(stream.streamStatus == .closed)
  }
}
