/// Why a text is no URL that can be loaded: which rule, on which byte, and where.
public struct URLSyntaxError: Error, Hashable, Sendable {
  /// The rules, by stable names.
  public enum Rule: String, Sendable, CaseIterable {
    /// The text does not begin with a scheme and a colon.
    case noScheme = "no-scheme"
    /// The scheme needs a host and none is named.
    case noHost = "no-host"
    /// The host cannot be one: a byte that none may hold, a wrong IP address, a wrong percent-escape, a name that has
    /// no ASCII form.
    case badHost = "bad-host"
    /// The host has non-ASCII characters, and there is no `HostNameEncoder` to give it its ASCII form.
    case nonASCIIHost = "non-ascii-host"
    /// The port is not a number from 0 to 65535.
    case badPort = "bad-port"
    /// A control character (CR, LF and NUL among them) in a text that a caller gave.
    case forbiddenByte = "forbidden-byte"
    /// The text is longer than `HTTPURL.maximumBytes`.
    case tooLong = "too-long"
    /// A relative reference to a URL that has no hierarchy, such as `mailto:`.
    case notABase = "not-a-base"
  }

  /// The rule that was broken.
  public let rule: Rule
  /// The byte that broke it; nil when something is missing.
  public let byte: UInt8?
  /// Where: bytes from the start of the text (UTF-8) or of the reference.
  public let offset: Int
  /// What was wrong, in words, for a person.
  public let reason: String

  /// Makes an error.
  public init(_ rule: Rule, byte: UInt8? = nil, at offset: Int, _ reason: String) {
    self.rule = rule
    self.byte = byte
    self.offset = offset
    self.reason = reason
  }

  /// The same error at another place.
  func at(_ offset: Int) -> URLSyntaxError { URLSyntaxError(rule, byte: byte, at: offset, reason) }
}
