package import GannetHTTP

/// One line of JSON: an object whose members come in the order they were added (RFC 8259).
package struct JSONLine: Sendable {
  private var body: String

  /// Begins with the member `event`.
  package init(event: String) {
    body = "{\"event\":"
    Self.append(event, to: &body)
  }

  /// The line, without a line feed.
  package var text: String { body + "}" }

  /// Adds a text, or null.
  package mutating func add(_ key: String, _ value: String?) {
    begin(key)
    if let value { Self.append(value, to: &body) } else { body += "null" }
  }

  /// Adds a number, or null.
  package mutating func add(_ key: String, _ value: (some BinaryInteger)?) {
    begin(key)
    body += value.map { String($0) } ?? "null"
  }

  /// Adds true or false.
  package mutating func add(_ key: String, _ value: Bool) {
    begin(key)
    body += value ? "true" : "false"
  }

  /// Adds fields as a list of pairs: `[["Name","value"],…]`.
  package mutating func add(_ key: String, _ fields: FieldList) {
    begin(key)
    body += "["
    for (index, field) in fields.enumerated() {
      body += index == 0 ? "[" : ",["
      Self.append(field.name, to: &body)
      body += ","
      Self.append(field.value, to: &body)
      body += "]"
    }
    body += "]"
  }

  /// Adds an object made of the members that `build` adds; null when it is nil.
  package mutating func add(_ key: String, object build: ((inout JSONLine) -> Void)?) {
    begin(key)
    guard let build else { return body += "null" }
    var inner = JSONLine()
    build(&inner)
    body += inner.text
  }

  /// Begins without a member.
  package init() { body = "{" }

  /// Adds a number that is written already.
  package mutating func add(_ key: String, literal: String) {
    begin(key)
    body += literal
  }

  private mutating func begin(_ key: String) {
    if body != "{" { body += "," }
    Self.append(key, to: &body)
    body += ":"
  }

  private static func append(_ text: String, to body: inout String) {
    body += "\""
    for scalar in text.unicodeScalars {
      switch scalar {
      case "\"": body += "\\\""
      case "\\": body += "\\\\"
      case "\n": body += "\\n"
      case "\r": body += "\\r"
      case "\t": body += "\\t"
      case "\u{0}"..<"\u{20}", "\u{7F}"..<"\u{A0}", "\u{2028}", "\u{2029}":
        // The last two groups are allowed as they are, but a terminal or a line reader may act on them.
        let digits = String(scalar.value, radix: 16)
        body += "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits
      default: body.unicodeScalars.append(scalar)
      }
    }
    body += "\""
  }
}
