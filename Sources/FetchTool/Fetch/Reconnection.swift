package import Gannet

/// How long to wait before a stream that ended or failed is loaded again: twice as long each time, up to a minute, and
/// from the beginning once a part was complete.
package struct Reconnection: Hashable, Sendable {
  /// The longest wait.
  package static let longest = Duration.seconds(60)

  private let first: Duration
  private var next: Duration

  /// - Parameter first: the first wait, no longer than the longest.
  package init(first: Duration) {
    self.first = min(first, Self.longest)
    next = self.first
  }

  /// The wait before the next attempt.
  package mutating func wait() -> Duration {
    defer { next = min(next * 2, Self.longest) }
    return next
  }

  /// A part was complete.
  package mutating func succeeded() { next = first }

  /// Whether what went wrong may be otherwise the next time: the way to the server, or what it sent.
  package static func mayMend(_ code: ConnectionError.Code) -> Bool {
    switch code {
    case .timedOut, .cannotFindHost, .dnsLookupFailed, .cannotConnectToHost, .networkConnectionLost,
      .badServerResponse, .cannotParseResponse:
      true
    default: false
    }
  }
}
