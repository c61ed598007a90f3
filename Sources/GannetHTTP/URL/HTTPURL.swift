/// An absolute URL: an immutable value that keeps the text it was given and knows its canonical form.
///
/// The parts (`host`, `path`, …) are those of the canonical form, which is what a request is made of; `text`
/// is the only thing that still shows how the URL was written. Canonical is (docs/CONTRACT.md, rule 7):
/// - scheme and host in lower case, the scheme's default port dropped, an empty path as `/`;
/// - percent-escapes of the host decoded; numbers in any base as a dotted IPv4 address (`0x7f.1` →
///   `127.0.0.1`), an IPv6 address in its shortest form (RFC 5952);
/// - `.` and `..` segments of the path resolved, `\` read as `/`;
/// - characters that RFC 3986 does not allow where they stand percent-encoded, non-ASCII ones as UTF-8. What
///   it allows stays as it is, escapes included, and so does a `%` that begins no escape;
/// - spaces around the text dropped, an empty user and password dropped.
///
/// Parts lie in one string and are cut from it when asked for: parsing a canonical URL makes one temporary
/// buffer and keeps no copy. A host with non-ASCII characters gets its ASCII form from a `HostNameEncoder`; without
/// one it is refused with `URLSyntaxError.Rule.nonASCIIHost`.
///
/// Any scheme can be held. `http`, `https`, `ws`, `wss` and `ftp` need a host and have the tolerances above;
/// others are read by RFC 3986 alone.
///
/// Sources: RFC 3986, RFC 9110 section 4.2, RFC 6874 (zones), url.spec.whatwg.org (the tolerances).
public struct HTTPURL: Sendable {
  /// What kind of thing the host is.
  public enum HostKind: Hashable, Sendable {
    /// A name to be resolved; also the empty host of a URL without one.
    case name
    /// An IPv4 address in dotted form.
    case ipv4
    /// An IPv6 address, without brackets and zone.
    case ipv6
  }

  /// The longest text accepted, as in Chromium: 2 MiB.
  public static let maximumBytes = 2 << 20

  /// The text as it was given.
  public let text: String
  /// The canonical form; the same string as `text` when that is canonical.
  let canonicalText: String
  let layout: URLLayout

  init(text: String, canonicalText: String, layout: URLLayout) {
    self.text = text
    self.canonicalText = canonicalText
    self.layout = layout
  }

  /// Reads an absolute URL that a caller gave.
  ///
  /// Spaces around it are dropped; a control character in it (CR, LF, NUL, tab) is refused. Linear in the
  /// length. A host that is not ASCII is encoded with `encoder`, and refused where there is none.
  public init(_ text: String, encodingHostsWith encoder: HostNameEncoder? = nil) throws(URLSyntaxError) {
    let input = text.utf8.span
    var parser = URLParser(by: .caller, encodingHostsWith: encoder)
    try parser.parse(input)
    self.text = text
    canonicalText = parser.wrote(input) ? text : String(decoding: parser.output, as: UTF8.self)
    layout = parser.layout
  }

  /// Whether `text` is already in canonical form.
  public var isCanonical: Bool { text == canonicalText }

  /// This URL in its canonical form.
  public var canonical: HTTPURL {
    HTTPURL(text: canonicalText, canonicalText: canonicalText, layout: layout)
  }
}

extension HTTPURL: Hashable {
  /// Whether both were given as the same text. (To ask whether they mean the same, compare `canonical`.)
  public static func == (left: HTTPURL, right: HTTPURL) -> Bool { left.text == right.text }

  /// Feeds the text.
  public func hash(into hasher: inout Hasher) { hasher.combine(text) }
}

extension HTTPURL: CustomStringConvertible {
  /// The text, without user name and password: for logs and messages.
  public var description: String { withoutUserInfo.text }
}
