/// One recorded load: what was asked for and every byte that went each way, the contents of a `.wire` file
/// (format: docs/FIXTURES.md). Bytes are those inside TLS.
package struct Recording: Hashable, Sendable {
  /// What is loaded on replay.
  package var load: Load
  /// The connections that were used, in the order of their lines.
  package var connections: [Connection] = []
  /// What was sent and received, in the order it happened.
  package var records: [Record] = []

  /// Makes a recording without connections.
  package init(load: Load) { self.load = load }

  /// The request, and how the recorded load's questions were answered.
  package struct Load: Hashable, Sendable {
    /// The method.
    package var method: String
    /// The absolute URL, as it was given.
    package var url: String
    /// Fields the caller had set.
    package var fields: [Field] = []
    /// The request's body; nil when it has none.
    package var body: [UInt8]?
    /// The text of each `answer` line after that word, see `Answer`.
    package var answers: [String] = []

    /// Makes a load without fields, body and answers.
    package init(method: String, url: String) {
      self.method = method
      self.url = url
    }
  }

  /// A field the caller had set.
  package struct Field: Hashable, Sendable {
    /// Its name.
    package var name: String
    /// Its value, perhaps empty.
    package var value: String

    /// Makes a field.
    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// One connection.
  package struct Connection: Hashable, Sendable {
    /// Its number in the file's records.
    package var number: Int
    /// `http` or `https`.
    package var scheme: String
    /// The host of the URL; an IPv6 address without its brackets.
    package var host: String
    /// The port, 0 to 65535.
    package var port: Int
    /// How it got there, when not directly: `unix PATH`, or a proxy.
    package var via: String?

    /// Makes a connection's description.
    package init(number: Int, scheme: String, host: String, port: Int, via: String? = nil) {
      self.number = number
      self.scheme = scheme
      self.host = host
      self.port = port
      self.via = via
    }

    /// Host and port as in a URL, with brackets around an IPv6 address.
    package var hostAndPort: String { (host.contains(":") ? "[\(host)]" : host) + ":\(port)" }
  }

  /// Something that happened on a connection.
  package struct Record: Hashable, Sendable {
    /// The number of the connection.
    package var connection: Int
    /// Microseconds since the start of the load.
    package var microseconds: Int64
    /// What happened.
    package var event: Event

    /// Makes a record.
    package init(connection: Int, microseconds: Int64, event: Event) {
      self.connection = connection
      self.microseconds = microseconds
      self.event = event
    }
  }

  /// What can happen on a connection.
  package enum Event: Hashable, Sendable {
    /// The client sent these bytes.
    case sent([UInt8])
    /// The client read these bytes, in one segment.
    case received([UInt8])
    /// The server ended its side.
    case endOfFile
    /// The server reset the connection.
    case reset
  }
}

extension Recording {
  /// The meaning of an `answer` line: what the recorded load's delegate said when it was asked.
  package enum Answer: Hashable, Sendable {
    /// `credentials USER:PASSWORD`: to a Basic challenge. The password is masked in most recordings.
    case credentials(user: String, password: String)
    /// `refuse-redirect`: nil to every redirect.
    case refuseRedirect
    /// `trust`: the certificate was not verified. There is no TLS in a replay, so it says what was, no more.
    case trust

    /// Reads the text of an `answer` line; nil when it is none of these.
    package init?(_ text: String) {
      switch text {
      case "refuse-redirect": self = .refuseRedirect
      case "trust": self = .trust
      default:
        let word = "credentials "
        guard text.hasPrefix(word), let colon = text.firstIndex(of: ":") else { return nil }
        let start = text.index(text.startIndex, offsetBy: word.count)
        guard start <= colon else { return nil }
        let user = String(text[start..<colon])
        self = .credentials(user: user, password: String(text[text.index(after: colon)...]))
      }
    }

    /// The text of the `answer` line.
    package var text: String {
      switch self {
      case .credentials(let user, let password): "credentials \(user):\(password)"
      case .refuseRedirect: "refuse-redirect"
      case .trust: "trust"
      }
    }
  }
}
