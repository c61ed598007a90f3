import GannetHTTP
import TestSupport
import Testing

/// What is taken in runs, or in whole lines, is what goes byte by byte: the same results, and limits that end at the same
/// byte.
@Suite("Runs of bytes", .longWork)
struct RunTests {
  static let chunkPieces = [
    "0", "00000", "5", "A", "\r\n", "\r", "\n", ";", ";a=b", "\"", "\\", "\\\"", "\"c;d\"", " ", "  \t",
    "xxxxx", "\u{7F}",
    String(repeating: "x", count: 23), String(repeating: "0", count: 19), String(repeating: " ", count: 20),
    "\u{0}", "\u{E9}", "X: y\r\n",
  ]
  static let fieldPieces = [
    "A", "Name", "_x", ":", ": ", " ", "\t", " \t ", "\r\n", "\r\n", "\n", "\r", "value", "caf\u{E9}", "(",
    "\u{0}",
    "Content-Length", "Transfer-Encoding: x", "\r\n fold", "\r\n\t", "\r\n\r\n",
  ]

  static func text(of pieces: [String], using random: inout SeededGenerator) -> [UInt8] {
    Bytes.latin1(
      (0..<Int.random(in: 1...24, using: &random)).map { _ in pieces.randomElement(using: &random) ?? "" }
        .joined())
  }

  /// Mostly no limit, else one that some of the inputs reach.
  static func limit(using random: inout SeededGenerator) -> Int {
    Bool.random(using: &random) ? 10_000 : Int.random(in: 0...40, using: &random)
  }

  @Test("in what comes between the chunks of a body", arguments: 0..<4)
  func chunks(seed: UInt64) {
    var random = SeededGenerator(seed: seed)
    for _ in 0..<2000 {
      var limits = Limits()
      limits.chunkLineBytes = Self.limit(using: &random)
      limits.chunkExtensionBytes = Self.limit(using: &random)
      limits.chunkExtensionTotalBytes = Self.limit(using: &random)
      let bytes = Bytes.latin1("5\r\nhello\r\n1") + Self.text(of: Self.chunkPieces, using: &random)
      Self.expectSame(bytes, Decoders.chunked(bytes, limits: limits))
    }
  }

  @Test("in fields", arguments: [FieldSectionDecoder.Context.head, .trailers, .part])
  func fields(context: FieldSectionDecoder.Context) {
    var random = SeededGenerator(seed: 7)
    for _ in 0..<5000 {
      var limits = Limits()
      limits.lineBytes = Self.limit(using: &random)
      limits.headBytes = Self.limit(using: &random)
      limits.trailerBytes = limits.headBytes
      limits.partHeadBytes = limits.headBytes
      limits.fieldCount = Self.limit(using: &random) % 6 + 1
      let bytes = Bytes.latin1("X: y\r\n") + Self.text(of: Self.fieldPieces, using: &random)
      Self.expectSame(bytes, Decoders.fields(context, bytes, limits: limits))
    }
  }

  @Test("in the spaces and the phrase of a status line")
  func statusLines() {
    var random = SeededGenerator(seed: 8)
    for _ in 0..<3000 {
      var limits = Limits()
      limits.lineBytes = Self.limit(using: &random)
      limits.headBytes = Self.limit(using: &random)
      let bytes =
        Bytes.latin1("HTTP/1.1  200 ")
        + Self.text(
          of: [" ", "  ", "\t", "phrase", "\u{E9}", "\u{1}", "\r", "\r\n\r\n", "\n"], using: &random)
      Self.expectSame(bytes, Decoders.head(bytes, limits: limits))
    }
  }

  static func expectSame(
    _ bytes: [UInt8], _ outcomes: (whole: Outcome, mismatches: [(cut: Cut, outcome: Outcome)])
  ) {
    guard let mismatch = outcomes.mismatches.first else { return }
    Issue.record(
      "\(Bytes.text(bytes).debugDescription): \(outcomes.whole), but \(mismatch.outcome) cut \(mismatch.cut)")
  }
}
