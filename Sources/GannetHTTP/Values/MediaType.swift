/// A media type with its parameters: the value of `Content-Type` (RFC 9110 section 8.3.1, RFC 2046 section 5.1).
public struct MediaType: Hashable, Sendable {
  /// One parameter.
  public struct Parameter: Hashable, Sendable {
    /// Its name, in lower case.
    public var name: String
    /// Its value, without quotes.
    public var value: String
  }

  /// The type, in lower case: `text` of `text/html`.
  public let type: String
  /// The subtype, in lower case: `html` of `text/html`.
  public let subtype: String
  /// The parameters in the order given, the first of each name only.
  public private(set) var parameters: [Parameter] = []

  init(_ type: String, _ subtype: String, _ parameters: [Parameter]) {
    self.type = type
    self.subtype = subtype
    self.parameters = parameters
  }

  /// Reads a field value, or returns nil when it does not begin with a type and a subtype.
  ///
  /// Case does not matter. What follows the subtype after a blank is passed up to the next `;`. Blanks may stand
  /// around the `=` of a parameter; empty parameters, ones without a value and ones with a control character but the tab
  /// in their value are passed; a quoted value may lack
  /// its end; a value without quotes goes up to the next `;`.
  public init?(_ text: String) {
    let bytes = Array(text.utf8)
    let all = bytes.span.blanksTrimmed(0..<bytes.count)
    var position = all.lowerBound
    while position < all.upperBound, bytes[position].isToken { position += 1 }
    let type = bytes[all.lowerBound..<position]
    guard !type.isEmpty, position < all.upperBound, bytes[position] == 0x2F else { return nil }
    let subtypeStart = position + 1
    position = subtypeStart
    while position < all.upperBound, bytes[position].isToken { position += 1 }
    let subtype = bytes[subtypeStart..<position]
    guard !subtype.isEmpty else { return nil }
    if position < all.upperBound, bytes[position] != .semicolon {
      guard bytes[position].isBlank else { return nil }
      while position < all.upperBound, bytes[position] != .semicolon { position += 1 }
    }
    self.type = ParameterParser.lowercased(type)
    self.subtype = ParameterParser.lowercased(subtype)
    var parser = ParameterParser(Array(bytes[..<all.upperBound]), at: position)
    var names: Set<String> = []
    while let parameter = parser.next() {
      // A field's value has no control characters; a text from elsewhere may.
      guard parameter.value.utf8.allSatisfy({ $0 == 0x09 || !$0.isASCIIControl }) else { continue }
      if names.insert(parameter.name).inserted {
        parameters.append(Parameter(name: parameter.name, value: parameter.value))
      }
    }
  }

  /// Reads the `Content-Type` of a message: of several members the last readable one that is not `*/*`, with the
  /// charset of the members of the same type before it when it has none (the Fetch standard's "extract a MIME
  /// type"). Nil when there is none.
  public init?(contentTypeOf fields: FieldList) {
    guard let joined = fields.combinedValue(for: "Content-Type") else { return nil }
    var result: MediaType?
    var charset: String?
    for member in Self.membersOutsideQuotes(joined) {
      guard var type = MediaType(member), type.essence != "*/*" else { continue }
      if type.essence != result?.essence { charset = nil }
      if let own = type["charset"] {
        charset = own
      } else if let charset {
        type.parameters.append(Parameter(name: "charset", value: charset))
      }
      result = type
    }
    guard let result else { return nil }
    self = result
  }

  /// The type and the subtype, in lower case: `text/html`. Cocoa's MIME type.
  public var essence: String { type + "/" + subtype }

  /// The value of the first parameter of this name (in lower case), or nil.
  public subscript(parameter: String) -> String? { parameters.first { $0.name == parameter }?.value }

  /// The `charset` parameter in lower case without blanks around it, or nil when there is none or it is empty.
  /// Cocoa's text encoding name.
  public var charset: String? { trimmed("charset")?.lowercased() }

  /// The `boundary` parameter without blanks around it, and with the dashes that some servers put before it; nil
  /// when there is none or it is empty.
  public var boundary: String? { trimmed("boundary") }

  private func trimmed(_ parameter: String) -> String? {
    guard let value = self[parameter] else { return nil }
    let bytes = Array(value.utf8)
    let range = bytes.span.blanksTrimmed(0..<bytes.count)
    return range.isEmpty ? nil : ParameterParser.text(Array(bytes[range]))
  }

  private static func membersOutsideQuotes(_ text: String) -> [String] {
    var members: [String] = []
    var member: [UInt8] = []
    var isQuoted = false
    var isEscaped = false
    for byte in text.utf8 {
      if byte == .comma && !isQuoted {
        members.append(ParameterParser.text(member))
        member = []
        continue
      }
      member.append(byte)
      if byte == .quote && !isEscaped { isQuoted.toggle() }
      isEscaped = isQuoted && byte == .backslash && !isEscaped
    }
    return members + [ParameterParser.text(member)]
  }
}
