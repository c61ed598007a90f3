/// The request line and the fields of one request (RFC 9112 section 3).
public struct RequestHead: Hashable, Sendable {
  /// The method, a token; its case counts.
  public var method: String
  /// The request target as it is sent: a path with a query, an absolute URL to a proxy, `host:port` or `*`.
  public var target: String
  /// The fields, in the order they are sent.
  public var fields: FieldList
  /// The minor version of HTTP/1 it is sent as: 1, or 0 for old devices.
  public var minorVersion: UInt8

  /// Makes a head. Nothing is checked until it is written.
  public init(method: String, target: String, fields: FieldList = FieldList(), minorVersion: UInt8 = 1) {
    self.method = method
    self.target = target
    self.fields = fields
    self.minorVersion = minorVersion
  }

  /// Writes the head with its empty line at the end of `output`.
  ///
  /// - Throws: what cannot be sent: a method or a field name that is not a token, a control byte (CR, LF and NUL
  ///   above all) in a field value, a byte in the target that is not a visible ASCII character. Nothing has been
  ///   written then.
  public func append(to output: inout [UInt8]) throws(RequestError) {
    try RequestError.check(method, .method) { $0.isToken }
    try RequestError.check(target, .target) { $0 > 0x20 && $0 < 0x7F }
    try fields.checkForSending()
    output.reserveCapacity(
      output.count + method.utf8.count + target.utf8.count + fields.byteCount + 32 + 4 * fields.count)
    output.append(contentsOf: method.utf8)
    output.append(.space)
    output.append(contentsOf: target.utf8)
    output.append(contentsOf: (minorVersion == 0 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n").utf8)
    fields.appendLines(to: &output)
  }
}

/// A request, or a trailer section, that cannot be sent as the caller gave it.
public struct RequestError: Error, Hashable, Sendable {
  /// A part of a request.
  public enum Part: String, Sendable {
    /// The method.
    case method
    /// The request target.
    case target
    /// The name of a field.
    case fieldName = "field name"
    /// The value of a field.
    case fieldValue = "field value"
    /// A field that is no trailer: sent after the body it would come too late, and some reader might believe it.
    case trailer
  }

  /// Which part is wrong.
  public let part: Part
  /// The text of that part.
  public let text: String
  /// The byte that cannot be sent; nil when the part is empty and must not be.
  public let byte: UInt8?
  /// Where it stands in the bytes of the text.
  public let offset: Int

  /// What is wrong, in words, for a person.
  public var reason: String {
    if part == .trailer { return "the field \(text) cannot be sent as a trailer" }
    guard let byte else { return "the \(part.rawValue) is empty" }
    return "the \(part.rawValue) holds byte \(byte) at offset \(offset), which cannot be sent"
  }

  /// Throws unless `text` is not empty and every byte of it is allowed.
  static func check(_ text: String, _ part: Part, _ isAllowed: (UInt8) -> Bool) throws(RequestError) {
    if text.isEmpty { throw RequestError(part: part, text: text, byte: nil, offset: 0) }
    var offset = 0
    for byte in text.utf8 {
      if !isAllowed(byte) { throw RequestError(part: part, text: text, byte: byte, offset: offset) }
      offset += 1
    }
  }
}

extension FieldList {
  /// Throws when a name is not a token or a value holds a control byte other than the tab.
  package func checkForSending() throws(RequestError) {
    for index in indices {
      let badName = withNameBytes(at: index) { name in
        name.isEmpty ? 0 : name.indices.first { !name[$0].isToken }
      }
      if let badName {
        throw failure(
          .fieldName, self[index].name, badName, withNameBytes(at: index) { $0.byte(at: badName) })
      }
      let badValue = withValueBytes(at: index) { value in value.indices.first { !value[$0].isFieldText } }
      if let badValue {
        throw failure(
          .fieldValue, self[index].value, badValue, withValueBytes(at: index) { $0.byte(at: badValue) })
      }
    }
  }

  /// Writes each field as a line, then the empty line.
  func appendLines(to output: inout [UInt8]) {
    for index in indices {
      withNameBytes(at: index) { output.append(copying: $0) }
      output.append(.colon)
      output.append(.space)
      withValueBytes(at: index) { output.append(copying: $0) }
      output.append(.carriageReturn)
      output.append(.lineFeed)
    }
    output.append(.carriageReturn)
    output.append(.lineFeed)
  }

  private func failure(_ part: RequestError.Part, _ text: String, _ offset: Int, _ byte: UInt8?)
    -> RequestError
  {
    RequestError(part: part, text: text, byte: byte, offset: offset)
  }
}

extension Span where Element == UInt8 {
  fileprivate func byte(at index: Int) -> UInt8? { index < count ? self[index] : nil }
}
