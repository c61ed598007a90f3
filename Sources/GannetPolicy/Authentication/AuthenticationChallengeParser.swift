package import GannetHTTP

/// Reads the challenges of `WWW-Authenticate` fields (RFC 9110 section 11.6.1): a list whose commas separate
/// both challenges and their parameters, so whether a word is a scheme or a name shows only after it.
///
/// It never fails; what servers get wrong is read as browsers read it:
/// - a quoted value that isn't closed ends with the field;
/// - an unquoted value is all up to a comma or white space, whatever it holds (`'foo'`, `\f\o\o`, base64 with
///   `=`);
/// - commas may be missing between parameters or be there without anything between them;
/// - a parameter or value that belongs to no challenge is skipped.
///
/// Linear in the input.
package struct AuthenticationChallengeParser {
  private var challenges: [AuthenticationChallenge] = []
  private var position = 0

  /// The challenges of every field of this name, in order. Each field is read by itself.
  package static func parse(_ fields: FieldList, named name: String = "WWW-Authenticate")
    -> [AuthenticationChallenge]
  {
    var all: [AuthenticationChallenge] = []
    var next = fields.firstIndex(named: name)
    while let index = next {
      all += fields.withValueBytes(at: index) { parse($0) }
      next = fields.firstIndex(named: name, from: index + 1)
    }
    return all
  }

  /// The challenges of one field's value.
  package static func parse(_ value: Span<UInt8>) -> [AuthenticationChallenge] {
    var parser = AuthenticationChallengeParser()
    while parser.readElement(value) {}
    return parser.challenges
  }

  /// The parameters of one field's value that has no scheme (`Authentication-Info`, RFC 7615 section 3), in order.
  package static func parameters(_ value: Span<UInt8>) -> [AuthenticationChallenge.Parameter] {
    var parser = AuthenticationChallengeParser()
    parser.challenges = [AuthenticationChallenge(scheme: "")]
    while parser.readElement(value) {}
    return parser.challenges[0].parameters
  }

  /// Reads one word and what belongs to it; false at the end.
  private mutating func readElement(_ value: Span<UInt8>) -> Bool {
    while position < value.count, isSpace(value[position]) || value[position] == UInt8(ascii: ",") {
      position += 1
    }
    guard position < value.count else { return false }
    let start = position
    while position < value.count, isTokenByte(value[position]) { position += 1 }
    let word = value.extracting(start..<position)
    if word.isEmpty {
      skipUnreadable(value)
      return true
    }
    let wordEnd = position
    skipSpaces(value)
    if position < value.count, value[position] == UInt8(ascii: "=") {
      position += 1
      skipSpaces(value)
      let bytes = readValue(value)
      guard !challenges.isEmpty, challenges[challenges.count - 1].token68 == nil else { return true }
      challenges[challenges.count - 1].parameters.append(.init(name: lowercased(word), bytes: bytes))
    } else {
      challenges.append(AuthenticationChallenge(scheme: lowercased(word)))
      if position > wordEnd { readToken68(value) }
    }
    return true
  }

  /// Reads what follows a scheme as a token68 when it is one: its characters, any `=`, and then a comma or
  /// the end.
  private mutating func readToken68(_ value: Span<UInt8>) {
    var end = position
    while end < value.count, isToken68Byte(value[end]) { end += 1 }
    guard end > position else { return }
    while end < value.count, value[end] == UInt8(ascii: "=") { end += 1 }
    var after = end
    while after < value.count, isSpace(value[after]) { after += 1 }
    guard after == value.count || value[after] == UInt8(ascii: ",") else { return }
    challenges[challenges.count - 1].token68 = String(fieldText: value.extracting(position..<end))
    position = after
  }

  /// Reads a parameter's value, quoted or not.
  private mutating func readValue(_ value: Span<UInt8>) -> [UInt8] {
    guard position < value.count, value[position] == UInt8(ascii: "\"") else {
      let start = position
      while position < value.count, !isSpace(value[position]), value[position] != UInt8(ascii: ",") {
        position += 1
      }
      return [UInt8](copying: value.extracting(start..<position))
    }
    position += 1
    var text: [UInt8] = []
    while position < value.count, value[position] != UInt8(ascii: "\"") {
      if value[position] == UInt8(ascii: "\\"), position + 1 < value.count { position += 1 }
      text.append(value[position])
      position += 1
    }
    position += 1
    return text
  }

  /// Passes over what is no word: up to the next comma or white space, or a whole quoted string.
  private mutating func skipUnreadable(_ value: Span<UInt8>) {
    if value[position] == UInt8(ascii: "=") { position += 1 }
    _ = readValue(value)
  }

  private mutating func skipSpaces(_ value: Span<UInt8>) {
    while position < value.count, isSpace(value[position]) { position += 1 }
  }

  private func lowercased(_ word: Span<UInt8>) -> String { String(fieldText: word).lowercased() }

  private func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  /// RFC 9110 section 5.6.2.
  private func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#")...UInt8(ascii: "'"),
      UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"),
      UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }

  /// RFC 9110 section 11.2.
  private func isToken68Byte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"),
      UInt8(ascii: "~"), UInt8(ascii: "+"), UInt8(ascii: "/"):
      true
    default: false
    }
  }
}
