import GannetHTTP

/// Finds the delimiters of a multipart stream (RFC 2046 section 5.1.1) in a window of it.
///
/// A delimiter is a line that begins with the token (`--` and the boundary) and holds nothing else but blanks, or
/// `--` (the close delimiter), or a field of the next part. Its line begins after LF or CRLF, which belong to it, or
/// where the window is said to begin a line. A token elsewhere in a line counts only where no data can be meant:
/// after the end of a JPEG picture (`FF D9`), before a line end and a field line, or before the end of the stream.
struct DelimiterScanner: Sendable {
  /// One delimiter in a window.
  struct Delimiter: Hashable {
    /// Where it begins, its line end included.
    var start: Int
    /// Where what follows it begins.
    var end: Int
    /// Whether it ends the stream.
    var isClose: Bool
    /// The place of its token in `tokens`.
    var token: Int
  }

  /// What a window holds first.
  enum Finding: Hashable {
    /// No delimiter begins before `safe`; the bytes from there on are the beginning of one as far as they go.
    case none(safe: Int)
    case delimiter(Delimiter)
    /// The stream ends inside a delimiter that begins here.
    case torn(at: Int)
  }

  /// What there is to know of the stream around a window.
  struct Surroundings {
    /// Whether the window's first byte begins a line.
    var beginsLine = false
    /// The two bytes before the window.
    var previous: UInt16 = 0
    /// Whether the stream ends with the window.
    var isAtEnd = false
    /// Whether only a delimiter at the beginning of a line counts.
    var anchoredOnly = false
    /// Only line ends before this place of the window count.
    var limit = Int.max
  }

  /// The last two bytes of a JPEG picture.
  static let pictureEnd: UInt16 = 0xFFD9
  /// Bytes of the longest token; a longer boundary is none.
  static let longestToken = 256
  /// Blanks after a token, and bytes of a field's name after it, that are looked at.
  private static let longestTail = 64

  /// The tokens that may begin a delimiter; one once the stream has shown which.
  private(set) var tokens: [[UInt8]]

  /// The stream used this delimiter: from now on only its token counts. A server that leaves the two dashes away
  /// in the first may still write them later.
  mutating func learn(_ delimiter: Delimiter) {
    guard tokens.count > 1 else { return }
    let token = tokens[delimiter.token]
    tokens = token.starts(with: [.dash, .dash]) ? [token] : [token, [.dash, .dash] + token]
  }

  /// From now on only tokens with their dashes count: one without them is believed in the stream's first line only.
  mutating func requireDashes() {
    tokens = tokens.indices.filter(isDashed).map { tokens[$0] }
  }

  private func isDashed(_ index: Int) -> Bool { tokens[index].starts(with: [.dash, .dash]) }

  /// Makes a scanner for the tokens that a boundary parameter may mean: servers put the dashes of the delimiter into
  /// it, or leave them away in the delimiter.
  init(boundary: [UInt8]) {
    let dashed = [.dash, .dash] + boundary
    let holdsDashes = boundary.count > 2 && boundary.starts(with: [.dash, .dash])
    tokens = holdsDashes || boundary.first != .dash ? [dashed, boundary] : [dashed]
  }

  /// Makes a scanner for one token.
  init(token: [UInt8]) { tokens = [token] }

  /// Looks for the first delimiter.
  /// - Complexity: linear in the window.
  func scan(_ window: Span<UInt8>, _ around: Surroundings) -> Finding {
    if around.beginsLine, around.limit >= 0,
      let finding = finding(of: matchLine(window, at: 0, start: 0, around))
    {
      return finding
    }
    let end = max(0, min(window.count, around.limit))
    var line = 0
    while let lineFeed = firstIndex(of: .lineFeed, in: window.extracting(first: end), from: line) {
      if !around.anchoredOnly, let finding = lookBack(window, line: line..<lineFeed, around) {
        return finding
      }
      let start = lineFeed > 0 && window[lineFeed - 1] == .carriageReturn ? lineFeed - 1 : lineFeed
      if let finding = finding(of: matchLine(window, at: lineFeed + 1, start: start, around)) {
        return finding
      }
      line = lineFeed + 1
    }
    if !around.anchoredOnly, let finding = lookAtTail(window, from: line, around) { return finding }
    let endsInCR = !window.isEmpty && window[window.count - 1] == .carriageReturn
    return .none(
      safe: endsInCR && window.count < around.limit && !around.isAtEnd ? window.count - 1 : window.count)
  }

  /// What a delimiter that would begin a line at `place` comes to.
  enum Match: Hashable {
    case no
    case needsMore(start: Int)
    case torn(at: Int)
    case delimiter(Delimiter)
  }

  /// Compares the line at `place` with a delimiter whose line end begins at `start`.
  func matchLine(_ window: Span<UInt8>, at place: Int, start: Int, _ around: Surroundings) -> Match {
    var longest = -1
    for index in tokens.indices {
      let token = tokens[index]
      let matched = window.matchedBytes(of: token, at: place)
      if matched == token.count {
        let match = matchTail(
          window, at: place + matched, start: start, token: index, isAtEnd: around.isAtEnd)
        if match != .no { return match }
      } else if place + matched == window.count {
        longest = max(longest, matched)
      }
    }
    if longest < 0 { return .no }
    if !around.isAtEnd { return .needsMore(start: start) }
    // Two dashes at the beginning of a line are a delimiter cut short; a line end alone is data.
    return longest >= 2 ? .torn(at: start) : .no
  }

  private func finding(of match: Match) -> Finding? {
    switch match {
    case .no: nil
    case .needsMore(let start): .none(safe: start)
    case .torn(let start): .torn(at: start)
    case .delimiter(let delimiter): .delimiter(delimiter)
    }
  }

