import FoundationEssentials
package import GannetHTTP

/// One line of what `gannet parse` prints (docs/INTERFACES.md).
package enum ParseEvent: Hashable, Sendable {
  case informational(ResponseHead)
  case head(ResponseHead, BodyFraming)
  case part(index: Int, FieldList)
  /// Data of the response, or of the part: all of it up to the next event.
  case body([UInt8])
  case trailers(FieldList)
  case end(reusable: Bool)
  /// Bytes after the end of a response that no other can follow.
  case unexpected(length: Int)
  /// The offset counts from the start of the input.
  case error(rule: String, reason: String, offset: Int64)
  /// Cutting the input here changed the events.
  case mismatch(cut: Int)

  /// Whether this makes the command fail.
  package var isFailure: Bool {
    switch self {
    case .error, .mismatch: true
    case .informational, .head, .part, .body, .trailers, .end, .unexpected: false
    }
  }

  /// The event as a line of JSON.
  package var line: JSONLine {
    var line = JSONLine(event: name)
    switch self {
    case .informational(let head):
      line.add("status", head.status)
      line.add("reason", head.reason)
      line.add("fields", head.fields)
    case .head(let head, let framing):
      line.add("version", "1.\(head.minorVersion)")
      line.add("status", head.status)
      line.add("reason", head.reason)
      line.add("fields", head.fields)
      line.add("framing", framing.text)
    case .part(let index, let fields):
      line.add("index", index)
      line.add("fields", fields)
    case .body(let bytes): line.add("base64", Data(bytes).base64EncodedString())
    case .trailers(let fields): line.add("fields", fields)
    case .end(let reusable): line.add("reusable", reusable)
    case .unexpected(let length): line.add("length", length)
    case .error(let rule, let reason, let offset):
      line.add("rule", rule)
      line.add("reason", reason)
      line.add("offset", offset)
    case .mismatch(let cut): line.add("cut", cut)
    }
    return line
  }

  private var name: String {
    switch self {
    case .informational: "informational"
    case .head: "head"
    case .part: "part"
    case .body: "body"
    case .trailers: "trailers"
    case .end: "end"
    case .unexpected: "unexpected"
    case .error: "error"
    case .mismatch: "mismatch"
    }
  }
}

extension BodyFraming {
  fileprivate var text: String {
    switch self {
    case .none: "none"
    case .length(let length): "length:\(length)"
    case .chunked: "chunked"
    case .close: "close"
    case .upgrade: "upgrade"
    }
  }
}
