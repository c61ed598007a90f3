package import GannetHTTP

/// What a server says about how long its connection may be used again: the `Keep-Alive` field (RFC 2068 section
/// 19.7.1.1), whose parameters are hints, and which most servers send.
package struct KeepAlivePolicy: Equatable, Sendable {
  /// How long the connection may idle; nil when nothing was said.
  package private(set) var idleTime: Duration?
  /// How many exchanges the connection carries in all, counted from its first; nil when nothing was said.
  package private(set) var maximumExchanges: Int?

  /// Whether the response before said that it is the last, or the last but one.
  private var isNearItsEnd = false

  /// A request that is on its way when the server's time is over meets a closed connection: so much of it is given up,
  /// but no more than half.
  private static let margin = Duration.seconds(1)

  /// Nothing has been said yet.
  package init() {}

  /// Takes in the head of a response. The first `max` counts, since most servers count it down from there and some say
  /// the same each time; one of 1 or 0 ends the connection whenever it comes.
  package mutating func received(_ fields: FieldList) {
    let values = fields.values(for: "Keep-Alive")
    guard !values.isEmpty else { return }
    isNearItsEnd = false
    for parameter in values.joined(separator: ",").split(separator: ",") {
      let parts = parameter.split(separator: "=", maxSplits: 1).map { $0.filter { $0 != " " && $0 != "\t" } }
      guard parts.count == 2, let number = Int(parts[1]), number >= 0 else { continue }
      switch parts[0].lowercased() {
      case "timeout": idleTime = .seconds(min(number, 86_400))
      case "max":
        maximumExchanges = maximumExchanges ?? number
        isNearItsEnd = number <= 1
      default: break  // a parameter of somebody's own
      }
    }
  }

  /// Whether the connection may carry another exchange after so many.
  package func allowsAnother(after exchanges: Int) -> Bool {
    !isNearItsEnd && maximumExchanges.map { exchanges < $0 } ?? true
  }

  /// How long the connection is kept idle, when it would be kept for `preferred`: never to the end of the server's time.
  package func lifetime(preferring preferred: Duration) -> Duration {
    idleTime.map { min($0 - min(KeepAlivePolicy.margin, $0 / 2), preferred) } ?? preferred
  }
}
