extension BodyFraming {
  /// Decides how the body of a response ends, and whether the connection can be used again (RFC 9112 section 6.3).
  ///
  /// Ambiguous framing is an error, not a guess. Transfer-Encoding counts before Content-Length:
  /// - `chunked` alone: chunks, also in HTTP/1.0;
  /// - another coding than `identity`, or `chunked` twice, before a final `chunked`: an error, as it cannot be taken off;
  /// - anything else in it (`chunked, gzip`, `identity`, `"chunked"`): all until the connection ends.
  ///
  /// Content-Length may be repeated, as a list or as several fields, when all its members are the same number. A
  /// sign, any other byte but digits, an empty member, or a number past 2⁶³−1 is an error.
  ///
  /// A length of 0 of a `multipart/x-mixed-replace` stream is not believed when the server ends the connection with the
  /// response.
  ///
  /// - Parameters:
  ///   - head: the response's head.
  ///   - method: the method of the request it answers, as sent.
  /// - Throws: `content-length` or `transfer-encoding`, with the place of the value in the decoder's input.
  public static func decide(
    for head: ResponseHead, answering method: String
  ) throws(SyntaxError) -> (framing: BodyFraming, keepAlive: Persistence) {
    let (framing, tolerated) = try framing(of: head, answering: method)
    let keepAlive = Persistence.decide(for: head, framing: framing, tolerated: tolerated)
    // A camera's stream has no length; one of 0 is a default that nobody set. Nothing follows on this connection that
    // could be mistaken for the body.
    if framing == .length(0), keepAlive == .http10 || keepAlive == .closeRequested,
      MediaType(contentTypeOf: head.fields)?.essence == "multipart/x-mixed-replace"
    {
      return (.close, keepAlive)
    }
    return (framing, keepAlive)
  }

  private static func framing(
    of head: ResponseHead, answering method: String
  ) throws(SyntaxError) -> (BodyFraming, Tolerances) {
    switch head.status {
    case 101: return (.upgrade, [])
    case 100..<200, 204: return (.none, tellsOfBody(head.fields) ? .lengthWithoutBody : [])
    case 304: return (.none, [])
    case 200..<300 where method == "CONNECT": return (.upgrade, [])
    default: break
    }
    if method == "HEAD" { return (.none, []) }
    if head.fields.contains("Transfer-Encoding") {
      let (isChunked, tolerated) = try hasFinalChunked(head.fields)
      return isChunked ? (.chunked, tolerated) : (.close, [])
    }
    guard let (length, tolerated) = try contentLength(head.fields) else { return (.close, []) }
    return (.length(length), tolerated)
  }

  /// Whether the fields speak of a body that is not empty.
  private static func tellsOfBody(_ fields: FieldList) -> Bool {
    if fields.contains("Transfer-Encoding") { return true }
    var isEmpty = true
    fields.forEachElement(of: "Content-Length") { member, _, _ in
      isEmpty = isEmpty && member.equalsIgnoringCase("0")
    }
    return !isEmpty
  }

  private static func hasFinalChunked(_ fields: FieldList) throws(SyntaxError) -> (Bool, Tolerances) {
    var elements = 0
    var count = 0
    var lastIsChunked = false
    var last: (offset: Int64, byte: UInt8?) = (0, nil)
    fields.forEachElement(of: "Transfer-Encoding") { coding, offset, _ in
      elements += 1
      guard !coding.isEmpty else { return }
      if !coding.equalsIgnoringCase("identity") { count += 1 }
      lastIsChunked = coding.equalsIgnoringCase("chunked")
      last = (offset, coding[0])
    }
    if lastIsChunked && count > 1 {
      throw SyntaxError(
        .transferEncoding, byte: last.byte, at: last.offset,
        "a transfer coding under chunked that cannot be decoded")
    }
    return (lastIsChunked, elements == 1 ? [] : .codingSpelling)
  }

  /// The value of Content-Length, or nil when there is none.
  private static func contentLength(_ fields: FieldList) throws(SyntaxError) -> (Int64, Tolerances)? {
    var length: Int64?
    var tolerated: Tolerances = []
    try fields.forEachElement(of: "Content-Length") { (member, offset, comma) throws(SyntaxError) in
      let value = try parseLength(member, at: offset, followedBy: comma)
      if let length, length != value {
        throw SyntaxError(.contentLength, byte: member[0], at: offset, "Content-Length fields that differ")
      }
      length = value
      if member.count > 1, member[0] == 0x30 { tolerated = .lengthSpelling }
    }
    return length.map { ($0, tolerated) }
  }

  private static func parseLength(
    _ text: Span<UInt8>, at offset: Int64, followedBy comma: UInt8?
  ) throws(SyntaxError) -> Int64 {
    guard !text.isEmpty else {
      throw SyntaxError(.contentLength, byte: comma, at: offset, "an empty Content-Length")
    }
    var value: Int64 = 0
    for index in text.indices {
      let byte = text[index]
      guard byte.isDigit else {
        throw SyntaxError(
          .contentLength, byte: byte, at: offset + Int64(index), "a Content-Length that is not a number")
      }
      let (tens, overflow) = value.multipliedReportingOverflow(by: 10)
      let (sum, carry) = tens.addingReportingOverflow(Int64(byte - 0x30))
      if overflow || carry {
        throw SyntaxError(
          .contentLength, byte: byte, at: offset + Int64(index), "a Content-Length past 2^63-1")
      }
      value = sum
    }
    return value
  }
}
