/// The status line and the fields of one response (RFC 9112 section 4).
public struct ResponseHead: Sendable {
  /// The minor version: 1 for HTTP/1.1, 0 for HTTP/1.0 and what is read as it (`ICY`).
  public var minorVersion: UInt8
  /// The status code, 100 to 999.
  public var status: Int
  /// What was tolerated in reading it.
  public var tolerated: Tolerances = []

  private var list: FieldList

  /// The reason phrase, or where it lies in the bytes that `list` holds.
  private enum Phrase: Sendable {
    case text(String)
    case received(from: UInt32, to: UInt32)
  }

  private var phrase: Phrase

  /// Makes a head.
  public init(minorVersion: UInt8 = 1, status: Int, reason: String = "", fields: FieldList = FieldList()) {
    self.minorVersion = minorVersion
    self.status = status
    list = fields
    phrase = .text(reason)
  }

  /// Makes the head of a status line whose reason phrase lies in the bytes of `fields`.
  init(_ line: StatusLine, fields: FieldList) {
    minorVersion = line.minorVersion
    status = line.status
    list = fields
    phrase = .received(
      from: UInt32(truncatingIfNeeded: line.reason.lowerBound),
      to: UInt32(truncatingIfNeeded: line.reason.upperBound))
  }

  /// The fields in the order received.
  public var fields: FieldList {
    get { list }
    set {
      phrase = .text(reason)
      list = newValue
    }
  }

  /// The reason phrase; empty when there is none. Bytes that are not UTF-8 are read as Latin-1. The text of one that
  /// was received is made each time it is asked for.
  public var reason: String {
    get {
      switch phrase {
      case .text(let text): text
      case .received(let start, let end):
        list.text(Int(start)..<Int(end))
      }
    }
    set { phrase = .text(newValue) }
  }
}

extension ResponseHead: Hashable {
  /// Whether both have the same version, status, reason phrase and fields, and as much was tolerated.
  public static func == (left: ResponseHead, right: ResponseHead) -> Bool {
    left.minorVersion == right.minorVersion && left.status == right.status && left.reason == right.reason
      && left.fields == right.fields && left.tolerated == right.tolerated
  }

  /// Feeds all of it.
  public func hash(into hasher: inout Hasher) {
    hasher.combine(minorVersion)
    hasher.combine(status)
    hasher.combine(reason)
    hasher.combine(fields)
    hasher.combine(tolerated)
  }
}