  /// Compares what follows the token of a delimiter.
  private func matchTail(
    _ window: Span<UInt8>, at place: Int, start: Int, token: Int, isAtEnd: Bool
  ) -> Match {
    func ended(at end: Int, isClose: Bool = false) -> Match {
      .delimiter(Delimiter(start: start, end: end, isClose: isClose, token: token))
    }
    let unfinished: Match = isAtEnd ? ended(at: window.count) : .needsMore(start: start)
    guard place < window.count else { return unfinished }
    if window[place] == .dash {
      guard place + 1 < window.count else { return unfinished }
      return window[place + 1] == .dash ? ended(at: place + 2, isClose: true) : .no
    }
    let blanks = window.count(from: place, upTo: Self.longestTail, where: \.isBlank)
    switch window.lineEnd(at: place + blanks) {
    case .length(let length): return ended(at: place + blanks + length)
    case .needsMore: return blanks == Self.longestTail ? .no : unfinished
    case .no: break
    }
    // A field on the delimiter's own line: `--boundaryContent-Type: image/jpeg`.
    if blanks > 0 { return .no }
    switch fieldName(window, at: place) {
    case .yes: return ended(at: place)
    case .needsMore: return isAtEnd ? .no : unfinished
    case .no: return .no
    }
  }

  private enum Shape { case yes, needsMore, no }

  /// Whether a field name and a colon stand at `place`.
  private func fieldName(_ window: Span<UInt8>, at place: Int) -> Shape {
    let name = window.count(from: place, upTo: Self.longestTail, where: \.isToken)
    let blanks = window.count(from: place + name, upTo: Self.longestTail, where: \.isBlank)
    guard name < Self.longestTail, blanks < Self.longestTail else { return .no }
    guard place + name + blanks < window.count else { return .needsMore }
    return name > 0 && window[place + name + blanks] == .colon ? .yes : .no
  }

  /// Looks for a token at the end of a complete line, `line`, that does not begin it.
  private func lookBack(_ window: Span<UInt8>, line: Range<Int>, _ around: Surroundings) -> Finding? {
    var end = line.upperBound
    if end > line.lowerBound, window[end - 1] == .carriageReturn { end -= 1 }
    let next = line.upperBound + 1
    var blanks = 0
    while end > line.lowerBound, blanks < Self.longestTail, window[end - 1].isBlank {
      end -= 1
      blanks += 1
    }
    let endsInDashes = window.count(from: max(line.lowerBound, end - 2), upTo: 2) { $0 == .dash } == 2
    for index in tokens.indices where isDashed(index) {
      for isClose in endsInDashes ? [false, true] : [false] {
        let tokenEnd = isClose ? end - 2 : end
        let start = tokenEnd - tokens[index].count
        guard start >= line.lowerBound,
          window.matchedBytes(of: tokens[index], at: start) == tokens[index].count
        else { continue }
        let delimiter = Delimiter(start: start, end: isClose ? end : next, isClose: isClose, token: index)
        if around.isAfterPicture(start, in: window) { return .delimiter(delimiter) }
        let follows = isClose ? Shape.no : fieldName(window, at: next)
        if follows == .yes { return .delimiter(delimiter) }
        let isLast = next == window.count
        if !around.isAtEnd, isLast || follows == .needsMore { return .none(safe: start) }
        if isLast { return .delimiter(delimiter) }
      }
    }
    return nil
  }

  /// Looks for a token, or the beginning of one, at the end of a line that the window cuts.
  private func lookAtTail(_ window: Span<UInt8>, from line: Int, _ around: Surroundings) -> Finding? {
    let longest = tokens.reduce(0) { max($0, $1.count) }
    var start = max(line, window.count - longest - 2 - Self.longestTail - 1)
    while let dash = firstIndex(of: .dash, in: window, from: start) {
      for index in tokens.indices where isDashed(index) {
        if let finding = matchAtEnd(window, at: dash, token: index, around) { return finding }
      }
      start = dash + 1
    }
    return nil
  }

  /// Compares what stands from `place` to the end of the window with a delimiter within a line.
  private func matchAtEnd(
    _ window: Span<UInt8>, at place: Int, token index: Int, _ around: Surroundings
  ) -> Finding? {
    let token = tokens[index]
    let matched = window.matchedBytes(of: token, at: place)
    if matched < token.count {
      guard place + matched == window.count else { return nil }
      if !around.isAtEnd { return .none(safe: place) }
      return matched >= 2 && around.isAfterPicture(place, in: window) ? .torn(at: place) : nil
    }
    let dashes = window.count(from: place + matched, upTo: 2, where: { $0 == .dash })
    let tail = place + matched + dashes
    if dashes == 1, tail < window.count { return nil }
    let blanks = window.count(from: tail, upTo: Self.longestTail, where: \.isBlank)
    let rest = window.count - tail - blanks
    guard rest == 0 || (rest == 1 && window[window.count - 1] == .carriageReturn) else { return nil }
    if !around.isAtEnd { return .none(safe: place) }
    guard dashes == 2 || around.isAfterPicture(place, in: window) else { return nil }
    return .delimiter(Delimiter(start: place, end: window.count, isClose: dashes == 2, token: index))
  }
}

extension DelimiterScanner.Surroundings {
  /// Whether a JPEG picture ends right before `place`.
  func isAfterPicture(_ place: Int, in window: Span<UInt8>) -> Bool {
    let before = place > 0 ? window[place - 1] : UInt8(truncatingIfNeeded: previous)
    let beforeThat =
      place > 1 ? window[place - 2] : UInt8(truncatingIfNeeded: place == 1 ? previous : previous >> 8)
    return UInt16(beforeThat) << 8 | UInt16(before) == DelimiterScanner.pictureEnd
  }
}
