import FoundationEssentials
import Gannet
import GannetSockets
import TestSupport
import Testing

/// Loads that are paused, or whose loop is run from inside a callback: the same callbacks all the same.
@Suite struct PauseTests {
  private static let rows =
    DeliveryTests.rows + [
      DeliveryTests.Row(
        name: "gzip, chunked", answers: [Answer(bytes: chunkedGzip)],
        lines: ["response 200 length -1", "data hello hello hello", "finish"]),
      DeliveryTests.Row(
        name: "gzip parts", answers: [Answer(bytes: gzipParts)],
        lines: [
          "response 200 length -1", "response 200 length -1 part 0", "data hello hello hello", "partEnd",
          "finish",
        ]),
    ]

  private static let chunkedGzip: [UInt8] =
    Array("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n".utf8)
    + DeliveryTests.gzipBody.flatMap { Array("1\r\n".utf8) + [$0] + Array("\r\n".utf8) }
    + Array("0\r\n\r\n".utf8)

  /// A stream of one part as gzip, whose own end comes behind the stream's.
  private static let gzipParts: [UInt8] = {
    let body = Array("--B\r\n\r\nhello hello hello\r\n--B--\r\n".utf8)
    return Array(
      "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\nContent-Encoding: deflate\r\nContent-Length: \(body.count + 5)\r\n\r\n"
        .utf8) + Deflate.stored(body)
  }()

  /// The callbacks of a load, and how many there were.
  private static func run(
    _ row: DeliveryTests.Row, _ cut: Cut, at stop: Int, _ act: @escaping (EventLoop, URLConnection) -> Void
  ) throws -> (lines: [String], callbacks: Int) {
    let loop = try EventLoop()
    let log = CallbackLog()
    var seen = 0
    log.onCallback = { _, connection in
      seen += 1
      if seen == stop { act(loop, connection) }
    }
    let server = ScriptedServer([row.answers], cut: cut)
    _ = URLConnection(
      request: URLRequest(string: row.url, timeoutInterval: 5), delegate: log,
      configuration: Loading.configuration(server), on: .loop(loop.handle))
    loop.run(until: .now + .seconds(2))
    loop.shutDown()
    return (log.finished(), seen)
  }

  /// Runs a row once for each of its callbacks, and does something in it.
  private static func inEachCallback(
    _ row: DeliveryTests.Row, _ act: @escaping (EventLoop, URLConnection) -> Void
  ) throws {
    for cut in [Cut.whole, .everyByte] {
      let count = try run(row, cut, at: 0, act).callbacks
      for stop in 1...count {
        let lines = try run(row, cut, at: stop, act).lines
        if row.name == "gzip cut short" {
          #expect(lines.last == row.lines.last, "\(cut), callback \(stop) of \(count)")
        } else {
          #expect(lines == row.lines, "\(cut), callback \(stop) of \(count)")
        }
      }
    }
  }

  @Test(arguments: rows)
  func aPauseInAnyCallbackLosesNothing(_ row: DeliveryTests.Row) throws {
    var timers: [LoopTimer] = []
    try Self.inEachCallback(row) { loop, connection in
      connection.pause()
      let timer = loop.makeTimer { _ in connection.resume() }
      timer.schedule(at: .now + .microseconds(300))
      timers = [timer]
    }
    _ = timers
  }

  @Test(arguments: rows)
  func aPauseThatEndsAtOnceLosesNothing(_ row: DeliveryTests.Row) throws {
    try Self.inEachCallback(row) { _, connection in
      connection.pause()
      connection.resume()
    }
  }

  @Test(arguments: rows)
  func aLoopThatIsRunInsideACallbackLosesNothing(_ row: DeliveryTests.Row) throws {
    try Self.inEachCallback(row) { loop, _ in loop.run(until: .now + .microseconds(300)) }
  }

  @Test func aPausedLoadDoesNotTimeOutAndReadsNoMore() throws {
    let loop = try EventLoop()
    let log = CallbackLog()
    let server = ScriptedServer([[.ok(String(repeating: "x", count: 10 << 20))]])
    var isPaused = false
    log.onCallback = { word, connection in
      if word == "data", !isPaused {
        isPaused = true
        connection.pause()
      }
    }
    let connection = URLConnection(
      request: URLRequest(string: "http://h/", timeoutInterval: 0.02), delegate: log,
      configuration: Loading.configuration(server), on: .loop(loop.handle))
    loop.run(until: .now + .milliseconds(100))
    #expect(isPaused)
    #expect(server.peers[0].taken <= 128 * 1024)
    connection?.resume()
    loop.run(until: .now + .seconds(10))
    #expect(log.finished().suffix(2) == ["data \(10 << 20) bytes", "finish"])
    #expect(log.largestPiece <= 256 * 1024)
    loop.shutDown()
  }

