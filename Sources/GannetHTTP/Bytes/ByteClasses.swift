extension UInt8 {
  /// HTAB.
  @inlinable package static var tab: UInt8 { 0x09 }
  /// LF.
  @inlinable package static var lineFeed: UInt8 { 0x0A }
  /// CR.
  @inlinable package static var carriageReturn: UInt8 { 0x0D }
  /// SP.
  @inlinable package static var space: UInt8 { 0x20 }
  /// `"`.
  @inlinable package static var quote: UInt8 { 0x22 }
  /// `,`.
  @inlinable package static var comma: UInt8 { 0x2C }
  /// `:`.
  @inlinable package static var colon: UInt8 { 0x3A }
  /// `;`.
  @inlinable package static var semicolon: UInt8 { 0x3B }
  /// `=`.
  @inlinable package static var equals: UInt8 { 0x3D }
  /// `\`.
  @inlinable package static var backslash: UInt8 { 0x5C }

  /// Whether this byte is a space or a horizontal tab.
  @inlinable package var isBlank: Bool { self == .space || self == .tab }

  /// Whether this byte may be in a field value or a reason phrase: no control byte but the tab
  /// (RFC 9110 section 5.5).
  @inlinable package var isFieldText: Bool { self >= 0x20 ? self != 0x7F : self == .tab }

  /// Whether this byte is an ASCII digit.
  @inlinable package var isDigit: Bool { self &- 0x30 < 10 }

  /// Whether this byte may be in a token (RFC 9110 section 5.6.2).
  package var isToken: Bool {
    // One bit for each of ! # $ % & ' * + - . 0-9 and of A-Z ^ _ ` a-z | ~.
    let low: UInt64 = 0x03FF_6CFA_0000_0000
    let high: UInt64 = 0x57FF_FFFF_C7FF_FFFE
    let bits = self < 64 ? low : high
    return self < 128 && bits &>> UInt64(self & 63) & 1 == 1
  }

  /// The value of this byte as a hexadecimal digit, or nil.
  package var hexadecimalValue: UInt8? {
    switch self {
    case 0x30...0x39: self - 0x30
    case 0x41...0x46: self - 0x41 + 10
    case 0x61...0x66: self - 0x61 + 10
    default: nil
    }
  }
}

extension Span where Element == UInt8 {
  /// Whether these bytes are `text` (ASCII), in any case.
  package func equalsIgnoringCase(_ text: String) -> Bool {
    guard count == text.utf8.count else { return false }
    let text = text.utf8Span.span
    // Mostly the case is the same as well.
    if holds(text, at: 0) { return true }
    for index in indices {
      let (byte, other) = (self[index], text[index])
      if byte != other, byte.asciiLowercased != other.asciiLowercased { return false }
    }
    return true
  }
}
