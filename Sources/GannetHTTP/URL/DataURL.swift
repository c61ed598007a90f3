/// What a `data` URL holds (RFC 2397): a media type and bytes.
///
/// Read as the Fetch standard's data URL processor does: everything up to the first comma is the type, `;base64` at its
/// end says how the rest is written, a type that is none is `text/plain;charset=US-ASCII`. Percent-escapes of the rest
/// stand for their bytes, spaces count, the fragment does not belong to it. It is the URL's text that counts, not its
/// canonical form, in which spaces and quotes are escaped.
public struct DataURL: Hashable, Sendable {
  /// The media type with its parameters.
  public let mediaType: MediaType
  /// What it holds.
  public let bytes: [UInt8]

  /// Reads a URL whose scheme is `data`. Linear in its length.
  public init(_ url: HTTPURL) throws(DataURLError) {
    let text = Array(url.text.utf8)
    var (start, end) = (0, text.count)
    // Around a URL nothing is its own, and what ends its scheme is the first colon.
    while end > start, text[end - 1] <= 0x20 { end -= 1 }
    while start < end, text[start] != UInt8(ascii: ":") { start += 1 }
    start += 1
    end = text[..<end].firstIndex(of: UInt8(ascii: "#")) ?? end
    let input = text.span.extracting(..<end)
    var comma = start
    while comma < input.count, input[comma] != .comma { comma += 1 }
    guard comma < input.count else {
      throw DataURLError(.noComma, at: input.count, "no comma ends the type of the data URL")
    }
    var (type, isBase64) = DataURL.split(input.extracting(start..<comma))
    let body = input.extracting((comma + 1)...)
    bytes = isBase64 ? try DataURL.decoded(body, from: comma + 1) : DataURL.unescaped(body)
    if type.first == .semicolon { type.insert(contentsOf: Array("text/plain".utf8), at: 0) }
    mediaType =
      MediaType(String(decoding: type, as: UTF8.self))
      ?? MediaType("text", "plain", [MediaType.Parameter(name: "charset", value: "US-ASCII")])
  }

  /// The type without blanks around it and without `;base64` at its end, and whether that was there.
  private static func split(_ text: Span<UInt8>) -> (type: [UInt8], isBase64: Bool) {
    var (start, end) = (0, text.count)
    while start < end, isWhitespace(text[start]) { start += 1 }
    while start < end, isWhitespace(text[end - 1]) { end -= 1 }
    var type: [UInt8] = []
    for index in start..<end {
      let byte = text[index]
      if byte < 0x80 { type.append(byte) } else { type.appendPercentEncoded(byte) }
    }
    guard let sign = signOfBase64(type.span) else { return (type, false) }
    type.removeLast(type.count - sign)
    return (type, true)
  }

  /// Where the `;` of a `;base64` that ends the type stands; spaces may lie between.
  private static func signOfBase64(_ type: Span<UInt8>) -> Int? {
    let expected = Array("base64".utf8)
    var position = type.count - expected.count
    guard position > 0 else { return nil }
    for index in expected.indices where type[position + index].asciiLowercased != expected[index] {
      return nil
    }
    while position > 0, type[position - 1] == 0x20 { position -= 1 }
    guard position > 0, type[position - 1] == .semicolon else { return nil }
    return position - 1
  }

  private static func isWhitespace(_ byte: UInt8) -> Bool {
    byte == 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D
  }

  private static func unescaped(_ body: Span<UInt8>) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(body.count)
    var position = 0
    while position < body.count { bytes.append(next(in: body, at: &position)) }
    return bytes
  }

  /// The byte that stands here, a percent-escape or itself.
  private static func next(in body: Span<UInt8>, at position: inout Int) -> UInt8 {
    guard body[position] == UInt8(ascii: "%"),
      let byte = percentEscape(in: body, at: position, before: body.count)
    else {
      position += 1
      return body[position - 1]
    }
    position += 3
    return byte
  }

  /// Base64 as the Infra standard forgives it: without whitespace, the padding may be left out, bits that are left over
  /// are dropped.
  private static func decoded(_ body: Span<UInt8>, from offset: Int) throws(DataURLError) -> [UInt8] {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(body.count / 4 * 3)
    var (bits, digits, padding, position) = (UInt32(0), 0, 0, 0)
    while position < body.count {
      let place = offset + position
      let byte = next(in: body, at: &position)
      if isWhitespace(byte) { continue }
      if byte == UInt8(ascii: "=") {
        padding += 1
        guard padding <= 2 else {
          throw DataURLError(.badPadding, at: place, "more than two = in base64", byte)
        }
        continue
      }
      guard padding == 0, let digit = value(of: byte) else {
        throw DataURLError(.notBase64, at: place, "this does not belong in base64", byte)
      }
      bits = bits << 6 | UInt32(digit)
      digits += 1
      if digits.isMultiple(of: 4) {
        for shift in [16, 8, 0] { bytes.append(UInt8(truncatingIfNeeded: bits >> UInt32(shift))) }
        bits = 0
      }
    }
    let rest = digits % 4
    guard rest != 1, padding == 0 || rest + padding == 4 else {
      throw DataURLError(.badPadding, at: offset + body.count, "base64 of a length that there is not")
    }
    if rest >= 2 { bytes.append(UInt8(truncatingIfNeeded: bits >> (rest == 2 ? 4 : 10))) }
    if rest == 3 { bytes.append(UInt8(truncatingIfNeeded: bits >> 2)) }
    return bytes
  }

  private static func value(of byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "A")...UInt8(ascii: "Z"): byte - UInt8(ascii: "A")
    case UInt8(ascii: "a")...UInt8(ascii: "z"): byte - UInt8(ascii: "a") + 26
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0") + 52
    case UInt8(ascii: "+"): 62
    case UInt8(ascii: "/"): 63
    default: nil
    }
  }
}

/// Why a `data` URL holds nothing that can be read.
public struct DataURLError: Error, Hashable, Sendable {
  /// The rule that was broken.
  public enum Rule: String, Hashable, Sendable, CaseIterable {
    /// No comma divides the type from the data.
    case noComma = "data-comma"
    /// A byte that is no digit of base64, or one after the padding.
    case notBase64 = "data-base64"
    /// The digits and their padding don't add up.
    case badPadding = "data-padding"
  }

  /// The rule that was broken.
  public let rule: Rule
  /// The byte that broke it; nil when the URL ended.
  public let byte: UInt8?
  /// Its place in the URL's text.
  public let offset: Int
  /// A sentence for a person.
  public let reason: String

  init(_ rule: Rule, at offset: Int, _ reason: String, _ byte: UInt8? = nil) {
    self.rule = rule
    self.byte = byte
    self.offset = offset
    self.reason = reason
  }
}
