import GannetHTTP
import Testing

/// Why a row of a public suite gives something else here. How many rows a reason covers is part of the tests,
/// so that a change of behaviour shows.
enum URLDifference: String, Comparable {
  /// RFC 3986 decides which characters are encoded: what it allows stays as it is, what it doesn't is
  /// encoded.
  case encoding
  /// A host that isn't ASCII needs an encoder, and the row was run without one.
  case nonASCIIHost
  /// A caller's text with control characters is refused (docs/CONFORMANCE.md); a server's is repaired as in the
  /// standard.
  case control
  /// A caller's `http:/x`, `http:x` and `http:///x` have no host (docs/CONTRACT.md, rule 1).
  case slashes
  /// file: URLs are read by RFC 3986; drive letters and the hosts of files are no matter of HTTP.
  case file
  /// A host that the suite refuses and browsers, and we, take: `http://h..`, `http://a$b`, `http://%41`.
  case laxHost
  /// A host that the suite takes and browsers, and we, refuse: `http://1.2.3.256`, escapes inside brackets.
  case strictHost
  /// `\` is `/` to browsers and to us.
  case backslash
  /// Spaces are encoded, those around a URL dropped; the suite refuses them, or writes them as `+` in a
  /// query.
  case spaces
  /// An empty query or fragment stays; the suite drops it.
  case emptyParts
  /// The input has no scheme and the suite guesses one, or the row is about a switch of the suite's own.
  case notOurs
  /// A scheme that names no host by nature here: read by RFC 3986, without a default port.
  case otherScheme

  static func < (left: Self, right: Self) -> Bool { left.rawValue < right.rawValue }
}

/// What a suite gave: rows run, and the ids of those that differ, by reason.
struct URLTally {
  var rows = 0
  var differences: [URLDifference: [String]] = [:]
  var counts: [URLDifference: Int] { differences.mapValues(\.count) }

  /// Notes a row that differs; a difference without a reason is a failure.
  mutating func differ(_ difference: URLDifference?, _ id: String, _ what: @autoclosure () -> String) {
    guard let difference else {
      Issue.record("\(id): \(what())")
      return
    }
    differences[difference, default: []].append(id)
  }
}

/// The canonical form of a text, read at a base when there is one, or why there is none.
func urlOutcome(
  _ input: String, at base: String? = nil, _ encoder: HostNameEncoder? = nil
) -> Result<HTTPURL, URLSyntaxError> {
  do throws(URLSyntaxError) {
    guard let base else { return .success(try HTTPURL(input, encodingHostsWith: encoder).canonical) }
    return .success(
      try HTTPURL(base, encodingHostsWith: encoder).resolving(input, encodingHostsWith: encoder))
  } catch {
    return .failure(error)
  }
}

extension Result where Success == HTTPURL, Failure == URLSyntaxError {
  /// The URL, or nil.
  var url: HTTPURL? { if case .success(let url) = self { url } else { nil } }
}

/// The bytes of a text whose percent-escapes are decoded.
func percentDecoded(_ text: String) -> [UInt8] {
  var bytes: [UInt8] = []
  let input = Array(text.utf8)
  var position = 0
  while position < input.count {
    if input[position] == UInt8(ascii: "%"), position + 2 < input.count,
      let byte = UInt8(String(decoding: input[(position + 1)...(position + 2)], as: UTF8.self), radix: 16)
    {
      bytes.append(byte)
      position += 3
    } else {
      bytes.append(input[position])
      position += 1
    }
  }
  return bytes
}

/// Whether `ours` says the same as `theirs` and holds only characters that a URI may (RFC 3986 appendix A).
func differOnlyInEncoding(_ ours: String, _ theirs: String) -> Bool {
  let marks = Set("-._~!$&'()*+,;=:@/?#[]%".utf8)
  return percentDecoded(ours) == percentDecoded(theirs)
    && ours.utf8.allSatisfy {
      let character = Character(Unicode.Scalar($0))
      return marks.contains($0) || character.isASCII && (character.isLetter || character.isNumber)
    }
}

extension [URLDifference: Int] {
  /// With so many of another difference, when there are any.
  func adding(_ difference: URLDifference, _ count: Int) -> Self {
    count == 0 ? self : merging([difference: count], uniquingKeysWith: +)
  }
}
