import GannetHTTP
import TestSupport
import Testing

/// The one-pass parser of whole heads, the decoder that takes whole lines, and the one that goes byte by byte must be the
/// same function.
@Suite("Whole heads", .longWork)
struct WholeHeadTests {
  /// How the bytes are given, and which way a decoder may take.
  enum Way { case wholeHead, wholeLines, byteByByte }

  /// What a decoder makes of `bytes`, with the places that later errors name.
  static func outcome(_ bytes: [UInt8], limits: Limits, _ way: Way) -> String {
    var decoder = ResponseHeadDecoder(limits: limits, takesWholeHeads: way == .wholeHead)
    do {
      var consumed = 0
      var head: ResponseHead?
      let length = way == .byteByByte ? 1 : bytes.count
      while consumed < bytes.count, head == nil {
        let piece = bytes.span.extracting(consumed..<consumed + length)
        let step = try decoder.step(piece)
        consumed += step.consumed
        head = step.head
      }
      guard let head else { return "consumed \(consumed) \(decoder.isIdle)" }
      var text = "consumed \(consumed) \(Decoders.describe(head)) \(head.tolerated)"
      do {
        text += " \(try BodyFraming.decide(for: head, answering: "GET"))"
      } catch {
        text += " \(error)"
      }
      return text
    } catch {
      return "\(error)"
    }
  }

  static func expectSame(_ bytes: [UInt8], limits: Limits = Limits()) {
    let slow = outcome(bytes, limits: limits, .byteByByte)
    for way in [Way.wholeHead, .wholeLines] {
      let fast = outcome(bytes, limits: limits, way)
      if fast != slow {
        Issue.record("\(Bytes.text(bytes).debugDescription): \(way) \(fast) but byte by byte \(slow)")
      }
    }
  }

  static let heads = [
    "HTTP/1.1 200 OK\r\nDate: Mon, 30 Nov 2026 09:38:18 GMT\r\nContent-Length: 10\r\nX:\r\nY: \t a b \r\n\r\nbody",
    "HTTP/1.0 404 Not Found\nA:b\nTransfer-Encoding: gzip, chunked\n\n",
    "HTTP/1.1 200 \r\nContent-Length: 5, 6\r\n fold\r\n\r\n",
    "HTTP/1.9 204\r\n\r\n", "HTTP/1.1 500 \t x \t\r\nname\r\nA : b\r\nC: d\r\n\r\n",
    "\r\nHTTP/1.1 200 caf\u{E9}\r\nA: caf\u{C3}\u{A9}\r\n\r\n", "ICY 200 OK\r\nicy-name: x\r\n\r\n",
  ]

  @Test("at every length of plain heads, and at limits")
  func prefixes() {
    for head in Self.heads {
      let bytes = Bytes.latin1(head)
      for length in 0...bytes.count { Self.expectSame(Array(bytes[..<length])) }
      for limit in 0...bytes.count {
        var limits = Limits()
        limits.headBytes = limit
        Self.expectSame(bytes, limits: limits)
        limits = Limits()
        limits.lineBytes = limit
        Self.expectSame(bytes, limits: limits)
        limits = Limits()
        limits.fieldCount = limit
        if limit < 8 { Self.expectSame(bytes, limits: limits) }
      }
    }
  }

  @Test("of many fields, at limits, and with names and values across blocks of 64 bytes")
  func long() {
    for length in 0...140 {
      let name = String(repeating: "n", count: length) + "_x"
      let value = String(repeating: "v\t", count: length)
      Self.expectSame(Array("HTTP/1.1 200 OK\r\n\(name): \(value)\r\nB: c\r\n\r\n".utf8))
      Self.expectSame(Array("HTTP/1.1 200 OK\n\(name):\(value)\nB: c\n\n".utf8))
    }
    for count in [31, 32, 33, 128, 129, 499, 500, 501] {
      let fields = (0..<count).map { "Field-\($0): value \($0)\r\n" }.joined()
      Self.expectSame(Array("HTTP/1.1 200 OK\r\n\(fields)\r\nrest".utf8))
    }
  }

  @Test("with each byte replaced by each byte that means something")
  func replacements() {
    let meaningful = Bytes.latin1("\r\n\t :,;H1.0xé\u{0}\u{1}\u{1F}\u{7F}\u{80}\u{FF}(\"")
    for head in Self.heads {
      for index in head.unicodeScalars.indices.enumerated().map(\.offset) {
        for byte in meaningful {
          var bytes = Bytes.latin1(head)
          bytes[index] = byte
          Self.expectSame(bytes)
        }
      }
    }
  }

  @Test("with random changes, seeded")
  func mutations() {
    var random = SeededGenerator(seed: 2026)
    for round in 0..<20_000 {
      var bytes = Bytes.latin1(Self.heads[round % Self.heads.count])
      for _ in 0..<Int.random(in: 1...4, using: &random) { Self.mutate(&bytes, using: &random) }
      Self.expectSame(bytes)
    }
  }

  static func mutate(_ bytes: inout [UInt8], using random: inout SeededGenerator) {
    let alphabet = Bytes.latin1("\r\n\t :A\u{0}\u{7F}\u{E9}1")
    guard let position = bytes.indices.randomElement(using: &random) else { return }
    switch Int.random(in: 0..<5, using: &random) {
    case 0: bytes[position] = UInt8.random(in: 0...255, using: &random)
    case 1: bytes[position] = alphabet.randomElement(using: &random) ?? 0
    case 2: bytes.insert(alphabet.randomElement(using: &random) ?? 0, at: position)
    case 3: bytes.remove(at: position)
    default:
      let end = min(bytes.count, position + Int.random(in: 1...12, using: &random))
      bytes.insert(contentsOf: bytes[position..<end], at: position)
    }
  }
}
