public import GannetHTTP

/// One way of handing bytes to a decoder: whole, byte by byte, or in two pieces.
public enum Cut: Hashable, Sendable, CustomStringConvertible {
  case whole
  case everyByte
  case at(Int)

  /// For a person.
  public var description: String {
    switch self {
    case .whole: "whole"
    case .everyByte: "byte by byte"
    case .at(let position): "cut at \(position)"
    }
  }

  /// Every cut of `count` bytes: whole, byte by byte, and each place for two pieces. Past `fullUpTo` bytes the
  /// places are a stride of that many.
  public static func all(of count: Int, fullUpTo limit: Int = 4096) -> [Cut] {
    guard count > 1 else { return [.whole] }
    let step = max(1, count / limit)
    return [.whole, .everyByte] + stride(from: 1, to: count, by: step).map { .at($0) }
  }

  /// The pieces of `bytes`, in order.
  public func pieces(of bytes: [UInt8]) -> [ArraySlice<UInt8>] {
    switch self {
    case .whole: [bytes[...]]
    case .everyByte: bytes.indices.map { bytes[$0...$0] }
    case .at(let position): [bytes[..<position], bytes[position...]]
    }
  }
}

/// What a decoder made of an input: its events as text, adjacent data merged, then its error or the bytes it left.
public struct Outcome: Equatable, Sendable, CustomStringConvertible {
  /// The events, in order, as text.
  public private(set) var events: [String] = []
  /// The error that ended it, if any.
  public var error: SyntaxError?
  /// Bytes of the input not consumed when it ended.
  public var leftOver = 0
  private var data: [UInt8] = []

  /// Makes an outcome without events.
  public init() {}

  /// Adds an event.
  public mutating func add(_ event: String) {
    endData()
    events.append(event)
  }

  /// Adds data, merged with the data before it when no event came between.
  public mutating func add(data piece: some Sequence<UInt8>) { data.append(contentsOf: piece) }

  /// Ends a run of data. `Cuts.outcome` calls it at the end.
  public mutating func endData() {
    guard !data.isEmpty else { return }
    events.append("data " + Bytes.text(data))
    data = []
  }

  /// For a person.
  public var description: String {
    let failure = error.map { " error \($0.rule.rawValue) at \($0.offset): \($0.reason)" } ?? ""
    return events.joined(separator: " | ") + failure + (leftOver > 0 ? " left \(leftOver)" : "")
  }
}

/// Drives a decoder over an input at each cut.
public enum Cuts {
  /// What one call of a decoder said: bytes consumed, and whether it has ended and takes no more.
  public typealias Taken = (consumed: Int, ended: Bool)

  /// Runs a new decoder over `bytes` at one cut. `take` gives it the rest of a piece and notes what came of it in
  /// the outcome; it is called again until the piece is consumed, so a decoder that consumes nothing and says
  /// nothing new in `stallLimit` calls is reported as the event `stalled`.
  public static func outcome<Decoder>(
    of bytes: [UInt8], cut: Cut, decoder make: () -> Decoder,
    take: (inout Decoder, ArraySlice<UInt8>, inout Outcome) throws(SyntaxError) -> Taken,
    finish: (inout Decoder, inout Outcome) throws(SyntaxError) -> Void = { _, _ in }
  ) -> Outcome {
    let stallLimit = 16
    var decoder = make()
    var outcome = Outcome()
    var total = 0
    do throws(SyntaxError) {
      for piece in cut.pieces(of: bytes) {
        var rest = piece
        var stalls = 0
        while !rest.isEmpty {
          let (consumed, ended) = try take(&decoder, rest, &outcome)
          guard consumed >= 0, consumed <= rest.count else {
            outcome.add("consumed \(consumed) of \(rest.count)")
            return outcome
          }
          rest = rest.dropFirst(consumed)
          total += consumed
          if ended {
            outcome.endData()
            outcome.leftOver = bytes.count - total
            return outcome
          }
          stalls = consumed == 0 ? stalls + 1 : 0
          if stalls > stallLimit {
            outcome.add("stalled")
            return outcome
          }
        }
      }
      try finish(&decoder, &outcome)
    } catch {
      outcome.error = error
    }
    outcome.endData()
    return outcome
  }

  /// Runs new decoders over `bytes` at every cut, or at `cuts`. Returns what came of the whole, and each cut whose
  /// outcome differs from it.
  public static func outcomes<Decoder>(
    of bytes: [UInt8], cuts: [Cut]? = nil, decoder make: () -> Decoder,
    take: (inout Decoder, ArraySlice<UInt8>, inout Outcome) throws(SyntaxError) -> Taken,
    finish: (inout Decoder, inout Outcome) throws(SyntaxError) -> Void = { _, _ in }
  ) -> (whole: Outcome, mismatches: [(cut: Cut, outcome: Outcome)]) {
    let whole = outcome(of: bytes, cut: .whole, decoder: make, take: take, finish: finish)
    var mismatches: [(cut: Cut, outcome: Outcome)] = []
    for cut in cuts ?? Cut.all(of: bytes.count) where cut != .whole {
      let other = outcome(of: bytes, cut: cut, decoder: make, take: take, finish: finish)
      if other != whole { mismatches.append((cut, other)) }
    }
    return (whole, mismatches)
  }
}

/// Bytes written as text: each code point up to U+00FF is one byte.
public enum Bytes {
  /// The bytes of `text`, whose characters are code points up to U+00FF.
  public static func latin1(_ text: String) -> [UInt8] {
    text.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
  }

  /// The text of `bytes`, each byte as the code point of its number.
  public static func text(_ bytes: some Sequence<UInt8>) -> String {
    var text = ""
    for byte in bytes { text.unicodeScalars.append(Unicode.Scalar(byte)) }
    return text
  }
}
