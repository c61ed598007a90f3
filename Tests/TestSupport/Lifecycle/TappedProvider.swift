package import Gannet
package import GannetHTTP
package import GannetSockets

/// A byte of what a load receives, counted over all its connections.
package struct ReceivedByte: Hashable, Sendable {
  /// Its number, from 1; 0 is before the first.
  package var number: Int
  /// Whether the load has processed it, or has only just taken it from its transport.
  package var isProcessed: Bool

  /// The byte of this number.
  package init(_ number: Int, isProcessed: Bool) {
    self.number = number
    self.isProcessed = isProcessed
  }
}

/// Stands between a load and its server in memory: does something once when a byte has come, does to each connection
/// what a plan of faults says, and counts transports.
package final class TappedProvider: TransportProvider {
  /// What is received up to the byte, and whether what is to be done there has been.
  private struct Tap: Sendable {
    var received = 0
    var hasFired = false
  }

  private let base: any TransportProvider
  private let census: Census
  private let plan: FaultPlan?
  private let place: ReceivedByte?
  private let action: @Sendable () -> Void
  fileprivate let watch: LoadWatch?
  private let tap = Guarded(Tap())

  /// Loads from `base`; at `place` does `action`. What is sent is told to `watch`.
  package init(
    _ base: any TransportProvider, _ census: Census, _ watch: LoadWatch? = nil, plan: FaultPlan? = nil,
    at place: ReceivedByte? = nil,
    _ action: @escaping @Sendable () -> Void = {}
  ) {
    self.base = base
    self.census = census
    self.plan = plan
    self.place = place
    self.action = action
    self.watch = watch
  }

  /// Whether what is to be done at the byte has been done.
  package var hasFired: Bool { tap.withLock { $0.hasFired } }

  /// How many bytes have been received.
  package var received: Int { tap.withLock { $0.received } }

  package func makeTransport(to origin: Origin, on loop: EventLoop) -> any StreamTransport {
    var transport = base.makeTransport(to: origin, on: loop)
    if let plan { transport = FaultInjectingTransport(wrapping: transport, plan: plan, on: loop) }
    return TappedTransport(transport, self, census.token(.transport))
  }

  /// How many bytes may be received now: no more than up to the place.
  fileprivate func room(_ count: Int) -> Int {
    guard let place else { return count }
    let (received, hasFired) = tap.withLock { ($0.received, $0.hasFired) }
    guard !hasFired else { return count }
    if received >= place.number {
      if place.isProcessed || place.number == 0 { fire() }
      return count
    }
    return min(count, place.number - received)
  }

  fileprivate func received(_ count: Int) {
    let isThere = tap.withLock { tap in
      tap.received += count
      return tap.received == place?.number && !tap.hasFired
    }
    if isThere, place?.isProcessed == false { fire() }
  }

  private func fire() {
    tap.withLock { $0.hasFired = true }
    action()
  }
}

private final class TappedTransport: StreamTransport {
  private let base: any StreamTransport
  private let provider: TappedProvider
  private let token: Census.Token

  init(_ base: any StreamTransport, _ provider: TappedProvider, _ token: Census.Token) {
    self.base = base
    self.provider = provider
    self.token = token
  }

  func receive(into buffer: inout MutableSpan<UInt8>) -> ReceiveOutcome {
    var part = buffer._mutatingExtracting(first: provider.room(buffer.count))
    let outcome = base.receive(into: &part)
    if case .bytes(let count) = outcome { provider.received(count) }
    return outcome
  }

  var onReady: ((Readiness) -> Void)? {
    get { base.onReady }
    set { base.onReady = newValue }
  }
  func lookAgain() { base.lookAgain() }
  func send(_ bytes: Span<UInt8>) -> SendOutcome {
    provider.watch?.sends(bytes.count)
    return base.send(bytes)
  }
  func wantWrite(_ wanted: Bool) { base.wantWrite(wanted) }
  func pauseReading(_ paused: Bool) { base.pauseReading(paused) }
  func finishWriting() { base.finishWriting() }
  func close() { base.close() }
}

extension EventLoop {
  /// Takes turns until nothing is live any more and nothing is left to do. Where all waits for time it lets a second pass,
  /// so many at most. False when something is still live then.
  package func turnUntilIdle(turns: Int = 200_000, seconds: Int = 400) -> Bool {
    var (turns, seconds) = (turns, seconds)
    while !isIdle {
      guard turns > 0 else { return false }
      turns -= 1
      poll()
      if !hasWork, !isIdle {
        guard seconds > 0 else { return false }
        seconds -= 1
        advance(by: .seconds(1))
      }
    }
    return true
  }
}
