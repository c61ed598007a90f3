/// Puts the chunked coding on a body (RFC 9112 section 7.1).
public struct ChunkedEncoder: Sendable {
  /// Makes an encoder. It keeps nothing between calls.
  public init() {}

  /// Writes `data` as one chunk at the end of `output`. Empty data writes nothing: an empty chunk would end the
  /// body.
  public func append(_ data: Span<UInt8>, to output: inout [UInt8]) {
    guard !data.isEmpty else { return }
    output.append(contentsOf: String(data.count, radix: 16).utf8)
    output.append(.carriageReturn)
    output.append(.lineFeed)
    output.append(copying: data)
    output.append(.carriageReturn)
    output.append(.lineFeed)
  }

  /// Writes the last chunk, the trailer fields and the empty line that ends the body.
  ///
  /// - Throws: a trailer field that cannot be sent, or not there: one that frames or routes the message, or says who
  ///   sends it (RFC 9110 section 6.5.1). Nothing has been written then.
  public func appendEnd(trailers: FieldList = FieldList(), to output: inout [UInt8]) throws(RequestError) {
    try trailers.checkAsTrailers()
    output.append(contentsOf: "0\r\n".utf8)
    trailers.appendLines(to: &output)
  }
}

extension FieldList {
  /// What a recipient needs before the body, or must not take from behind it.
  private static let neverTrailers = [
    "Transfer-Encoding", "Content-Length", "Content-Encoding", "Content-Type", "Content-Range", "Host",
    "Trailer",
    "Connection", "Expect", "TE", "Upgrade", "Authorization", "Proxy-Authorization", "Cookie",
  ]

  /// Throws when these fields cannot be sent after a body (RFC 9110 section 6.5.1).
  package func checkAsTrailers() throws(RequestError) {
    try checkForSending()
    for name in FieldList.neverTrailers where contains(name) {
      throw RequestError(part: .trailer, text: name, byte: nil, offset: 0)
    }
  }
}
