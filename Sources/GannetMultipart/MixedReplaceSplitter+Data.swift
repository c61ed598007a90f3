import GannetHTTP

/// The transitions within a part's data, and at its end.
extension MixedReplaceSplitter {
  /// What is known of the part being read.
  struct Part: Sendable {
    /// Whether it was told that the part is complete.
    var isComplete = false
    /// Whether that is to be told before anything else.
    var completionIsDue = false
    var picture: PictureFollower
    /// Whether the picture has ended with the last byte told.
    var isAtPictureEnd = false
    /// The first two bytes of its data, and how many of them have come.
    var opening: UInt16 = 0
    var openingCount = 0

    init(_ fields: FieldList) { picture = PictureFollower(of: fields) }

    var opensPicture: Bool { openingCount == 2 && opening == 0xFFD8 }
  }

  mutating func completed() -> Turn {
    part.completionIsDue = false
    part.isComplete = true
    return .event(.partCompleted, consumed: 0)
  }

  mutating func turnInData(_ window: Span<UInt8>) -> Turn {
    switch scanner.scan(window, around) {
    case .none(safe: 0): return .needs(window.count + 1)
    case .none(let end): return data(window.extracting(first: end))
    case .torn(at: 0): return .moved(window.count)
    case .torn(let end): return data(window.extracting(first: end))
    case .delimiter(let delimiter):
      return delimiter.start > 0 ? data(window.extracting(first: delimiter.start)) : ended(by: delimiter)
    }
  }

  // MARK: Promised data

  mutating func turnInPromise(_ window: Span<UInt8>, _ missing: Int64, _ isCertain: Bool) -> Turn {
    if window.isEmpty { return .needs(1) }
    let promised = Int(clamping: missing)
    if isCertain { return promisedData(window, end: window.count, missing) }
    // With a delimiter in sight where the data is to end, none within it counts, so that none is looked for.
    if promised < window.count, promised <= limits.partDoubtBytes,
      case .delimiter = promisedEnd(window, at: promised)
    {
      state = .promised(missing, isCertain: true)
      return .moved(0)
    }
    var surroundings = around
    surroundings.anchor = .lineOrPicture
    // A line that begins in the last byte promised is not looked at: `\n-` ends data more often than a delimiter
    // begins there, and it may not be kept back. The end of a stream's first picture settles it otherwise.
    surroundings.limit = part.opensPicture && !lengths.areProved ? promised : promised - 2
    switch scanner.scan(window, surroundings) {
    case .none(safe: 0): return .needs(window.count + 1)
    case .none(let end): return promisedData(window, end: end, missing)
    case .torn(at: 0): return .moved(window.count)
    case .torn(let end): return promisedData(window, end: end, missing)
    case .delimiter(let delimiter):
      if delimiter.start > 0 { return promisedData(window, end: delimiter.start, missing) }
      if promised > limits.partDoubtBytes { return refuted(by: delimiter) }
      if window.count < promised { return around.isAtEnd ? refuted(by: delimiter) : .needs(promised) }
      switch promisedEnd(window, at: promised) {
      case .needsMore where !around.isAtEnd: return .needs(window.count + 1)
      case .needsMore, .no: return refuted(by: delimiter)
      case .delimiter, .end:
        state = .promised(missing, isCertain: true)
        return .moved(0)
      }
    }
  }

  private mutating func promisedData(_ window: Span<UInt8>, end: Int, _ missing: Int64) -> Turn {
    var piece = window.extracting(first: min(end, Int(clamping: missing)))
    // What may be kept back depends on whether a picture begins: that is to be known first, wherever the input is cut.
    if lengths == .untried, part.openingCount < 2 {
      piece = piece.extracting(first: 2 - part.openingCount)
    }
    // A length that the stream has proved needs no picture to agree.
    var endsPicture = false
    if lengths == .untried, let end = part.picture.follow(piece) {
      piece = piece.extracting(first: end)
      endsPicture = true
    }
    if case .promised(_, let isCertain) = state {
      state = .promised(missing - Int64(piece.count), isCertain: isCertain)
    }
    return told(piece, endsPicture: endsPicture)
  }

  mutating func turnAtPromisedEnd() -> Turn {
    part.completionIsDue = lengthIsBelieved
    if lengths != .untried { part.picture.lose() }
    state = .promiseKept
    return .moved(0)
  }

