import Gannet
import GannetSockets
import TestSupport
import Testing

/// What the metrics count and when: `URLConnectionMetrics`. Why connections close is CloseReasonTests' matter.
@Suite(.timeLimit(.minutes(1)))
struct MetricsTests {
  private static func last(
    _ request: URLRequest, _ answers: [[Answer]], cut: Cut = .whole
  ) throws -> URLConnectionMetrics.Transaction {
    var configuration = Loading.configuration(ScriptedServer(answers, cut: cut))
    configuration.collectsMetrics = true
    let log = CallbackLog()
    #expect(try Loading.run(request, configuration, log).last == "finish")
    return try #require(log.metrics?.transactions.last)
  }

  private static func counts(_ transaction: URLConnectionMetrics.Transaction) -> [Int64] {
    [
      transaction.countOfRequestBodyBytesSent, transaction.countOfRequestBodyBytesBeforeEncoding,
      transaction.countOfResponseHeaderBytesReceived, transaction.countOfResponseBodyBytesReceived,
      transaction.countOfResponseBodyBytesAfterDecoding,
    ]
  }

  /// Heads, informational ones among them, and bodies, with what frames them and without; however the bytes were cut.
  @Test(arguments: [Cut.whole, .everyByte])
  func bytesOfHeadsAndBodies(_ cut: Cut) throws {
    let early = "HTTP/1.1 103 Early\r\nLink: </a>\r\n\r\n"
    let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
    let body = "5\r\nhello\r\n0\r\nX: y\r\n\r\n"
    var request = URLRequest(string: "http://h/")
    request.httpMethod = "POST"
    request.httpBody = Data("abc".utf8)
    var transaction = try Self.last(request, [[Answer(early + head + body)]], cut: cut)
    let heads = Int64((early + head).utf8.count)
    #expect(Self.counts(transaction) == [3, 3, heads, Int64(body.utf8.count), 5])
    request.body = .stream {
      AsyncStream { pieces in
        pieces.yield(Data("abc".utf8))
        pieces.finish()
      }
    }
    transaction = try Self.last(request, [[Answer(early + head + body)]], cut: cut)
    // 3 CRLF abc CRLF 0 CRLF CRLF
    #expect(Self.counts(transaction) == [13, 3, heads, Int64(body.utf8.count), 5])
  }

  @Test func aBodyThatIsDecodedAndOneOfParts() throws {
    // gzip of "hello", stored.
    let packed: [UInt8] = [
      0x1F, 0x8B, 8, 0, 0, 0, 0, 0, 0, 3, 1, 5, 0, 0xFA, 0xFF, 0x68, 0x65, 0x6C, 0x6C, 0x6F, 0x86, 0xA6, 0x10,
      0x36,
      5, 0, 0, 0,
    ]
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(packed.count)\r\n\r\n"
    let request = URLRequest(string: "http://h/")
    let decoded = try Self.last(request, [[Answer(bytes: Array(head.utf8) + packed)]])
    #expect(Self.counts(decoded) == [0, 0, Int64(head.utf8.count), Int64(packed.count), 5])
    let outer = "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\n\r\n"
    let parts = "--B\r\n\r\nab\r\n--B\r\n\r\ncde\r\n--B--"
    let stream = try Self.last(request, [[Answer(outer + parts, ending: .endOfFile)]])
    #expect(Self.counts(stream) == [0, 0, Int64(outer.utf8.count), Int64(parts.utf8.count), 5])
  }

  @Test func theBytesOfARedirectAreItsOwn() throws {
    var configuration = Loading.configuration(
      ScriptedServer([[.ok("gone", status: "302 F", "Location: /b\r\n"), .ok("here!")]]))
    configuration.collectsMetrics = true
    let log = CallbackLog()
    _ = try Loading.run(URLRequest(string: "http://h/a"), configuration, log)
    let metrics = try #require(log.metrics)
    #expect(metrics.redirectCount == 1)
    #expect(metrics.transactions.map(\.countOfResponseBodyBytesAfterDecoding) == [0, 5])
    #expect(metrics.transactions.last?.countOfResponseBodyBytesReceived == 5)
    #expect(metrics.transactions.map(\.connectionChoice) == [.noneOpen, .kept])
    // A connection that was kept has nothing to say of its opening.
    let second = try #require(metrics.transactions.last)
    #expect(second.connectStart == nil && second.connectEnd == nil && second.domainLookupStart == nil)
    #expect(second.requestStart != nil && second.responseStart != nil)
  }

  /// Over a real socket and a name: each phase is there, and none begins before the one ahead has ended.
  @Test func thePhasesFollowEachOther() throws {
    let server = try LoopbackServer(.answers([.ok("a")]))
    defer { server.stop() }
    let loop = try EventLoop()
    defer { loop.shutDown() }
    var configuration = URLConnection.Configuration()
    configuration.collectsMetrics = true
    let log = CallbackLog()
    _ = URLConnection(
      request: URLRequest(string: server.url(host: "localhost")), delegate: log, configuration: configuration,
      on: .loop(loop.handle))
    loop.run(until: .now + .seconds(20))
    #expect(log.finished().last == "finish")
    let transaction = try #require(log.metrics?.transactions.first)
    let phases = [
      transaction.fetchStart, transaction.domainLookupStart, transaction.domainLookupEnd,
      transaction.connectStart,
      transaction.connectEnd, transaction.requestStart, transaction.requestEnd, transaction.responseStart,
      transaction.responseEnd,
    ]
    let times = try phases.map { try #require($0) }
    for (earlier, later) in zip(times, times.dropFirst()) { #expect(earlier <= later) }
    #expect(transaction.secureConnectionStart == nil && transaction.secureConnectionEnd == nil)
  }

  @Test func aSecondConnectionBesideABusyOne() throws {
    let server = ScriptedServer([[Answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")], [.ok("x")]])
    let loop = try EventLoop()
    defer { loop.shutDown() }
    var configuration = Loading.configuration(server)
    configuration.collectsMetrics = true
    let request = URLRequest(string: "http://h/")
    let waiting = URLConnection(
      request: request, delegate: CallbackLog(), configuration: configuration, on: .loop(loop.handle))
    let log = CallbackLog()
    log.onCallback = { word, _ in if word == "finish" { waiting?.cancel() } }
    _ = URLConnection(request: request, delegate: log, configuration: configuration, on: .loop(loop.handle))
    loop.run(until: .now + .seconds(5))
    #expect(log.metrics?.transactions.map(\.connectionChoice) == [.othersBusy])
  }
}
