/// What was wrong in a message and read all the same, where another reader on the way may see other lines, and so
/// another end of the message: its connection is not used again. `docs/CONFORMANCE.md` has the reasons.
public struct Tolerances: OptionSet, Hashable, Sendable {
  /// The members as bits.
  public let rawValue: UInt16

  /// Makes a set of these bits.
  public init(rawValue: UInt16) { self.rawValue = rawValue }

  /// `ICY` stood in place of `HTTP/1.0`.
  public static let icyStatusLine = Tolerances(rawValue: 1)
  /// LF alone ended a line.
  public static let bareLineFeed = Tolerances(rawValue: 1 << 1)
  /// A field went on in a second line.
  public static let foldedLine = Tolerances(rawValue: 1 << 2)
  /// A line named no field and was skipped.
  public static let skippedLine = Tolerances(rawValue: 1 << 3)
  /// A Content-Length that counts had leading zeros: others take those for octal.
  public static let lengthSpelling = Tolerances(rawValue: 1 << 4)
  /// The Transfer-Encoding of a chunked body was something else than one `chunked`.
  public static let codingSpelling = Tolerances(rawValue: 1 << 5)
  /// A 1xx or 204, which has no body, told of one.
  public static let lengthWithoutBody = Tolerances(rawValue: 1 << 6)

  private static let names = [
    "ICY status line", "bare LF", "folded line", "skipped line",
    "spelling of Content-Length", "spelling of Transfer-Encoding", "length without a body",
  ]
}

extension Tolerances: CustomStringConvertible {
  /// The members' names, for a person.
  public var description: String {
    Self.names.indices.filter { rawValue & 1 << UInt16($0) != 0 }.map { Self.names[$0] }.joined(
      separator: ", ")
  }
}
