package import GannetHTTP

/// What a server says about how long its connection may be used again: the `Keep-Alive` field (RFC 2068 section
/// 19.7.1.1), whose parameters are hints, and which most servers send.
package struct KeepAlivePolicy: Equatable, Sendable {
  /// How long the connection may idle; nil when nothing was said.
  package private(set) var idleTime: Duration?
  /// How many exchanges the connection carries in all, counted from its first; nil when nothing was said.
  package private(set) var maximumExchanges: Int?

  /// Nothing has been said yet.
  package init() {}

  /// Takes in the head of a response. The first `max` counts: servers count it down from there.
  package mutating func received(_ fields: FieldList) {
    guard let value = fields["Keep-Alive"] else { return }
    for parameter in value.split(separator: ",") {
      let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
      guard parts.count == 2, let number = Int(parts[1]), number >= 0 else { continue }
      switch parts[0].lowercased() {
      case "timeout": idleTime = .seconds(min(number, 86_400))
      case "max": maximumExchanges = maximumExchanges ?? number
      default: break  // a parameter of somebody's own
      }
    }
  }

  /// Whether the connection may carry another exchange after so many.
  package func allowsAnother(after exchanges: Int) -> Bool { maximumExchanges.map { exchanges < $0 } ?? true }

  /// How long the connection is kept idle, when it would be kept for `preferred`.
  package func lifetime(preferring preferred: Duration) -> Duration {
    idleTime.map { min($0, preferred) } ?? preferred
  }
}

/// Whether the rest of a request's body is still sent when its answer has come first (RFC 9112 section 9.3: a client
/// stops when the answer says that the server does not want it).
package enum EarlyAnswerPolicy {
  /// An answer that is no success needs no more of the request; after a success the server may be reading along.
  package static func wantsRest(status: Int) -> Bool { status < 300 }
}
