import GannetHTTP
import GannetMultipart
import TestSupport

/// Runs a splitter over bytes and writes what it says as text.
enum Splitting {
  /// The outcome of the whole input, and how it was cut or chunked where that made another one.
  static func outcomes(
    of bytes: [UInt8], endOfFile: Bool = true, _ make: () -> MixedReplaceSplitter
  ) -> (whole: Outcome, mismatches: [(cut: String, outcome: Outcome)]) {
    func finish(_ splitter: inout MixedReplaceSplitter, _ outcome: inout Outcome) throws(SyntaxError) {
      guard endOfFile else { return }
      while let event = try splitter.receivedEndOfFile() { note(event, of: [], in: &outcome) }
    }
    let (whole, mismatches) = Cuts.outcomes(
      of: bytes, decoder: make,
      take: { splitter, rest, outcome throws(SyntaxError) in
        (try take(&splitter, Array(rest), &outcome), false)
      }, finish: finish)
    var named = mismatches.map { (cut: "\($0.cut)", outcome: $0.outcome) }
    // Chunks, their borders within delimiters too.
    for size in [1, 2, 3, 7, 64] {
      var splitter = make()
      var outcome = Outcome()
      do throws(SyntaxError) {
        try take(&splitter, chunked: chunks(of: bytes, size: size), &outcome)
        try finish(&splitter, &outcome)
      } catch { outcome.error = error }
      outcome.endData()
      outcome.leftOver = whole.leftOver
      if outcome != whole { named.append(("chunks of \(size)", outcome)) }
    }
    return (whole, named)
  }

  /// The bytes in chunked coding (RFC 9112 section 7.1).
  private static func chunks(of bytes: [UInt8], size: Int) -> [UInt8] {
    stride(from: 0, to: bytes.count, by: size).reduce(into: []) { wire, start in
      let chunk = bytes[start..<min(start + size, bytes.count)]
      wire += Bytes.latin1(String(chunk.count, radix: 16) + "\r\n") + chunk + Bytes.latin1("\r\n")
    } + Bytes.latin1("0\r\n\r\n")
  }

  private static func take(
    _ splitter: inout MixedReplaceSplitter, chunked wire: [UInt8], _ outcome: inout Outcome
  ) throws(SyntaxError) {
    var decoder = ChunkedDecoder()
    var rest = wire[...]
    while true {
      let (consumed, step) = try decoder.step(rest.span)
      guard case .body(let range) = step else { return }
      _ = try take(&splitter, Array(rest.dropFirst(range.lowerBound).prefix(range.count)), &outcome)
      rest = rest.dropFirst(consumed)
    }
  }

  /// Hands `bytes` to the splitter until it wants more. Returns how many it took.
  static func take(
    _ splitter: inout MixedReplaceSplitter, _ bytes: [UInt8], _ outcome: inout Outcome
  ) throws(SyntaxError) -> Int {
    var taken = 0
    while true {
      let rest = Array(bytes[taken...])
      let (consumed, event) = try splitter.step(rest.span)
      taken += consumed
      guard let event else { return taken }
      note(event, of: rest, in: &outcome)
    }
  }

  static func note(_ event: MixedReplaceSplitter.Event, of bytes: [UInt8], in outcome: inout Outcome) {
    switch event {
    case .partBegan(let fields):
      outcome.add("part" + fields.map { " \($0.name)=\($0.value)" }.joined(separator: ";"))
    case .data(let range): outcome.add(data: bytes[range])
    case .held(let held): outcome.add(data: held)
    case .partCompleted: outcome.add("complete")
    case .partEnded: outcome.add("ended")
    case .finished: outcome.add("finished")
    case .unsplit: outcome.add("unsplit")
    }
  }
}
