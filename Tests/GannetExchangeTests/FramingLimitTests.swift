import GannetExchange
import GannetHTTP
import TestSupport
import Testing

/// What a server can stretch: each is stopped by its own limit, at the byte that passes it, and read in linear time.
@Suite("limits and time of an exchange", .longWork)
struct FramingLimitTests {
  /// A start, and what comes after it over and over.
  struct Flood: Sendable, CustomTestStringConvertible {
    let name: String
    let start: String
    let piece: String
    let error: String
    var testDescription: String { name }

    init(_ name: String, _ start: String, _ piece: String, _ error: String) {
      (self.name, self.start, self.piece, self.error) = (name, start, piece, error)
    }

    /// At least so many bytes of it.
    func bytes(_ count: Int) -> [UInt8] {
      let unit = Bytes.latin1(piece)
      return Bytes.latin1(start) + Array(repeatElement(unit, count: count / unit.count + 1).joined())
    }
  }

  static let floods = [
    Flood("one long field", ok + "A: ", "x", "line-size at 65553"),
    Flood("one long name", ok, "x", "line-size at 65553"),
    Flood("one long reason", "HTTP/1.1 200 ", "x", "line-size at 65536"),
    Flood("many small fields", ok, "A:b\r\n", "field-count at 2518"),
    Flood("many lines that name nothing", ok, "x\r\n", "head-size at 262144"),
    Flood("many folded lines", ok + "A: b", "\r\n c", "line-size at 65553"),
    Flood("many blank folded lines", ok + "A: b", "\r\n ", "line-size at 65553"),
    Flood("blanks before a value", ok + "A:", " ", "line-size at 65553"),
    Flood("blanks after a value", ok + "A: b", "\t", "line-size at 65553"),
    Flood("spaces before a status", "HTTP/1.1", " ", "line-size at 65536"),
    Flood("empty lines", "", "\r\n", "status-line at 8"),
    Flood("informational responses", "", "HTTP/1.1 100 \r\n\r\n", "informational-count at 1088"),
    Flood("a chunk's extensions", chunkedHead + "1", ";a", "chunk-extension-size at 4144"),
    Flood("an extension in quotes", chunkedHead + "1;a=\"", "\\\"", "chunk-extension-size at 4144"),
    Flood("zeros of a chunk's size", chunkedHead, "0", "chunk-line-size at 16431"),
    Flood("blanks after a chunk's size", chunkedHead + "1", " ", "chunk-extension-size at 4144"),
    Flood(
      "tiny chunks with long extensions", chunkedHead, "1;\(String(repeating: "x", count: 1000))\r\ny\r\n",
      "chunk-extension-total at 66986"),
    Flood("one long trailer", chunkedHead + "0\r\nA: ", "x", "trailer-size at 65586"),
    Flood("many trailers", chunkedHead + "0\r\n", "A:b\r\n", "field-count at 2551"),
    Flood("many trailers that name nothing", chunkedHead + "0\r\n", "x\r\n", "trailer-size at 65586"),
  ]

  @Test("each limit, in pieces of any size", arguments: floods)
  func limits(_ flood: Flood) throws {
    let bytes = flood.bytes(1 << 20)
    for length in [1, 7, 1000, 16_384, bytes.count] {
      var client = Exchanging.Client()
      client.sendNext()
      var consumed = 0
      let error = #expect(throws: SyntaxError.self) {
        for start in stride(from: 0, to: bytes.count, by: length) {
          var rest = bytes.span.extracting(start..<min(bytes.count, start + length))
          while true {
            let (taken, event) = try client.machine.receive(rest)
            consumed += taken
            rest = rest.extracting(droppingFirst: taken)
            if event == nil { break }
          }
        }
      }
      #expect(error.map { "\($0.rule.rawValue) at \($0.offset)" } == flood.error, "pieces of \(length)")
      #expect(error?.rule.isLimit == true || flood.error.hasPrefix("status-line"))
      // Nothing is waited for once the limit is passed.
      #expect(consumed <= Int(error?.offset ?? 0) + flood.piece.utf8.count)
    }
  }

  @Test("at each limit a response is read")
  func atTheLimits() throws {
    let fields = String(repeating: "A:b\r\n", count: 500)
    let long = "A: " + String(repeating: "x", count: 64 * 1024 - 5) + "\r\n"
    let lines = String(repeating: "x\r\n", count: (256 * 1024 - ok.utf8.count - 2) / 3)
    let trailer = "A: " + String(repeating: "x", count: 64 * 1024 - 7) + "\r\n"
    let line = String(repeating: "0", count: 16 * 1024 - 2) + "1\r\n"
    let blanks = "1" + String(repeating: " ", count: 4 * 1024) + "\r\n"
    for response in [
      ok + fields + "\r\n", ok + long + "\r\n", chunkedHead + "0\r\n" + trailer + "\r\n",
      chunkedHead + line + "x\r\n0\r\n\r\n", chunkedHead + blanks + "x\r\n0\r\n\r\n", ok + lines + "\r\n",
    ] {
      var client = Exchanging.Client()
      client.sendNext()
      var outcome = Outcome()
      _ = try Exchanging.take(&client, Bytes.latin1(response), &outcome)
      #expect(outcome.events.first?.hasPrefix("200") == true)
    }
  }

  /// What is worst for each construct, in pieces of so many bytes; the limits are out of the way.
  static let stretches: [(flood: Flood, piece: Int)] =
    floods.filter { !$0.error.hasPrefix("status-line") }.flatMap { [($0, 1), ($0, 16_384)] }
    + [
      (Flood("chunks of one byte", chunkedHead, "1\r\nx\r\n", ""), 1),
      (Flood("chunks of one byte", chunkedHead, "1\r\nx\r\n", ""), 16_384),
      (Flood("a body until close", ok + "\r\n", "x", ""), 1),
    ]

  @Test("four times the bytes take about four times as long", arguments: stretches)
  func linear(flood: Flood, piece: Int) throws {
    var limits = Limits()
    limits.headBytes = .max
    limits.lineBytes = .max
    limits.fieldCount = .max
    limits.trailerBytes = .max
    limits.chunkLineBytes = .max
    limits.chunkExtensionBytes = .max
    limits.chunkExtensionTotalBytes = .max
    limits.informationalResponses = .max
    let bytes = flood.bytes(1 << 16)
    let ratio = try Growth.fourfold(of: 1 << 14) { count in
      var machine = ExchangeMachine(limits: limits)
      machine.sentRequest(method: "GET")
      for start in stride(from: 0, to: count, by: piece) {
        var rest = bytes.span.extracting(start..<min(count, start + piece))
        while true {
          let (taken, event) = try machine.receive(rest)
          rest = rest.extracting(droppingFirst: taken)
          if event == nil { break }
        }
      }
    }
    #expect(ratio <= 8)
  }
}

private let ok = "HTTP/1.1 200 OK\r\n"
private let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
