/// IPv6 addresses in text (RFC 4291 section 2.2 to read, RFC 5952 section 4 to write).
enum IPv6Text {
  /// Eight groups of 16 bits.
  struct Address: Hashable {
    var high: UInt64 = 0
    var low: UInt64 = 0

    subscript(group: Int) -> UInt16 {
      get { UInt16(truncatingIfNeeded: (group < 4 ? high : low) >> (48 - UInt64(group & 3) * 16)) }
      set {
        let shift = 48 - UInt64(group & 3) * 16
        if group < 4 {
          high = high & ~(0xFFFF << shift) | UInt64(newValue) << shift
        } else {
          low = low & ~(0xFFFF << shift) | UInt64(newValue) << shift
        }
      }
    }
  }

  /// The address that `text`, without brackets and zone, spells, or nil.
  static func parse(_ text: Span<UInt8>) -> Address? {
    var address = Address()
    var count = 0
    var gap: Int?
    var position = 0
    if text.count >= 1, text[0] == UInt8(ascii: ":") {
      guard text.count >= 2, text[1] == UInt8(ascii: ":") else { return nil }
      gap = 0
      position = 2
    }
    while position < text.count {
      guard count < 8 else { return nil }
      if text[position] == UInt8(ascii: ":") {
        guard gap == nil else { return nil }
        gap = count
        position += 1
        continue
      }
      let start = position
      var group: UInt32 = 0
      while position < text.count, position - start < 4, let digit = text[position].hexDigitValue {
        group = group << 4 | UInt32(digit)
        position += 1
      }
      if position < text.count, text[position] == UInt8(ascii: ".") {
        guard count <= 6, let tail = dotted(text, start) else { return nil }
        address[count] = UInt16(truncatingIfNeeded: tail >> 16)
        address[count + 1] = UInt16(truncatingIfNeeded: tail)
        count += 2
        position = text.count
        continue
      }
      guard position > start else { return nil }
      address[count] = UInt16(truncatingIfNeeded: group)
      count += 1
      guard position < text.count else { continue }
      // A colon must follow, and something after it.
      guard text[position] == UInt8(ascii: ":"), position + 1 < text.count else { return nil }
      position += 1
    }
    return filled(address, count, gap)
  }

  /// The address with the zeros of its `::` put where they belong.
  private static func filled(_ address: Address, _ count: Int, _ gap: Int?) -> Address? {
    guard let gap else { return count == 8 ? address : nil }
    guard count < 8 else { return nil }
    var moved = Address()
    for group in 0..<gap { moved[group] = address[group] }
    for group in gap..<count { moved[group + 8 - count] = address[group] }
    return moved
  }

  /// The IPv4 address at the end of `text`: four decimal numbers without leading zeros, and nothing after
  /// them.
  private static func dotted(_ text: Span<UInt8>, _ start: Int) -> UInt32? {
    var value: UInt32 = 0
    var position = start
    for part in 0..<4 {
      let partStart = position
      var number: UInt32 = 0
      while position < text.count, position - partStart < 3, text[position] &- UInt8(ascii: "0") < 10 {
        number = number * 10 + UInt32(text[position] &- UInt8(ascii: "0"))
        position += 1
      }
      guard position > partStart, number <= 255 else { return nil }
      guard position - partStart == 1 || text[partStart] != UInt8(ascii: "0") else { return nil }
      value = value << 8 | number
      guard part < 3 else { break }
      guard position < text.count, text[position] == UInt8(ascii: ".") else { return nil }
      position += 1
    }
    return position == text.count ? value : nil
  }

  /// Appends the shortest form: hexadecimal in lower case, the first longest run of two or more zero groups
  /// as `::`.
  static func append(_ address: Address, to output: inout [UInt8]) {
    let zeros = longestZeros(address)
    var group = 0
    while group < 8 {
      if group == zeros.lowerBound, !zeros.isEmpty {
        output.append(UInt8(ascii: ":"))
        output.append(UInt8(ascii: ":"))
        group = zeros.upperBound
        continue
      }
      if group > 0, group != zeros.upperBound || zeros.isEmpty { output.append(UInt8(ascii: ":")) }
      output.append(contentsOf: String(address[group], radix: 16).utf8)
      group += 1
    }
  }

  private static func longestZeros(_ address: Address) -> Range<Int> {
    var best = 0..<0
    var start = 0
    while start < 8 {
      var end = start
      while end < 8, address[end] == 0 { end += 1 }
      if end - start > max(1, best.count) { best = start..<end }
      start = end + 1
    }
    return best
  }
}
