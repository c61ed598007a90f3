import GannetHTTP

/// Finds the delimiters of a multipart stream (RFC 2046 section 5.1.1) in a window of it.
///
/// A delimiter is a line that begins with the token (`--` and the boundary) and holds nothing else but blanks, or
/// `--` (the close delimiter), or a field of the next part. Its line begins after LF or CRLF, which belong to it, or
/// where the window is said to begin a line. A token elsewhere in a line counts only where no data can be meant:
/// after the end of a JPEG picture (`FF D9`), before a line end and a field line, or before the end of the stream.
///
/// Two dashes in a row are what is looked for in every byte: they are rare in pictures, and every token begins so, but
/// in a stream that leaves them away.
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
    /// Where in a line a delimiter may begin.
    var anchor = Anchor.anywhere
    /// Only line ends before this place of the window count, and only pictures' ends up to it.
    var limit = Int.max
  }

  /// Where in a line a delimiter may begin.
  enum Anchor: Hashable {
    /// At its beginning, and after the end of a picture.
    case lineOrPicture
    /// There, and where what follows it leaves no doubt.
    case anywhere
  }

  /// The last two bytes of a JPEG picture.
  static let pictureEnd: UInt16 = 0xFFD9
  /// Bytes of the longest token; a longer boundary is none.
  static let longestToken = 256
  /// Blanks after a token, and bytes of a field's name after it, that are looked at.
  private static let longestTail = 64

  /// The tokens that may begin a delimiter; one once the stream has shown which.
  private(set) var tokens: [[UInt8]] {
    didSet { beginsDashed = tokens.indices.allSatisfy(isDashed) }
  }
  /// Whether each of them begins with two dashes.
  private var beginsDashed = true

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
  /// it, or leave them away in the delimiter, or quote it with apostrophes, which a boundary may hold as well.
  init(boundary: [UInt8]) {
    var readings = [boundary]
    if boundary.first == .apostrophe {
      let inner =
        boundary.dropFirst().last == .apostrophe ? boundary.dropFirst().dropLast() : boundary.dropFirst()
      if !inner.isEmpty { readings.append(Array(inner)) }
    }
    tokens = readings.flatMap { reading -> [[UInt8]] in
      let dashed = [.dash, .dash] + reading
      let holdsDashes = reading.count > 2 && reading.starts(with: [.dash, .dash])
      return holdsDashes || reading.first != .dash ? [dashed, reading] : [dashed]
    }
    beginsDashed = tokens.indices.allSatisfy(isDashed)
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
    // A token that counts begins right after a line end before the limit, or at the limit.
    let searched =
      around.limit < window.count - 2 ? window.extracting(first: max(0, around.limit + 2)) : window
    var place = 0
    var ahead = Ahead()
    while let token = nextToken(in: searched, from: place, &ahead) {
      if let finding = finding(of: match(window, at: token, around)) { return finding }
      place = token + 1
    }
    return .none(safe: safeEnd(of: window, around))
  }

  /// Where two dashes come next, and where a line begins next: each is looked for again once it is passed, so that the
  /// one that is rare is not looked for through all the rest at each of the other. Nil: there is none.
  private struct Ahead {
    var dashes: Int? = -1
    var line: Int? = -1
  }

  /// The next place at or after `start` where a token may begin.
  private func nextToken(in window: Span<UInt8>, from start: Int, _ ahead: inout Ahead) -> Int? {
    if let dashes = ahead.dashes, dashes < start {
      ahead.dashes = firstPair(of: .dash, in: window, from: start)
    }
    if beginsDashed { return ahead.dashes }
    if let line = ahead.line, line < start {
      ahead.line = firstIndex(of: .lineFeed, in: window, from: max(0, start - 1)).map { $0 + 1 }
    }
    guard let line = ahead.line else { return ahead.dashes }
    return min(ahead.dashes ?? Int.max, line)
  }

  /// Compares what stands at `place`, and has not been looked at yet, with a delimiter.
  private func match(_ window: Span<UInt8>, at place: Int, _ around: Surroundings) -> Match {
    if place > 0, window[place - 1] == .lineFeed {
      guard place - 1 < around.limit else { return .no }
      return matchLine(window, at: place, start: Self.start(ofLineEnd: place - 1, in: window), around)
    }
    return mayBegin(at: place, in: window, around) ? matchWithinLine(window, at: place, around) : .no
  }

  private func mayBegin(at place: Int, in window: Span<UInt8>, _ around: Surroundings) -> Bool {
    switch around.anchor {
    case .lineOrPicture: place <= around.limit && around.isAfterPicture(place, in: window)
    case .anywhere: true
    }
  }

  private static func start(ofLineEnd lineFeed: Int, in window: Span<UInt8>) -> Int {
    lineFeed > 0 && window[lineFeed - 1] == .carriageReturn ? lineFeed - 1 : lineFeed
  }

  /// Where the last bytes of a window begin that are the beginning of a delimiter although two dashes have not come.
  private func safeEnd(of window: Span<UInt8>, _ around: Surroundings) -> Int {
    let count = window.count
    guard count > 0, !around.isAtEnd else { return count }
    switch window[count - 1] {
    case .carriageReturn where count < around.limit: return count - 1
    case .lineFeed where count - 1 < around.limit: return Self.start(ofLineEnd: count - 1, in: window)
    case .dash:
      if count > 1, window[count - 2] == .lineFeed {
        return count - 2 < around.limit ? Self.start(ofLineEnd: count - 2, in: window) : count
      }
      return mayBegin(at: count - 1, in: window, around) ? count - 1 : count
    default: return count
    }
  }

  /// What a delimiter that would begin a line at `place` comes to.
  enum Match: Hashable {
    case no
    case needsMore(start: Int)
    case torn(at: Int)
    case delimiter(Delimiter)
  }

  /// Compares the line at `place` with a delimiter whose line end begins at `start`; `passed` bytes of its token have
  /// come before.
  func matchLine(
    _ window: Span<UInt8>, at place: Int, start: Int, after passed: Int = 0, _ around: Surroundings
  ) -> Match {
    var longest = -1
    for index in tokens.indices {
      let token = passed > 0 ? Array(tokens[index].dropFirst(passed)) : tokens[index]
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

  /// The delimiter at the front of a window that looks as nearly all do: CRLF, the one token, CRLF. Nil says nothing.
  func usualDelimiter(in window: Span<UInt8>) -> Delimiter? {
    guard tokens.count == 1 else { return nil }
    let end = tokens[0].count + 2
    guard window.count >= end + 2, window[0] == .carriageReturn, window[1] == .lineFeed,
      window[end] == .carriageReturn, window[end + 1] == .lineFeed,
      window.matchedBytes(of: tokens[0], at: 2) == end - 2
    else { return nil }
    return Delimiter(start: 0, end: end + 2, isClose: false, token: 0)
  }

  /// Whether no token begins with this byte.
  func beginsNoToken(_ byte: UInt8) -> Bool { beginsDashed && byte != .dash }

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

  /// Compares what stands at `place`, within a line, with a delimiter.
  private func matchWithinLine(_ window: Span<UInt8>, at place: Int, _ around: Surroundings) -> Match {
    let isAfterPicture = around.isAfterPicture(place, in: window)
    for index in tokens.indices where isDashed(index) {
      let token = tokens[index]
      let matched = window.matchedBytes(of: token, at: place)
      if matched < token.count {
        guard place + matched == window.count else { continue }
        if !around.isAtEnd { return .needsMore(start: place) }
        if matched >= 2, isAfterPicture { return .torn(at: place) }
        continue
      }
      let match = matchTailWithinLine(window, at: place, token: index, around, isAfterPicture)
      if match != .no { return match }
    }
    return .no
  }

  /// Compares what follows the token of a delimiter that begins within a line, at `start`.
  private func matchTailWithinLine(
    _ window: Span<UInt8>, at start: Int, token: Int, _ around: Surroundings, _ isAfterPicture: Bool
  ) -> Match {
    let place = start + tokens[token].count
    let dashes = window.count(from: place, upTo: 2, where: { $0 == .dash })
    let tail = place + dashes
    if dashes == 1, tail < window.count { return .no }
    let isClose = dashes == 2
    let blanks = window.count(from: tail, upTo: Self.longestTail, where: \.isBlank)
    func ended(at end: Int) -> Match {
      .delimiter(Delimiter(start: start, end: end, isClose: isClose, token: token))
    }
    switch window.lineEnd(at: tail + blanks) {
    case .no: return .no
    case .needsMore:
      if blanks == Self.longestTail { return .no }
      if !around.isAtEnd { return .needsMore(start: start) }
      return isClose || isAfterPicture ? ended(at: window.count) : .no
    case .length(let length):
      let next = tail + blanks + length
      if isAfterPicture { return ended(at: isClose ? tail : next) }
      let follows = isClose ? Shape.no : fieldName(window, at: next)
      if follows == .yes { return ended(at: next) }
      let isLast = next == window.count
      if !around.isAtEnd, isLast || follows == .needsMore { return .needsMore(start: start) }
      return isLast ? ended(at: isClose ? tail : next) : .no
    }
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
