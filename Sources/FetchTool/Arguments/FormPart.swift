extension FetchOptions {
  /// A part of a form, from one `-F` or `--form-string`.
  package struct FormPart: Hashable, Sendable {
    /// Where its content is.
    package enum Content: Hashable, Sendable {
      case text(String)
      /// `@FILE`: sent as a file.
      case file(String)
      /// `<FILE`: a field with a file's contents. `-` is standard input, here and there.
      case contents(of: String)
    }

    package var name: String
    package var content: Content
    package var type: String?
    package var filename: String?
  }
}

extension FetchOptions.FormPart {
  /// Reads the value of `--form-string`: what follows the first `=` is the text as it stands.
  package init(literal text: String) throws(ArgumentError) {
    let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2 else { throw ArgumentError("--form-string takes name=value, not \"\(text)\"") }
    self.init(name: String(halves[0]), content: .text(String(halves[1])))
  }

  /// Reads the value of `-F`: `name=value`, `name=@FILE` or `name=<FILE`, and then any of `;type=TYPE` and
  /// `;filename=NAME`. A file or name in quotation marks ends with them; `\"` and `\\` stand for themselves there. Blanks
  /// before a value and after a `;` count for nothing, as in curl.
  package init(_ text: String) throws(ArgumentError) {
    let halves = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard halves.count == 2 else {
      throw ArgumentError("-F takes name=value, name=@FILE or name=<FILE, not \"\(text)\"")
    }
    var rest = halves[1]
    let mark = rest.first
    if mark == "@" || mark == "<" { rest = rest.dropFirst() }
    let value = try FetchOptions.FormPart.takeValue(from: &rest, of: text)
    switch mark {
    case "@": self.init(name: String(halves[0]), content: .file(value))
    case "<": self.init(name: String(halves[0]), content: .contents(of: value))
    default: self.init(name: String(halves[0]), content: .text(value))
    }
    while let parameter = FetchOptions.FormPart.parameter(rest) {
      rest = parameter.value
      let value = try FetchOptions.FormPart.takeValue(from: &rest, of: text)
      if parameter.isType { type = value } else { filename = value }
    }
    if value.isEmpty, mark == "@" || mark == "<" { throw ArgumentError("-F \(text): the file has no name") }
  }

  /// Takes what stands before the next parameter.
  private static func takeValue(
    from rest: inout Substring, of text: String
  ) throws(ArgumentError) -> String {
    rest = rest.drop { $0 == " " || $0 == "\t" }
    if rest.first == "\"" {
      guard let value = takeQuoted(from: &rest), rest.isEmpty || parameter(rest) != nil else {
        throw ArgumentError(
          "-F \(text): nothing but ;type= or ;filename= may follow what is in quotation marks")
      }
      return value
    }
    var end = rest.startIndex
    while end < rest.endIndex, parameter(rest[end...]) == nil { end = rest.index(after: end) }
    defer { rest = rest[end...] }
    return String(rest[..<end])
  }

  /// What a parameter's beginning says, and what follows it; nil when none begins there.
  private static func parameter(_ text: Substring) -> (isType: Bool, value: Substring)? {
    guard text.first == ";" else { return nil }
    let name = text.dropFirst().drop { $0 == " " || $0 == "\t" }
    for (prefix, isType) in [("type=", true), ("filename=", false)] where name.hasPrefix(prefix) {
      return (isType, name.dropFirst(prefix.count))
    }
    return nil
  }

  /// Nil when the closing mark is missing.
  private static func takeQuoted(from rest: inout Substring) -> String? {
    var value = ""
    var characters = rest.dropFirst()
    while let character = characters.popFirst() {
      if character == "\"" {
        rest = characters
        return value
      }
      if character == "\\", let next = characters.first, next == "\"" || next == "\\" {
        value.append(next)
        characters = characters.dropFirst()
      } else {
        value.append(character)
      }
    }
    return nil
  }
}