  /// What was held while the load was paused comes before what is read after, whenever another thread resumes it.
  @Test func pausesByAnotherThreadKeepTheOrder() throws {
    let loop = try EventLoop()
    let order = ByteOrder()
    let server = ScriptedServer(
      [[.ok(String(decoding: (0..<5_000).map(ByteOrder.byte(at:)), as: UTF8.self))]], cut: .everyByte)
    let connection = try #require(
      URLConnection(
        request: URLRequest(string: "http://h/"), delegate: order,
        configuration: Loading.configuration(server), on: .loop(loop.handle)))
    let isOver = Guarded(false)
    try startBackgroundThread(stackBytes: 1 << 20) {
      while !isOver.withLock({ $0 }) {
        connection.pause()
        connection.resume()
      }
    }
    loop.run(until: .now + .seconds(30))
    isOver.withLock { $0 = true }
    #expect(order.count == 5_000)
    #expect(order.isKept)
    loop.shutDown()
  }

  /// A body that grows 150 times, delivered in pieces, paused at each of them or not at all.
  @Test(
    arguments: [1, 64 * 1024, 65_537, 65_540, 131_071, 3_000_000],
    [("deflate", false), ("deflate", true), ("deflate, deflate", true)])
  func aBodyThatGrowsIsDeliveredInPieces(_ count: Int, _ way: (coding: String, isPaused: Bool)) throws {
    let zeros = Deflate.zeros(count)
    let body = way.coding == "deflate" ? zeros : Deflate.stored(zeros)
    let isPaused = way.isPaused
    let head = "HTTP/1.1 200 OK\r\nContent-Encoding: \(way.coding)\r\nContent-Length: \(body.count)\r\n\r\n"
    let loop = try EventLoop()
    let log = CallbackLog()
    let server = ScriptedServer([[Answer(bytes: Array(head.utf8) + body)]])
    var timer: LoopTimer?
    var held: URLConnection?
    timer = loop.makeTimer { _ in held?.resume() }
    log.onCallback = { word, connection in
      guard isPaused, word == "data" else { return }
      held = connection
      connection.pause()
      timer?.schedule(at: .now)
    }
    _ = URLConnection(
      request: URLRequest(string: "http://h/", timeoutInterval: 2), delegate: log,
      configuration: Loading.configuration(server), on: .loop(loop.handle))
    loop.run(until: .now + .seconds(10))
    let data = count > 100 ? "data \(count) bytes" : "data \u{0}"
    #expect(log.finished() == ["response 200 length -1", data, "finish"])
    #expect(log.largestPiece <= 64 * 1024)
    loop.shutDown()
  }
}

/// Looks whether bytes come in the order in which they were sent.
private final class ByteOrder: URLConnectionDataDelegate {
  private(set) var count = 0
  private(set) var isKept = true

  static func byte(at place: Int) -> UInt8 { UInt8(0x20 + (place ^ place >> 7) % 90) }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    for byte in data {
      if byte != Self.byte(at: count) { isKept = false }
      count += 1
    }
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {}

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {}
}

/// Deflate streams written by hand (RFC 1951).
enum Deflate {
  /// A stream of one block that is stored as it is; its five bytes of framing come first.
  static func stored(_ bytes: [UInt8]) -> [UInt8] {
    let (low, high) = (UInt8(bytes.count & 0xFF), UInt8(bytes.count >> 8))
    return [0x00 | 0x01, low, high, ~low, ~high] + bytes
  }

  /// So many zeros in one block of fixed codes: the first as it is, then copies of the byte before, 258 at a time.
  static func zeros(_ count: Int) -> [UInt8] {
    var bits = BitWriter()
    bits.append(1, count: 1)
    bits.append(1, count: 2)
    var rest = count
    bits.appendCode(0b0011_0000, count: 8)
    rest -= 1
    while rest >= 258 {
      bits.appendCode(0b1100_0101, count: 8)
      bits.appendCode(0, count: 5)
      rest -= 258
    }
    for _ in 0..<rest { bits.appendCode(0b0011_0000, count: 8) }
    bits.appendCode(0, count: 7)
    return bits.bytes
  }

  private struct BitWriter {
    var bytes: [UInt8] = []
    private var used = 8

    mutating func append(_ value: Int, count: Int) {
      for index in 0..<count {
        if used == 8 {
          bytes.append(0)
          used = 0
        }
        bytes[bytes.count - 1] |= UInt8((value >> index) & 1) << UInt8(used)
        used += 1
      }
    }

    /// Huffman codes go in from their highest bit.
    mutating func appendCode(_ code: Int, count: Int) {
      for index in stride(from: count - 1, through: 0, by: -1) { append((code >> index) & 1, count: 1) }
    }
  }
}
