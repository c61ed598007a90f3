import GannetHTTP

extension UInt8 {
  /// `-`.
  static let dash: UInt8 = 0x2D
  /// `'`.
  static let apostrophe: UInt8 = 0x27
}

extension Span where Element == UInt8 {
  /// What stands where a line might end.
  enum LineEnd: Hashable {
    /// LF or CRLF: so many bytes.
    case length(Int)
    case needsMore
    case no
  }

  /// The line end at `place`.
  func lineEnd(at place: Int) -> LineEnd {
    guard place < count else { return .needsMore }
    if self[place] == .lineFeed { return .length(1) }
    guard self[place] == .carriageReturn else { return .no }
    guard place + 1 < count else { return .needsMore }
    return self[place + 1] == .lineFeed ? .length(2) : .no
  }

  /// How many bytes of `text` stand at `place`, up to the first that differs or the end.
  func matchedBytes(of text: [UInt8], at place: Int) -> Int {
    let length = Swift.min(text.count, count - place)
    var matched = 0
    while matched < length, self[place + matched] == text[matched] { matched += 1 }
    return matched
  }

  /// How many bytes from `place` on meet `condition`, up to `limit`.
  func count(from place: Int, upTo limit: Int, where condition: (UInt8) -> Bool) -> Int {
    var length = 0
    while length < limit, place + length < count, condition(self[place + length]) { length += 1 }
    return length
  }
}
