/// How much of each thing a peer may send before the response is refused with the limit's own rule.
public struct Limits: Hashable, Sendable {
  /// Bytes of one head: the status line and all fields with their line ends. Default 256 KiB.
  public var headBytes = 256 * 1024
  /// Bytes of one line of a head, trailer section or part, with its line end: the status line, or a field line with
  /// the folded lines that belong to it. Default 64 KiB.
  public var lineBytes = 64 * 1024
  /// Fields in one head, trailer section or part. Default 500.
  public var fieldCount = 500
  /// Bytes of one trailer section. Default 64 KiB.
  public var trailerBytes = 64 * 1024
  /// Bytes of one chunk's line: the size, blanks after it and its extensions. Default 16 KiB.
  public var chunkLineBytes = 16 * 1024
  /// Bytes of one chunk's extensions: what stands between its size and the end of its line. Default 4 KiB.
  public var chunkExtensionBytes = 4 * 1024
  /// Bytes of the chunk lines of one body that its data does not pay for: of each line what is past its first 16
  /// bytes and as many more as the chunk has data. Default 64 KiB. So a long download may have extensions, and tiny
  /// chunks with long ones come to an end.
  public var chunkExtensionTotalBytes = 64 * 1024
  /// Informational (1xx) responses before the final one. Default 64.
  public var informationalResponses = 64
  /// Bytes of the fields of one part of a multipart stream. Default 64 KiB.
  public var partHeadBytes = 64 * 1024
  /// Bytes of a part kept back when its data holds a delimiter before its promised length is in: until that length
  /// shows which of the two is right. Default 1 MiB; past it the delimiter is believed at once.
  public var partDoubtBytes = 1024 * 1024

  /// The defaults named at each member.
  public init() {}
}
