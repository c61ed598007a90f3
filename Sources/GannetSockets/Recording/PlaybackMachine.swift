/// Plays the server's side of one recorded connection: says what to send, and when to wait for the client. A record
/// of the client's waits for one whole request, whatever its bytes.
///
/// Where the recorded server spoke in the middle of a request (100 Continue), the records before and after it are
/// one request: the first waits for the head, the last for the rest. Where it answered before any of the body came, it
/// does so again.
package struct PlaybackMachine: Sendable {
  /// What the driver is to do now.
  package enum Action: Hashable, Sendable {
    /// Hand these bytes to the client, as one segment.
    case send([UInt8])
    /// End the server's side.
    case end
    /// Reset the connection.
    case reset
    /// Give `receive` what the client sends.
    case awaitClient
    /// The recording of this connection is over, and it was left open.
    case finished
  }

  private enum Step: Hashable {
    case awaitHead, awaitRequest
    case perform(Action)
  }

  private let steps: [Step]
  private var position = 0
  private var scanner: RequestScanner

  /// Whether the server speaks first.
  package var beginsByItself: Bool {
    if case .perform = steps.first { true } else { false }
  }

  /// Plays the connection with this number. `scanner` may already have read the first request, or its beginning.
  package init(_ recording: Recording, connection: Int, scanner: RequestScanner = RequestScanner()) {
    self.init(recording.records.filter { $0.connection == connection }.map(\.event), scanner: scanner)
  }

  /// Plays `events`, those of one connection. Consecutive segments of the server stay as they are.
  package init(_ events: [Recording.Event], scanner: RequestScanner = RequestScanner()) {
    var steps: [Step] = []
    var recorded = RequestScanner()
    for (index, event) in events.enumerated() {
      switch event {
      case .sent(let bytes):
        // Only a request of which the recording has the head is known to go on in the next record.
        if recorded.progress != .body { recorded = RequestScanner() }
        var read = 0
        var headEnd = 0
        while read < bytes.count, recorded.progress != .ended {
          let wasInHead = recorded.progress == .head
          read += recorded.step(bytes.span.extracting(read..<bytes.count))
          if wasInHead { headEnd = read }
        }
        let continues =
          recorded.progress == .body && (headEnd == bytes.count || Self.hasSent(events[(index + 1)...]))
        if !continues { recorded = RequestScanner() }
        steps.append(continues ? .awaitHead : .awaitRequest)
      case .received(let bytes): if !bytes.isEmpty { steps.append(.perform(.send(bytes))) }
      case .endOfFile: steps.append(.perform(.end))
      case .reset: steps.append(.perform(.reset))
      }
    }
    self.steps = steps
    self.scanner = scanner
  }

  private static func hasSent(_ events: ArraySlice<Recording.Event>) -> Bool {
    events.contains { if case .sent = $0 { true } else { false } }
  }

  /// What to do now; each call gives the next step, and the same again while the client is waited for.
  package mutating func next() -> Action {
    while position < steps.count {
      switch steps[position] {
      case .perform(let action):
        position += 1
        return action
      case .awaitHead:
        guard scanner.progress != .head else { return .awaitClient }
      case .awaitRequest:
        guard scanner.progress == .ended else { return .awaitClient }
        scanner = RequestScanner()
      }
      position += 1
    }
    return .finished
  }

  /// Reads what the client sent. Gives how many bytes were taken: up to the end of the request (or of its head) that
  /// is waited for. None when nothing is waited for.
  package mutating func receive(_ input: Span<UInt8>) -> Int {
    guard position < steps.count else { return 0 }
    var taken = 0
    while taken < input.count, isWaiting {
      taken += scanner.step(input.extracting(taken..<input.count))
    }
    return taken
  }

  private var isWaiting: Bool {
    switch steps[position] {
    case .awaitHead: scanner.progress == .head
    case .awaitRequest: scanner.progress != .ended
    case .perform: false
    }
  }
}
