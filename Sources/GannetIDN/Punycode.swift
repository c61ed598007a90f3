/// Punycode (RFC 3492), the way from a label to its ASCII form.
package enum Punycode {
  /// The ASCII form of a label, without its `xn--`: the ASCII characters first, then where the others stand. Quadratic
  /// in the length of the label, of which names hold 63 bytes; nil for one of more than `longest` characters.
  package static func encode(_ label: String) -> String? {
    let scalars = label.unicodeScalars.map(\.value)
    guard scalars.count <= longest else { return nil }
    var output = scalars.filter { $0 < 0x80 }.map { UInt8($0) }
    let basic = UInt32(output.count)
    if basic > 0 { output.append(UInt8(ascii: "-")) }
    var (code, delta, bias, handled) = (initialCode, UInt32(0), initialBias, basic)
    while handled < scalars.count {
      guard let next = scalars.filter({ $0 >= code }).min() else { break }
      // At most 0x10FFFF * 257: no overflow.
      delta += (next - code) * (handled + 1)
      code = next
      for scalar in scalars {
        if scalar < code { delta += 1 }
        guard scalar == code else { continue }
        appendNumber(delta, bias, to: &output)
        bias = adapted(delta, count: handled + 1, isFirst: handled == basic)
        delta = 0
        handled += 1
      }
      delta += 1
      code += 1
    }
    return String(decoding: output, as: UTF8.self)
  }

  /// Characters of the longest label that is encoded: more than any name can hold.
  package static let longest = 255

  // RFC 3492 section 5.
  private static let base: UInt32 = 36
  private static let (lowest, highest): (UInt32, UInt32) = (1, 26)
  private static let (skew, damp): (UInt32, UInt32) = (38, 700)
  private static let initialBias: UInt32 = 72
  private static let initialCode: UInt32 = 0x80

  /// A number in digits of growing weight (section 3.3).
  private static func appendNumber(_ number: UInt32, _ bias: UInt32, to output: inout [UInt8]) {
    var (rest, weight) = (number, base)
    while true {
      let threshold = weight <= bias ? lowest : min(weight - bias, highest)
      guard rest >= threshold else { break }
      output.append(digit(threshold + (rest - threshold) % (base - threshold)))
      rest = (rest - threshold) / (base - threshold)
      weight += base
    }
    output.append(digit(rest))
  }

  /// `a` to `z`, then `0` to `9`.
  private static func digit(_ value: UInt32) -> UInt8 { UInt8(value < 26 ? value + 0x61 : value - 26 + 0x30) }

  /// The bias for the next number (section 6.1).
  private static func adapted(_ delta: UInt32, count: UInt32, isFirst: Bool) -> UInt32 {
    var rest = isFirst ? delta / damp : delta / 2
    rest += rest / count
    var steps: UInt32 = 0
    while rest > (base - lowest) * highest / 2 {
      rest /= base - lowest
      steps += base
    }
    return steps + (base - lowest + 1) * rest / (rest + skew)
  }
}
