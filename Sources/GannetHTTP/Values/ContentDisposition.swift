/// The value of `Content-Disposition` (RFC 6266).
public struct ContentDisposition: Hashable, Sendable {
  /// The disposition, in lower case: `inline`, `attachment` or another token. Empty when the server left it out.
  public let type: String
  /// The file name: of `filename*` (RFC 8187, UTF-8 or ISO-8859-1) when that can be read, else of `filename`; nil
  /// when there is neither. It is the server's text, not safe as a name of a file: see ``SuggestedFilename``.
  public let filename: String?

  /// Reads a field value. Percent escapes, encoded words (RFC 2047) and continuations (RFC 2231) in `filename` are
  /// text: RFC 6266 has none of them.
  public init(_ text: String) {
    let bytes = Array(text.utf8)
    let firstEnd = bytes.firstIndex(of: .semicolon) ?? bytes.count
    let first = bytes.span.blanksTrimmed(0..<firstEnd)
    // Some servers leave the type out and begin with a parameter.
    let lacksType = bytes[first].contains(.equals)
    type = lacksType ? "" : ParameterParser.lowercased(bytes[first])
    var parser = ParameterParser(bytes, at: lacksType ? first.lowerBound : firstEnd)
    var plain: String?
    var extended: String?
    while let parameter = parser.next() {
      if parameter.name == "filename" {
        plain = plain ?? parameter.value
      } else if parameter.name == "filename*", !parameter.isQuoted {
        extended = extended ?? Self.decodeExtended(parameter.value)
      }
    }
    filename = extended ?? plain
  }

  /// Reads `charset'language'value` with percent escapes (RFC 8187 section 3.2), or returns nil.
  private static func decodeExtended(_ text: String) -> String? {
    let bytes = Array(text.utf8)
    guard let charsetEnd = bytes.firstIndex(of: 0x27),
      let languageEnd = bytes[(charsetEnd + 1)...].firstIndex(of: 0x27)
    else { return nil }
    var value: [UInt8] = []
    var position = languageEnd + 1
    while position < bytes.count {
      switch bytes[position] {
      case 0x25:
        guard let byte = escapedByte(bytes, at: position) else { return nil }
        value.append(byte)
        position += 3
      case .quote, 0x27, 0x7F...: return nil
      case let byte:
        value.append(byte)
        position += 1
      }
    }
    switch ParameterParser.lowercased(bytes[..<charsetEnd]) {
    case "utf-8": return String(validatingUTF8: value.span)
    // The bytes from 0x80 to 0x9F are control characters there: such a value is in another charset.
    case "iso-8859-1": return value.contains { 0x80...0x9F ~= $0 } ? nil : String(latin1: value.span)
    default: return nil
    }
  }

  /// The byte that the three of `bytes` at `position` stand for, a `%` and two hexadecimal digits; nil if they
  /// are not that.
  static func escapedByte(_ bytes: [UInt8], at position: Int) -> UInt8? {
    guard position + 2 < bytes.count, let high = bytes[position + 1].hexadecimalValue,
      let low = bytes[position + 2].hexadecimalValue
    else { return nil }
    return high << 4 | low
  }
}
