/// Base 64 as credentials are written in (RFC 4648 section 4), with padding.
package enum Base64 {
  /// The text for `bytes`.
  package static func encode(_ bytes: Span<UInt8>) -> String {
    var text: [UInt8] = []
    text.reserveCapacity((bytes.count + 2) / 3 * 4)
    var position = 0
    while position < bytes.count {
      let length = min(3, bytes.count - position)
      var group: UInt32 = 0
      for index in 0..<3 { group = group << 8 | (index < length ? UInt32(bytes[position + index]) : 0) }
      for index: UInt32 in 0..<4 {
        text.append(
          index > length
            ? UInt8(ascii: "=") : digit(UInt8(truncatingIfNeeded: group >> (18 - 6 * index) & 63)))
      }
      position += 3
    }
    return String(decoding: text, as: UTF8.self)
  }

  private static func digit(_ value: UInt8) -> UInt8 {
    switch value {
    case 0..<26: UInt8(ascii: "A") + value
    case 26..<52: UInt8(ascii: "a") + (value - 26)
    case 52..<62: UInt8(ascii: "0") + (value - 52)
    case 62: UInt8(ascii: "+")
    default: UInt8(ascii: "/")
    }
  }
}
