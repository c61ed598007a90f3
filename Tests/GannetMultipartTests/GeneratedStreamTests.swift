import GannetHTTP
import GannetMultipart
import TestSupport
import Testing

/// A stream without ambiguity, made at random in one of the styles that servers have, and what must come of it.
struct GeneratedStream {
  enum Lengths: CaseIterable { case none, right, withJunk, tooLarge, tooSmall }

  private(set) var bytes: [UInt8] = []
  private(set) var events: [String] = []
  let parameter: String
  private let boundary: String
  private let lineEnd: String
  private let lengths: Lengths
  private let hasLineEndBefore: Bool
  private var generator: SeededGenerator

  init(seed: UInt64) {
    var generator = SeededGenerator(seed: seed)
    boundary = ["B", "frame", "--x", "a b", "x--", "==9"].randomElement(using: &generator) ?? "B"
    parameter = Bool.random(using: &generator) ? boundary : "--" + boundary
    lineEnd = Bool.random(using: &generator) ? "\r\n" : "\n"
    lengths = Lengths.allCases.randomElement(using: &generator) ?? .none
    hasLineEndBefore = lengths != .right || Int.random(in: 0..<4, using: &generator) > 0
    self.generator = generator
    make()
  }

  private mutating func chance(_ count: Int) -> Bool { Int.random(in: 0..<count, using: &generator) == 0 }

  private mutating func write(_ text: String) { bytes += Bytes.latin1(text) }

  private mutating func make() {
    if chance(4) { write(lineEnd) }
    let count = Int.random(in: 1...6, using: &generator)
    for index in 0..<count {
      write("--\(boundary)\(lineEnd)")
      if chance(8) { write("--\(boundary)\(lineEnd)") }
      writePart(index)
      if hasLineEndBefore { write(lineEnd) }
      // Only a length that is right tells these from data.
      if lengths == .right, chance(4) { write(lineEnd + "\n") }
    }
    if chance(2) {
      write("--\(boundary)--")
      events.append("finished")
      if chance(2) { write("\(lineEnd)epilogue\(lineEnd)--\(boundary)\(lineEnd)\(lineEnd)more") }
    } else {
      write("--\(boundary)\(lineEnd)Content-Ty")
    }
  }

  private mutating func writePart(_ index: Int) {
    let isPicture = chance(2)
    let data = isPicture ? picture() : content()
    var fields: [(name: String, value: String)] = chance(3) ? [("X-Number", "\(index)")] : []
    if isPicture, chance(2) { fields.insert(("Content-Type", "image/jpeg"), at: 0) }
    let length = data.unicodeScalars.count
    let promised: String? =
      switch lengths {
      case .none: nil
      case .right: "\(length)"
      case .withJunk: "\(length) bytes"
      // Larger than all that follows: it runs into the end of the stream at the latest.
      case .tooLarge: "\(length + 100_000)"
      case .tooSmall: length > 20 ? "\(length - 20 + Int.random(in: 0..<16, using: &generator))" : nil
      }
    if let promised { fields.append(("Content-Length", promised)) }
    for field in fields { write("\(field.name):\(chance(2) ? " " : "")\(field.value)\(lineEnd)") }
    write(lineEnd)
    write(data)
    events.append("part" + fields.map { " \($0.name)=\($0.value)" }.joined(separator: ";"))
    if !data.isEmpty { events.append("data \(data)") }
    events += ["complete", "ended"]
  }

  /// Pieces of delimiters, but no delimiter; with lengths that are right whole ones too.
  private mutating func content() -> String {
    var pieces = [
      "x", "\r\n", "\n", "--", "\r\n--", "\0", "\u{FF}\u{D8}", "field: value\r\n", "\u{FF}", "- -", "\r",
    ]
    if lengths == .right { pieces += ["\r\n--\(boundary)\r\n", "\n--\(boundary)--\n", "--\(boundary)"] }
    var text = ""
    for _ in 0..<Int.random(in: 0...12, using: &generator) {
      text += pieces.randomElement(using: &generator) ?? ""
    }
    // Its last byte is no part of a line end or a token. A length of 0 promises nothing.
    return text.isEmpty && lengths != .right ? "" : text + "."
  }

  /// A picture of random structure: its scans and segments hold what would end it elsewhere.
  private mutating func picture() -> String {
    var text = Pictures.start
    let poison = ["\u{FF}\u{D9}", Pictures.plain, "\r\n-", "\u{FF}\u{D8}", "--", "", "text"]
    for code in ["\u{E0}", "\u{E1}", "\u{DB}", "\u{C2}"] as [Unicode.Scalar] where chance(2) {
      text += Pictures.segment(code, poison.randomElement(using: &generator) ?? "")
    }
    for _ in 0..<Int.random(in: 1...3, using: &generator) {
      var data = ""
      for _ in 0..<Int.random(in: 0...6, using: &generator) {
        data +=
          ["\u{FF}\0", "\u{FF}\u{D3}", "\r\n-", "ab", "\n", "--", "\u{D9}"].randomElement(using: &generator)
          ?? ""
      }
      text += Pictures.scan(data) + (chance(3) ? "\u{FF}" : "")
    }
    return text + Pictures.end
  }
}

@Suite("multipart/x-mixed-replace: generated streams", .longWork)
struct GeneratedStreamTests {
  @Test("what was generated comes out, at every cut and in chunks", arguments: 0..<8 as Range<UInt64>)
  func equal(block: UInt64) {
    for seed in block * 1000..<block * 1000 + 15 {
      let stream = GeneratedStream(seed: seed)
      let (whole, mismatches) = Splitting.outcomes(of: stream.bytes) {
        MixedReplaceSplitter(boundary: stream.parameter)
      }
      #expect(
        Self.isEqual(whole.events, stream.events), "seed \(seed): \(whole.events)\n not \(stream.events)")
      #expect(whole.error == nil && mismatches.isEmpty, "seed \(seed): \(mismatches.map(\.cut))")
    }
  }

  /// The two apart from how early a part was known to be complete.
  static func isEqual(_ events: [String], _ expected: [String]) -> Bool {
    var merged: [String] = []
    for event in events where event != "complete" {
      if event.hasPrefix("data "), let last = merged.last, last.hasPrefix("data ") {
        merged[merged.count - 1] = last + event.dropFirst(5)
      } else {
        merged.append(event)
      }
    }
    let complete = events.filter { $0 == "complete" }.count
    return merged == expected.filter { $0 != "complete" }
      && complete == expected.filter { $0 == "complete" }.count
  }
}
