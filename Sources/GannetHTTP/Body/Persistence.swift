/// Whether the connection can carry another request after this response, and if not, why (RFC 9112 section 9.3).
public enum Persistence: Hashable, Sendable {
  /// It can.
  case reusable
  /// The server said `Connection: close` (or `Proxy-Connection: close`).
  case closeRequested
  /// HTTP/1.0 without `Connection: keep-alive`.
  case http10
  /// The body ends with the connection.
  case framedByClose
  /// Transfer-Encoding came with Content-Length: the two may have been read differently on the way (RFC 9112
  /// section 6.3).
  case lengthWithTransferEncoding
  /// Transfer-Encoding came in an HTTP/1.0 response, which has none (RFC 9112 section 6.1).
  case transferEncodingInHTTP10
  /// Something was tolerated that another reader may read otherwise.
  case tolerated(Tolerances)
  /// The connection speaks another protocol from here on.
  case upgraded
  /// The response ended before the whole request had been sent.
  case requestUnfinished
  /// The server has ended its side of the connection.
  case closed
  /// A rule of syntax was broken, or bytes came that answer nothing: where a message begins is not known any more.
  case outOfStep

  /// Whether this is `reusable`.
  public var isReusable: Bool { self == .reusable }
}

extension Persistence {
  /// What the head says, of a response with this framing, in deciding which `tolerated` was.
  static func decide(
    for head: ResponseHead, framing: BodyFraming, tolerated: Tolerances
  ) -> Persistence {
    if framing == .upgrade { return .upgraded }
    if head.status >= 200, let reason = reasonToClose(head, framing) { return reason }
    let tolerated = head.tolerated.union(tolerated)
    return tolerated.isEmpty ? .reusable : .tolerated(tolerated)
  }

  private static func reasonToClose(_ head: ResponseHead, _ framing: BodyFraming) -> Persistence? {
    let fields = head.fields
    if fields.hasToken("close", in: "Connection") || fields.hasToken("close", in: "Proxy-Connection") {
      return .closeRequested
    }
    if head.minorVersion == 0 {
      if framing == .chunked { return .transferEncodingInHTTP10 }
      if !fields.hasToken("keep-alive", in: "Connection") { return .http10 }
    }
    switch framing {
    case .close: return .framedByClose
    case .chunked: return fields.contains("Content-Length") ? .lengthWithTransferEncoding : nil
    case .none, .length, .upgrade: return nil
    }
  }
}
