import GannetExchange
import GannetHTTP
import TestSupport

/// Runs a machine over bytes and writes what it says as text.
enum Exchanging {
  /// The requests sent: each one as soon as the machine is idle and more input is there, the first at once.
  struct Client {
    var machine: ExchangeMachine
    var methods: [String]
    var mayUpgrade = false
    /// What follows the head of each request, which is sent at once, as is a body that no 100 is waited for.
    var body = ExchangeMachine.RequestBody.none
    /// Whether an end is told with the reason why nothing can follow it.
    var tellsReasons = false

    init(_ methods: [String] = ["GET"], limits: Limits = Limits()) {
      machine = ExchangeMachine(limits: limits)
      self.methods = methods
    }

    mutating func sendNext() {
      guard machine.isIdle, !methods.isEmpty else { return }
      machine.beganRequest(method: methods.removeFirst(), body: body, mayUpgrade: mayUpgrade)
      machine.sentHead()
    }
  }

  /// The outcome of the whole input, and the cuts that differ from it.
  static func outcomes(
    of bytes: [UInt8], endOfFile: Bool = true, cuts: [Cut]? = nil, _ client: Client = Client()
  ) -> (whole: Outcome, mismatches: [(cut: Cut, outcome: Outcome)]) {
    var client = client
    client.sendNext()
    return Cuts.outcomes(
      of: bytes, cuts: cuts, decoder: { client },
      take: { client, rest, outcome throws(SyntaxError) in
        let taken = try take(&client, Array(rest), &outcome)
        return (taken, taken < rest.count)
      },
      finish: { client, outcome throws(SyntaxError) in
        guard endOfFile else { return }
        while let event = try client.machine.receivedEndOfFile() { note(event, of: [], client, in: &outcome) }
      })
  }

  /// Hands `bytes` to the machine until it wants more or takes no more. Returns how many it took.
  static func take(
    _ client: inout Client, _ bytes: [UInt8], _ outcome: inout Outcome
  ) throws(SyntaxError) -> Int {
    var taken = 0
    while true {
      let rest = bytes[taken...]
      if !rest.isEmpty { client.sendNext() }
      let (consumed, event) = try client.machine.receive(rest.span)
      taken += consumed
      guard let event else { return taken }
      note(event, of: rest, client, in: &outcome)
    }
  }

  static func note(
    _ event: ExchangeMachine.Event, of bytes: ArraySlice<UInt8>, _ client: Client, in outcome: inout Outcome
  ) {
    switch event {
    case .informational(let head): outcome.add("informational \(head.status)")
    case .head(let head, let framing): outcome.add("\(head.status) \(framing)")
    case .body(let range): outcome.add(data: bytes.dropFirst(range.lowerBound).prefix(range.count))
    case .trailers(let fields): outcome.add("trailers" + fields.map { " \($0.name)=\($0.value)" }.joined())
    case .end(true): outcome.add("end")
    case .end(false):
      outcome.add(client.tellsReasons ? "end, \(client.machine.persistence)" : "end, not reusable")
    }
  }
}
