/// A coded body could not be decoded: what was wrong, and where.
package struct ContentCodingError: Error, Hashable, Sendable {
  /// What kind of failure this is.
  package enum Kind: Hashable, Sendable {
    /// The body does not begin as its label says; most likely it was never coded.
    case mislabelled
    /// The body began well and is damaged: bad data, a wrong checksum or length.
    case damaged
    /// The body ended before the coding's own end.
    case truncated
    /// There was no memory for a decoder.
    case outOfMemory
  }

  /// The kind.
  package let kind: Kind
  /// The coding that failed.
  package let coding: ContentCoding
  /// Where: bytes that this coding had read. For the coding applied last that is a place in the body; for one inside
  /// it, a place in what the outer one decoded, which is the same however the body was cut.
  package let offset: Int64
  /// What was wrong, a sentence without its full stop.
  package let reason: String
}
