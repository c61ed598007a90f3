/// What `-w` prints after each load: text with variables of the form `%{name}`, as in curl.
///
/// `%{name}` is a variable's value, `%header{Name}` that of a field of the response, `%{json}` all variables as one object
/// of JSON, `%%` a `%`, and `\n`, `\r` and `\t` are what they are in C. `%{stderr}` and `%{stdout}` say where what follows
/// is printed. Anything else is printed as it stands. A variable without a value prints nothing.
package struct WriteOutFormat: Hashable, Sendable {
  /// What can stand between the braces besides the variables.
  enum Piece: Hashable, Sendable {
    case text(String)
    case variable(WriteOutVariable)
    case field(String)
    case json
    case output(toStandardError: Bool)
  }

  let pieces: [Piece]

  /// Reads a format; throws what names the variable that there is not.
  package init(_ text: String) throws(ArgumentError) {
    var pieces: [Piece] = []
    var plain = ""
    var rest = text[...]
    func flush() {
      if !plain.isEmpty { pieces.append(.text(plain)) }
      plain = ""
    }
    while let character = rest.popFirst() {
      if character == "\\", let escaped = rest.first.flatMap({ WriteOutFormat.escapes[$0] }) {
        rest.removeFirst()
        plain.append(escaped)
      } else if character == "%", rest.first == "%" {
        rest.removeFirst()
        plain.append("%")
      } else if character == "%", let name = WriteOutFormat.braced("", &rest) {
        flush()
        pieces.append(try WriteOutFormat.piece(named: name))
      } else if character == "%", let name = WriteOutFormat.braced("header", &rest) {
        flush()
        pieces.append(.field(name))
      } else {
        plain.append(character)
      }
    }
    flush()
    self.pieces = pieces
  }

  private static let escapes: [Character: Character] = ["n": "\n", "r": "\r", "t": "\t"]

  /// Takes `word{…}` off the front; nil when something else is there.
  private static func braced(_ word: String, _ rest: inout Substring) -> String? {
    let start = word + "{"
    guard rest.hasPrefix(start), let end = rest.firstIndex(of: "}") else { return nil }
    defer { rest = rest[rest.index(after: end)...] }
    return String(rest[rest.index(rest.startIndex, offsetBy: start.count)..<end])
  }

  private static func piece(named name: String) throws(ArgumentError) -> Piece {
    switch name {
    case "json": return .json
    case "stdout": return .output(toStandardError: false)
    case "stderr": return .output(toStandardError: true)
    // Its older name.
    case "http_code": return .variable(.response_code)
    default:
      guard let variable = WriteOutVariable(rawValue: name) else {
        let known = WriteOutVariable.allCases.map(\.rawValue) + ["http_code", "json", "stderr", "stdout"]
        throw ArgumentError("-w has no variable %{\(name)}; it has \(known.sorted().joined(separator: ", "))")
      }
      return .variable(variable)
    }
  }

  /// What is printed, in order, with where each piece goes.
  package func printed(_ facts: WriteOutFacts) -> [(text: String, toStandardError: Bool)] {
    var result: [(text: String, toStandardError: Bool)] = []
    var toStandardError = false
    func add(_ text: String) {
      if let last = result.indices.last, result[last].toStandardError == toStandardError {
        result[last].text += text
      } else {
        result.append((text, toStandardError))
      }
    }
    for piece in pieces {
      switch piece {
      case .text(let text): add(text)
      case .variable(let variable): add(facts.values[variable]?.text ?? "")
      case .field(let name): add(facts.field(name) ?? "")
      case .json: add(facts.json)
      case .output(let isError): toStandardError = isError
      }
    }
    return result
  }
}

/// The variables of `-w`, by curl's names.
package enum WriteOutVariable: String, CaseIterable, Hashable, Sendable {
  case content_type, errormsg, exitcode, http_version, local_ip, local_port, method, num_connects,
    num_redirects
  case remote_ip, remote_port, response_code, scheme, size_download, size_header, size_request, size_upload
  case speed_download, speed_upload, ssl_verify_result, time_appconnect, time_connect, time_namelookup
  case time_pretransfer, time_redirect, time_starttransfer, time_total, url, url_effective, urlnum
}
