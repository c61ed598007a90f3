extension UInt8 {
  /// HTAB.
  package static let tab: UInt8 = 0x09
  /// LF.
  package static let lineFeed: UInt8 = 0x0A
  /// CR.
  package static let carriageReturn: UInt8 = 0x0D
  /// SP.
  package static let space: UInt8 = 0x20
  /// `"`.
  package static let quote: UInt8 = 0x22
  /// `,`.
  package static let comma: UInt8 = 0x2C
  /// `:`.
  package static let colon: UInt8 = 0x3A
  /// `;`.
  package static let semicolon: UInt8 = 0x3B
  /// `=`.
  package static let equals: UInt8 = 0x3D
  /// `\`.
  package static let backslash: UInt8 = 0x5C

  /// Whether this byte is a space or a horizontal tab.
  package var isBlank: Bool { self == .space || self == .tab }

  /// Whether this byte may be in a field value or a reason phrase: no control byte but the tab
  /// (RFC 9110 section 5.5).
  package var isFieldText: Bool { self >= 0x20 ? self != 0x7F : self == .tab }

  /// Whether this byte is an ASCII digit.
  package var isDigit: Bool { self &- 0x30 < 10 }

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
  /// Whether these bytes are `text` (ASCII, in lower case), in any case.
  package func equalsIgnoringCase(_ text: String) -> Bool {
    guard count == text.utf8.count else { return false }
    var index = 0
    for byte in text.utf8 {
      if self[index].asciiLowercased != byte { return false }
      index += 1
    }
    return true
  }
}