  /// Whether the promised length, which is in, needs no delimiter to be believed.
  private var lengthIsBelieved: Bool {
    let endsInPicture = part.opensPicture && around.previous == DelimiterScanner.pictureEnd
    return switch lengths {
    case .untried: part.isAtPictureEnd || part.picture.isBroken && endsInPicture
    // Of pictures in a stream that promises their lengths one that has not ended is believed later.
    case .proved(let endsPictures): endsInPicture || !endsPictures || !part.opensPicture
    case .refuted: false
    }
  }

  /// After the last promised byte.
  mutating func turnAfterPromise(_ window: Span<UInt8>) -> Turn {
    if around.previous == 0x0A2D {
      // A delimiter may have begun in the last bytes of a length that is a little too large.
      switch scanner.matchLine(window, at: 0, start: 0, after: 1, around) {
      case .delimiter(let delimiter): return refuted(by: delimiter)
      case .needsMore where !around.isAtEnd: return .needs(window.count + 1)
      case .needsMore, .torn, .no: break
      }
    }
    if let delimiter = scanner.usualDelimiter(in: window) { return proved(by: delimiter) }
    switch promisedEnd(window, at: 0) {
    case .needsMore where !around.isAtEnd: return .needs(window.count + 1)
    case .delimiter(let delimiter): return proved(by: delimiter)
    case .needsMore, .end: return endedWithStream(window)
    case .no:
      // Too short: what comes up to the next delimiter belongs to the part.
      lengths = .refuted
      state = .data
      return .moved(0)
    }
  }

  /// A delimiter stands where the part promised to end.
  private mutating func proved(by delimiter: DelimiterScanner.Delimiter) -> Turn {
    lengths = .proved(endsPictures: part.opensPicture && around.previous == DelimiterScanner.pictureEnd)
    return ended(by: delimiter)
  }

  private enum PromisedEnd { case delimiter(DelimiterScanner.Delimiter), end, needsMore, no }

  /// What stands where a part promised to end, after a few line ends, of any kind; not known when only those are there.
  private func promisedEnd(_ window: Span<UInt8>, at end: Int) -> PromisedEnd {
    let lineEnds = window.count(from: end, upTo: Self.longestSlack) {
      $0 == .carriageReturn || $0 == .lineFeed
    }
    let place = end + lineEnds
    return switch scanner.matchLine(window, at: place, start: place, around) {
    case .delimiter(let delimiter): .delimiter(delimiter)
    case .torn: .end
    case .needsMore: .needsMore
    case .no: place == window.count && lineEnds < Self.longestSlack ? .needsMore : .no
    }
  }

  /// Line ends, in bytes, that may stand between a part's promised end and the delimiter.
  private static let longestSlack = 8

  // MARK: Telling

  private mutating func data(_ piece: Span<UInt8>) -> Turn {
    if !part.isComplete, let end = part.picture.follow(piece) {
      part.completionIsDue = true
      return told(piece.extracting(first: end), endsPicture: true)
    }
    return told(piece)
  }

  private mutating func told(_ piece: Span<UInt8>, endsPicture: Bool = false) -> Turn {
    part.isAtPictureEnd = endsPicture
    var index = 0
    while part.openingCount < 2, index < piece.count {
      part.opening = part.opening << 8 | UInt16(piece[index])
      part.openingCount += 1
      index += 1
    }
    passed(piece)
    return .event(.data(0..<piece.count), consumed: piece.count)
  }

  /// The next window comes after `piece`.
  mutating func passed(_ piece: Span<UInt8>) {
    for index in max(0, piece.count - 2)..<piece.count {
      around.previous = around.previous << 8 | UInt16(piece[index])
    }
    around.beginsLine = false
  }

  /// The stream held a delimiter before the end that a part promised.
  private mutating func refuted(by delimiter: DelimiterScanner.Delimiter) -> Turn {
    lengths = .refuted
    return ended(by: delimiter)
  }

  private mutating func ended(by delimiter: DelimiterScanner.Delimiter) -> Turn {
    if !part.isComplete { return completed() }
    _ = reached(delimiter)
    return .event(.partEnded, consumed: delimiter.end)
  }

  /// The stream has ended where a part may end.
  private mutating func endedWithStream(_ window: Span<UInt8>) -> Turn {
    if !part.isComplete { return completed() }
    state = .between
    return .event(.partEnded, consumed: window.count)
  }

  mutating func finish() -> Turn {
    state = .finished
    return .event(.finished, consumed: 0)
  }
}
