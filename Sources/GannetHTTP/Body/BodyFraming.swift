/// How the end of a response's body is found (RFC 9112 section 6.3).
public enum BodyFraming: Hashable, Sendable {
  /// There is no body: an answer to HEAD, 1xx, 204, 304.
  case none
  /// So many bytes.
  case length(Int64)
  /// Chunks, until the last one and its trailers.
  case chunked
  /// All bytes until the connection ends.
  case close
  /// The connection stops being HTTP after this head (101, or 2xx to CONNECT).
  case upgrade
}
