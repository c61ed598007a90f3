/// A peer broke a rule of HTTP syntax, or a limit set on it: which rule, on which byte, and where.
public struct SyntaxError: Error, Hashable, Sendable {
  /// The rule that was broken.
  public let rule: Rule
  /// The byte that broke it; nil when the input ended or a limit was passed.
  public let byte: UInt8?
  /// Where: bytes from the first byte of the response (of the decoder's own input, for a decoder used alone).
  public let offset: Int64
  /// What was wrong, in words, for a person.
  public let reason: String

  /// Makes an error.
  public init(_ rule: Rule, byte: UInt8? = nil, at offset: Int64, _ reason: String) {
    self.rule = rule
    self.byte = byte
    self.offset = offset
    self.reason = reason
  }

  /// Makes the error of a thing that is longer than one of the `Limits`, given by its member's name and value.
  init(_ rule: Rule, at offset: Int64, _ what: String, longerThan limit: String, _ bytes: Int) {
    self.init(rule, at: offset, "\(what) longer than \(bytes) bytes, the limit \(limit)")
  }

  /// The same error seen from a start `distance` bytes earlier.
  public func moved(by distance: Int64) -> SyntaxError {
    SyntaxError(rule, byte: byte, at: offset + distance, reason)
  }
}

extension SyntaxError {
  /// The rules, by stable names: tools read them (docs/INTERFACES.md).
  public enum Rule: String, Sendable, CaseIterable {
    // The head (RFC 9112 sections 2 to 5).
    case statusLine = "status-line"
    case httpVersion = "http-version"
    case statusCode = "status-code"
    case reasonPhrase = "reason-phrase"
    case fieldName = "field-name"
    case fieldValue = "field-value"
    case fieldLine = "field-line"
    case lineEnd = "line-end"
    // Framing (RFC 9112 section 6).
    case contentLength = "content-length"
    case transferEncoding = "transfer-encoding"
    // Chunked coding (RFC 9112 section 7.1).
    case chunkSize = "chunk-size"
    case chunkExtension = "chunk-extension"
    case chunkDataEnd = "chunk-data-end"
    // The exchange (RFC 9110 section 15.2, RFC 9112 section 9).
    case unexpectedSwitch = "unexpected-switch"
    case unexpectedBytes = "unexpected-bytes"
    // The input ended too early.
    case truncatedHead = "truncated-head"
    case truncatedBody = "truncated-body"
    case noResponse = "no-response"
    // Limits.
    case headSize = "head-size"
    case lineSize = "line-size"
    case fieldCount = "field-count"
    case trailerSize = "trailer-size"
    case chunkLineSize = "chunk-line-size"
    case chunkExtensionSize = "chunk-extension-size"
    case chunkExtensionTotal = "chunk-extension-total"
    case informationalCount = "informational-count"

    /// Whether the peer passed a limit rather than broke the grammar.
    public var isLimit: Bool {
      switch self {
      case .headSize, .lineSize, .fieldCount, .trailerSize, .chunkLineSize, .chunkExtensionSize,
        .chunkExtensionTotal, .informationalCount:
        true
      default: false
      }
    }

    /// Whether the peer ended the connection before the message was complete.
    public var isTruncation: Bool {
      switch self {
      case .truncatedHead, .truncatedBody, .noResponse: true
      default: false
      }
    }
  }
}
