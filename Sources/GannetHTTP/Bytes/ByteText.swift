extension UInt8 {
  /// This byte in lower case when it is an ASCII letter, else unchanged.
  @inlinable package var asciiLowercased: UInt8 { self &- 0x41 < 26 ? self | 0x20 : self }
}

extension String {
  /// Text of a field or reason phrase: UTF-8 where it is valid, else each byte as the Latin-1 character.
  package init(fieldText bytes: Span<UInt8>) {
    if let text = String(validatingUTF8: bytes) { self = text } else { self.init(latin1: bytes) }
  }

  /// Each byte as the Unicode scalar of the same number.
  package init(latin1 bytes: Span<UInt8>) {
    self = ""
    for index in bytes.indices { unicodeScalars.append(Unicode.Scalar(bytes[index])) }
  }

  /// The text of `bytes`, or nil when they are not UTF-8.
  package init?(validatingUTF8 bytes: Span<UInt8>) {
    guard let valid = try? UTF8Span(validating: bytes) else { return nil }
    self.init(copying: valid)
  }
}
