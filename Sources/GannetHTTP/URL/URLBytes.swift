extension UInt8 {
  /// A letter or a digit.
  @inline(__always) var isASCIIAlphanumeric: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
      UInt8(ascii: "A")...UInt8(ascii: "Z"):
      true
    default: false
    }
  }

  /// A byte of a scheme after its first letter (RFC 3986 section 3.1).
  var isSchemeByte: Bool {
    isASCIIAlphanumeric || self == UInt8(ascii: "+") || self == UInt8(ascii: "-") || self == UInt8(ascii: ".")
  }

  /// `unreserved` and `sub-delims` of RFC 3986 section 2, and `%`, which stays as it is even when what
  /// follows is no escape.
  @inline(__always) var isURLWordByte: Bool {
    if isASCIIAlphanumeric { return true }
    switch self {
    case UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"), UInt8(ascii: "!"),
      UInt8(ascii: "$"), UInt8(ascii: "&"), UInt8(ascii: "'"), UInt8(ascii: "("), UInt8(ascii: ")"),
      UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: ","), UInt8(ascii: ";"), UInt8(ascii: "="),
      UInt8(ascii: "%"):
      return true
    default: return false
    }
  }

  /// A byte that may stand as it is in a path segment.
  @inline(__always) var isURLPathByte: Bool {
    isURLWordByte || self == UInt8(ascii: ":") || self == UInt8(ascii: "@")
  }

  /// A byte that may stand as it is in a query or a fragment.
  @inline(__always) var isURLQueryByte: Bool {
    isURLPathByte || self == UInt8(ascii: "/") || self == UInt8(ascii: "?")
  }

  /// A byte that no host may hold (the URL standard's "forbidden host code point", of ASCII).
  var isForbiddenInHost: Bool {
    switch self {
    case 0, 0x09, 0x0A, 0x0D, 0x20, UInt8(ascii: "#"), UInt8(ascii: "/"), UInt8(ascii: ":"),
      UInt8(ascii: "<"),
      UInt8(ascii: ">"), UInt8(ascii: "?"), UInt8(ascii: "@"), UInt8(ascii: "["), UInt8(ascii: "\\"),
      UInt8(ascii: "]"), UInt8(ascii: "^"), UInt8(ascii: "|"):
      true
    default: false
    }
  }

  /// A byte that no host name may hold (the standard's "forbidden domain code point", of ASCII).
  var isForbiddenInName: Bool { isForbiddenInHost || isASCIIControl || self == UInt8(ascii: "%") }

  /// A control character, DEL included.
  var isASCIIControl: Bool { self < 0x20 || self == 0x7F }

  /// The number this byte stands for as a hexadecimal digit, or nil.
  var hexDigitValue: UInt8? {
    switch self {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): self &- 0x30
    case UInt8(ascii: "a")...UInt8(ascii: "f"): self &- 0x61 &+ 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): self &- 0x41 &+ 10
    default: nil
    }
  }

  /// The digit, upper case, of a number below 16.
  static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 &+ value : 0x41 &+ value &- 10 }
}

extension Array where Element == UInt8 {
  /// Appends `byte` as `%XX`.
  mutating func appendPercentEncoded(_ byte: UInt8) {
    append(UInt8(ascii: "%"))
    append(.hexDigit(byte >> 4))
    append(.hexDigit(byte & 15))
  }
}

/// The byte that the escape at `position` stands for, or nil when there is no whole escape there.
func percentEscape(in input: Span<UInt8>, at position: Int, before end: Int) -> UInt8? {
  guard position + 2 < end, input[position] == UInt8(ascii: "%"),
    let high = input[position + 1].hexDigitValue, let low = input[position + 2].hexDigitValue
  else { return nil }
  return high << 4 | low
}
