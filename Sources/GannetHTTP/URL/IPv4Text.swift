/// IPv4 addresses as host names spell them: one to four numbers, decimal, octal (`0177`) or hexadecimal
/// (`0x7f`), the last filling the bytes that are left, and perhaps a dot at the end (url.spec.whatwg.org,
/// "IPv4 parser").
enum IPv4Text {
  /// Whether the last label of `host` (in lower case) is a number, so that the host must be an address.
  static func isNumeric(_ host: Span<UInt8>) -> Bool {
    let end = endWithoutDot(host)
    var start = end
    while start > 0, host[start - 1] != UInt8(ascii: ".") { start -= 1 }
    guard start < end, host[start] &- UInt8(ascii: "0") < 10 else { return false }
    var allDigits = true
    for position in start..<end where host[position] &- UInt8(ascii: "0") >= 10 { allDigits = false }
    return allDigits || number(host, start, end) != nil
  }

  /// The address that `host` (in lower case) spells, or nil when it spells none.
  static func parse(_ host: Span<UInt8>) -> UInt32? {
    let end = endWithoutDot(host)
    var value: UInt64 = 0
    var parts = 0
    var start = 0
    while start <= end {
      var stop = start
      while stop < end, host[stop] != UInt8(ascii: ".") { stop += 1 }
      guard parts < 4, let part = number(host, start, stop) else { return nil }
      parts += 1
      if stop == end {
        // The last number fills what the others, of a byte each, have left.
        guard part < 1 << (8 * UInt64(5 - parts)) else { return nil }
        return UInt32(truncatingIfNeeded: value << (8 * UInt64(5 - parts)) | part)
      }
      guard part <= 255 else { return nil }
      value = value << 8 | part
      start = stop + 1
    }
    return nil
  }

  /// Appends an address in dotted form.
  static func append(_ address: UInt32, to output: inout [UInt8]) {
    for shift: UInt32 in [24, 16, 8, 0] {
      let byte = UInt8(truncatingIfNeeded: address >> shift)
      if byte >= 100 { output.append(UInt8(ascii: "0") + byte / 100) }
      if byte >= 10 { output.append(UInt8(ascii: "0") + byte / 10 % 10) }
      output.append(UInt8(ascii: "0") + byte % 10)
      if shift > 0 { output.append(UInt8(ascii: ".")) }
    }
  }

  private static func endWithoutDot(_ host: Span<UInt8>) -> Int {
    host.count > 0 && host[host.count - 1] == UInt8(ascii: ".") ? host.count - 1 : host.count
  }

  /// One number; a value past 32 bits is given as 2^32, which no place can hold.
  private static func number(_ host: Span<UInt8>, _ start: Int, _ end: Int) -> UInt64? {
    guard start < end else { return nil }
    var position = start
    var base: UInt64 = 10
    if end - start >= 2, host[start] == UInt8(ascii: "0") {
      let isHex = host[start + 1] == UInt8(ascii: "x")
      base = isHex ? 16 : 8
      position += isHex ? 2 : 1
    }
    var value: UInt64 = 0
    while position < end {
      guard let digit = host[position].hexDigitValue, UInt64(digit) < base else { return nil }
      value = min(value * base + UInt64(digit), 1 << 32)
      position += 1
    }
    return value
  }
}
