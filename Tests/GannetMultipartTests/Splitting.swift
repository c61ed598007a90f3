import GannetHTTP
import GannetMultipart
import TestSupport

/// Runs a splitter over bytes and writes what it says as text.
enum Splitting {
  /// The outcome of the whole input, and the cuts that differ from it.
  static func outcomes(
    of bytes: [UInt8], endOfFile: Bool = true, _ make: () -> MixedReplaceSplitter
  ) -> (whole: Outcome, mismatches: [(cut: Cut, outcome: Outcome)]) {
    Cuts.outcomes(
      of: bytes, decoder: make,
      take: { splitter, rest, outcome throws(SyntaxError) in
        (try take(&splitter, Array(rest), &outcome), false)
      },
      finish: { splitter, outcome throws(SyntaxError) in
        guard endOfFile else { return }
        while let event = try splitter.receivedEndOfFile() { note(event, of: [], in: &outcome) }
      })
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
    case .partEnded(let complete): outcome.add(complete ? "ended" : "stopped")
    case .finished: outcome.add("finished")
    case .unsplit: outcome.add("unsplit")
    }
  }
}
