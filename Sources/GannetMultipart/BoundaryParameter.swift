import GannetHTTP

/// The media type of a `Content-Type` value and its `boundary` parameter (RFC 2046 section 5.1), as servers write
/// them: blanks around `=`, any case, quoted or not, a trailing semicolon, other parameters around it.
struct BoundaryParameter: Hashable {
  /// The type and subtype, in lower case.
  let mediaType: String
  /// The value of the first `boundary` parameter, unquoted; nil when there is none or it is empty.
  let boundary: String?

  init(contentType: String) {
    var rest = contentType.utf8[...]
    mediaType = Self.text(Self.takeItem(&rest)).lowercased()
    var boundary: String?
    while let parameter = Self.takeParameter(&rest) {
      guard boundary == nil, Self.text(parameter.name).lowercased() == "boundary" else { continue }
      boundary = parameter.value
    }
    self.boundary = boundary.flatMap { $0.isEmpty ? nil : $0 }
  }

  private typealias Rest = Substring.UTF8View

  /// Takes what comes before the next `;` or the end, without the blanks around it.
  private static func takeItem(_ rest: inout Rest) -> Rest {
    let end = rest.firstIndex(of: .semicolon) ?? rest.endIndex
    defer { rest = rest[end...] }
    return trimmed(rest[..<end])
  }

  /// Takes `; name = value`; nil at the end.
  private static func takeParameter(_ rest: inout Rest) -> (name: Rest, value: String)? {
    guard rest.first == .semicolon else { return nil }
    rest = rest.dropFirst()
    guard let equals = rest.firstIndex(where: { $0 == .equals || $0 == .semicolon }), rest[equals] == .equals
    else { return (takeItem(&rest), "") }
    let name = trimmed(rest[..<equals])
    rest = rest[rest.index(after: equals)...].drop(while: \.isBlank)
    guard rest.first == .quote else { return (name, text(takeItem(&rest))) }
    let value = takeQuoted(&rest)
    _ = takeItem(&rest)
    return (name, value)
  }

  /// Takes a quoted string; one that does not end goes to the end.
  private static func takeQuoted(_ rest: inout Rest) -> String {
    rest = rest.dropFirst()
    var bytes: [UInt8] = []
    while let byte = rest.popFirst(), byte != .quote {
      if byte == .backslash, let escaped = rest.popFirst() {
        bytes.append(escaped)
      } else {
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func trimmed(_ bytes: Rest) -> Rest {
    var bytes = bytes.drop(while: \.isBlank)
    while bytes.last?.isBlank == true { bytes.removeLast() }
    return bytes
  }

  private static func text(_ bytes: Rest) -> String { String(Substring(bytes)) }
}
