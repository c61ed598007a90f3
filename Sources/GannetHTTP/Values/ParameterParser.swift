/// Reads the `; name=value` parameters of a field value (RFC 9110 section 5.6.6), as servers write them.
///
/// Tolerated: blanks around the `=`, empty parameters, a parameter without `=` or with an empty value (both are
/// passed), any byte but `;` in a value without quotes, a quoted value that does not end, text after its end.
struct ParameterParser {
  /// One parameter: its name in lower case, and whether its value was quoted.
  struct Parameter: Hashable, Sendable {
    var name: String
    var value: String
    var isQuoted: Bool
  }

  private let text: [UInt8]
  private var position: Int

  /// Makes a parser that reads from `position` on, which is a `;` or the end.
  init(_ text: [UInt8], at position: Int) {
    self.text = text
    self.position = position
  }

  /// The next parameter that has a name and a value, or nil at the end.
  mutating func next() -> Parameter? {
    while position < text.count {
      if text[position] == .semicolon || text[position].isBlank {
        position += 1
        continue
      }
      let nameStart = position
      skip { $0 != .semicolon && $0 != .equals }
      let name = text.span.blanksTrimmed(nameStart..<position)
      guard position < text.count, text[position] == .equals else { continue }
      position += 1
      let (value, isQuoted) = takeValue()
      let isToken = !name.isEmpty && text[name].allSatisfy { $0.isToken }
      guard isToken, isQuoted || !value.isEmpty else { continue }
      return Parameter(name: Self.lowercased(text[name]), value: Self.text(value), isQuoted: isQuoted)
    }
    return nil
  }

  private mutating func takeValue() -> (bytes: [UInt8], isQuoted: Bool) {
    skip { $0.isBlank }
    guard position < text.count, text[position] == .quote else {
      let start = position
      skip { $0 != .semicolon }
      return (Array(text[text.span.blanksTrimmed(start..<position)]), false)
    }
    position += 1
    var value: [UInt8] = []
    while position < text.count, text[position] != .quote {
      if text[position] == .backslash, position + 1 < text.count { position += 1 }
      value.append(text[position])
      position += 1
    }
    skip { $0 != .semicolon }
    return (value, true)
  }

  private mutating func skip(while condition: (UInt8) -> Bool) {
    while position < text.count, condition(text[position]) { position += 1 }
  }

  static func lowercased(_ bytes: ArraySlice<UInt8>) -> String {
    text(bytes.map(\.asciiLowercased))
  }

  static func text(_ bytes: [UInt8]) -> String { String(fieldText: bytes.span) }
}
