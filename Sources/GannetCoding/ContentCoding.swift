internal import GannetHTTP

/// A content coding that can be undone here (RFC 9110 section 8.4.1).
package enum ContentCoding: String, Hashable, Sendable, CaseIterable {
  /// gzip (RFC 1952), also under its old name `x-gzip`.
  case gzip
  /// The zlib format (RFC 1950) around deflate (RFC 1951), or, as many servers send it, deflate alone.
  case deflate

  /// The coding of this name, in any case; nil when there is none such here. `identity` is no coding.
  package init?(name: some StringProtocol) {
    switch String(decoding: name.utf8.map(\.asciiLowercased), as: UTF8.self) {
    case "gzip", "x-gzip": self = .gzip
    case "deflate": self = .deflate
    default: return nil
    }
  }
}

extension ContentCoding {
  /// What the values of `Content-Encoding` ask for.
  package enum Chain: Hashable, Sendable {
    /// The body is as it is.
    case identity
    /// These codings were applied, in this order.
    case codings([ContentCoding])
    /// A coding that is unknown here, or more of them than anybody means: the body is passed on as it is.
    case unsupported(String)

    /// Codings undone one after the other, at most: each costs 40 KiB, and nobody sends more than two.
    package static let maximumLength = 5

    /// Reads the field's values, each a list separated by commas. Empty elements and `identity` mean nothing.
    package init(fieldValues: [String]) {
      var codings: [ContentCoding] = []
      for value in fieldValues {
        for element in value.utf8.split(separator: UInt8(ascii: ",")) {
          let name = Substring(element).trimmed
          if name.isEmpty || name.utf8.elementsEqual("identity".utf8, by: { $0.asciiLowercased == $1 }) {
            continue
          }
          guard let coding = ContentCoding(name: name), codings.count < Chain.maximumLength else {
            self = .unsupported(String(name))
            return
          }
          codings.append(coding)
        }
      }
      self = codings.isEmpty ? .identity : .codings(codings)
    }
  }
}

extension Substring {
  /// Without the spaces and tabs around it.
  fileprivate var trimmed: Substring {
    var rest = self
    while let first = rest.utf8.first, first == 0x20 || first == 0x09 { rest = rest.dropFirst() }
    while let last = rest.utf8.last, last == 0x20 || last == 0x09 { rest = rest.dropLast() }
    return rest
  }
}
