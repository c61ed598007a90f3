import GannetHTTP
import TestSupport
import Testing

/// The three decoders as the cut driver wants them.
enum Decoders {
  static func head(
    _ bytes: [UInt8], limits: Limits = Limits()
  ) -> (whole: Outcome, mismatches: [(cut: Cut, outcome: Outcome)]) {
    Cuts.outcomes(of: bytes, decoder: { ResponseHeadDecoder(limits: limits) }) {
      decoder, piece, outcome throws(SyntaxError) in
      let (consumed, head) = try decoder.step(piece.span)
      if let head { outcome.add(describe(head)) }
      return (consumed, head != nil)
    }
  }

  static func fields(
    _ context: FieldSectionDecoder.Context, _ bytes: [UInt8], limits: Limits = Limits()
  ) -> (whole: Outcome, mismatches: [(cut: Cut, outcome: Outcome)]) {
    Cuts.outcomes(of: bytes, decoder: { FieldSectionDecoder(context, limits: limits) }) {
      decoder, piece, outcome throws(SyntaxError) in
      let (consumed, fields) = try decoder.step(piece.span)
      if let fields { outcome.add(describe(fields)) }
      return (consumed, fields != nil)
    }
  }

  static func chunked(
    _ bytes: [UInt8], limits: Limits = Limits()
  ) -> (whole: Outcome, mismatches: [(cut: Cut, outcome: Outcome)]) {
    Cuts.outcomes(of: bytes, decoder: { ChunkedDecoder(limits: limits) }) {
      decoder, piece, outcome throws(SyntaxError) in
      let (consumed, step) = try decoder.step(piece.span)
      switch step {
      case .needsInput: return (consumed, false)
      case .body(let range):
        outcome.add(data: piece.dropFirst(range.lowerBound).prefix(range.count))
        return (consumed, false)
      case .trailers(let fields):
        outcome.add("end " + describe(fields))
        return (consumed, true)
      }
    }
  }

  static func describe(_ fields: FieldList) -> String {
    "[" + fields.map { "\($0.name)=\($0.value)" }.joined(separator: "; ") + "]"
  }

  static func describe(_ head: ResponseHead) -> String {
    "1.\(head.minorVersion) \(head.status) <\(head.reason)> " + describe(head.fields)
      + (head.tolerated.isEmpty ? "" : " tolerated \(head.tolerated)")
  }
}

/// One row of a table: an input, and what comes of it at every cut, as `Outcome` prints it (an error's reason left
/// out), like `1.1 200 <OK> []` or `error line-end at 7`.
struct Row: Sendable, CustomTestStringConvertible {
  let input: String
  let expected: String

  init(_ input: String, _ expected: String) {
    self.input = input
    self.expected = expected
  }

  var testDescription: String { input.debugDescription }

  /// Checks the row against what came of it.
  func check(_ result: (whole: Outcome, mismatches: [(cut: Cut, outcome: Outcome)])) {
    var parts = result.whole.events
    if let error = result.whole.error { parts.append("error \(error.rule.rawValue) at \(error.offset)") }
    if result.whole.leftOver > 0 { parts.append("left \(result.whole.leftOver)") }
    #expect(parts.joined(separator: " | ") == expected)
    for (cut, outcome) in result.mismatches { Issue.record("\(cut): \(outcome)") }
  }
}
