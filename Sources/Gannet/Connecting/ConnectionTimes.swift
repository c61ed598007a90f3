import GannetSockets

/// When a connection passed the phases of its opening; each is nil until then, and where there was no such phase.
/// Made for connections whose load collects metrics.
final class ConnectionTimes {
  private(set) var (lookupStart, lookupEnd): (ContinuousClock.Instant?, ContinuousClock.Instant?)
  private(set) var connectStart: ContinuousClock.Instant?
  var (secureStart, secureEnd): (ContinuousClock.Instant?, ContinuousClock.Instant?)
  /// TLS is part of connecting, as in Cocoa.
  var connectEnd: ContinuousClock.Instant?

  /// Notes how far an attempt has got.
  func note(_ attempt: Attempt) {
    (lookupStart, lookupEnd) = (attempt.lookupStart, attempt.lookupEnd)
    connectStart = attempt.connectStart
  }
}
