import GannetHTTP

/// The transitions: one turn reads from the front of a window, in the state the splitter is in.
extension MixedReplaceSplitter {
  mutating func turn(_ window: Span<UInt8>) throws(SyntaxError) -> Turn {
    switch state {
    case .start: turnAtStart(window)
    case .firstFields: try turnInFirstFields(window)
    case .sniffing: turnSniffing(window)
    case .unsplit: window.isEmpty ? .needs(1) : .event(.data(0..<window.count), consumed: window.count)
    case .between: turnBetween(window)
    case .fieldsStart: turnAtFields(window)
    case .fields: try turnInFields(window)
    case .data: turnInData(window)
    case .promised(0, _): turnAtPromisedEnd()
    case .promised(let missing, let isCertain): turnInPromise(window, missing, isCertain)
    case .promiseDoubted: turnInDoubt(window)
    case .finishing: finish()
    case .finished: window.isEmpty ? .needs(1) : .moved(window.count)
    }
  }

  // MARK: Before the first part

  private mutating func turnAtStart(_ window: Span<UInt8>) -> Turn {
    switch window.lineEnd(at: 0) {
    case .length(let length): return .moved(length)
    case .needsMore where !around.isAtEnd || window.isEmpty: return .needs(window.count + 1)
    case .needsMore, .no: break
    }
    switch scanner.matchLine(window, at: 0, start: 0, around) {
    case .needsMore: return .needs(window.count + 1)
    case .torn: return .moved(window.count)
    case .delimiter(let delimiter): return reached(delimiter)
    case .no:
      scanner.requireDashes()
      state = .firstFields
      return .moved(0)
    }
  }

  private mutating func turnInFirstFields(_ window: Span<UInt8>) throws(SyntaxError) -> Turn {
    for index in window.indices {
      if shape.isAtLineStart { firstBlockLine = firstBlock.count }
      guard firstBlock.count < limits.partHeadBytes else {
        throw SyntaxError(
          .headSize, at: position + Int64(index), "fields of a part longer than their limit")
      }
      firstBlock.append(window[index])
      switch shape.take(window[index]) {
      case .soFarFields: continue
      case .endOfFields:
        let block = firstBlock
        firstBlock = []
        fieldsStart = position + Int64(index + 1 - block.count)
        let fields = try decodeFields(block.span).fields ?? FieldList()
        return began(fields, consumed: index + 1)
      case .notFields:
        // A preamble. None of its lines before this one can be a delimiter: each had a field's name and colon.
        readAgain = Array(firstBlock[firstBlockLine...])
        firstBlock = []
        around.beginsLine = true
        state = .between
        return .moved(index + 1)
      }
    }
    return window.isEmpty ? .needs(1) : .moved(window.count)
  }

  private mutating func turnSniffing(_ window: Span<UInt8>) -> Turn {
    var start = 0
    while case .length(let length) = window.lineEnd(at: start) { start += length }
    let isCut = !around.isAtEnd && window.count < DelimiterScanner.longestToken
    let dashes = window.matchedBytes(of: [.dash, .dash], at: start)
    guard start < window.count, dashes == 2 else {
      let mayBegin = start + dashes == window.count || window.lineEnd(at: start) == .needsMore
      return isCut && mayBegin || window.isEmpty ? .needs(window.count + 1) : giveUpSplitting()
    }
    guard let lineFeed = firstIndex(of: .lineFeed, in: window, from: start) else {
      return isCut ? .needs(window.count + 1) : giveUpSplitting()
    }
    var end = lineFeed
    if window[end - 1] == .carriageReturn { end -= 1 }
    while window[end - 1].isBlank { end -= 1 }
    // A blank after the dashes begins a comment or a signature rather than a boundary.
    guard end - start > 2, !window[start + 2].isBlank, lineFeed < DelimiterScanner.longestToken else {
      return giveUpSplitting()
    }
    scanner = DelimiterScanner(token: Array(copying: window.extracting(start..<end)))
    state = .fieldsStart
    return .moved(lineFeed + 1)
  }

  private mutating func giveUpSplitting() -> Turn {
    state = .unsplit
    return .event(.unsplit, consumed: 0)
  }

  private mutating func turnBetween(_ window: Span<UInt8>) -> Turn {
    switch scanner.scan(window, around) {
    case .none(safe: 0): return .needs(window.count + 1)
    case .none(let safe):
      passed(window.extracting(first: safe))
      return .moved(safe)
    case .torn: return .moved(window.count)
    case .delimiter(let delimiter): return reached(delimiter)
    }
  }

  // MARK: Fields

  /// A delimiter that ends no part has been read.
  private mutating func reached(_ delimiter: DelimiterScanner.Delimiter) -> Turn {
    scanner.learn(delimiter)
    state = delimiter.isClose ? .finishing : .fieldsStart
    return .moved(delimiter.end)
  }

  /// Skips a delimiter that is sent twice, or fields that are none.
  private mutating func turnAtFields(_ window: Span<UInt8>) -> Turn {
    if window.isEmpty { return .needs(1) }
    switch scanner.matchLine(window, at: 0, start: 0, around) {
    case .needsMore: return .needs(window.count + 1)
    case .torn: return .moved(window.count)
    case .delimiter(let delimiter): return reached(delimiter)
    case .no:
      fieldDecoder = FieldSectionDecoder(.part, limits: limits)
      fieldsStart = position
      state = .fields
      return .moved(0)
    }
  }

  private mutating func turnInFields(_ window: Span<UInt8>) throws(SyntaxError) -> Turn {
    if window.isEmpty { return .needs(1) }
    let (consumed, fields) = try decodeFields(window)
    return fields.map { began($0, consumed: consumed) } ?? .moved(consumed)
  }

  private mutating func decodeFields(
    _ window: Span<UInt8>
  ) throws(SyntaxError) -> (consumed: Int, fields: FieldList?) {
    do throws(SyntaxError) { return try fieldDecoder.step(window) } catch {
      throw error.moved(by: fieldsStart)
    }
  }

  private mutating func began(_ fields: FieldList, consumed: Int) -> Turn {
    state = PromisedLength.read(fields).map { .promised($0, isCertain: false) } ?? .data
    around.beginsLine = true
    around.previous = 0
    opening = 0
    openingCount = 0
    return .event(.partBegan(fields), consumed: consumed)
  }

  // MARK: Data

  private mutating func turnInData(_ window: Span<UInt8>) -> Turn {
    switch scanner.scan(window, around) {
    case .none(safe: 0): return .needs(window.count + 1)
    case .none(let end): return data(window.extracting(first: end))
    case .torn(at: 0): return .moved(window.count)
    case .torn(let end): return data(window.extracting(first: end))
    case .delimiter(let delimiter):
      return delimiter.start > 0 ? data(window.extracting(first: delimiter.start)) : ended(by: delimiter)
    }
  }

  private mutating func turnInPromise(_ window: Span<UInt8>, _ missing: Int64, _ isCertain: Bool) -> Turn {
    if window.isEmpty { return .needs(1) }
    let promised = Int(clamping: missing)
    if isCertain { return promisedData(window, end: window.count, missing) }
    var surroundings = around
    surroundings.anchoredOnly = true
    // A line that begins in the last byte promised is not looked at: `\n-` ends data more often than a delimiter
    // begins there, and it may not be kept back.
    surroundings.limit = promised - 2
    switch scanner.scan(window, surroundings) {
    case .none(safe: 0): return .needs(window.count + 1)
    case .none(let end): return promisedData(window, end: end, missing)
    case .torn(at: 0): return .moved(window.count)
    case .torn(let end): return promisedData(window, end: end, missing)
    case .delimiter(let delimiter):
      if delimiter.start > 0 { return promisedData(window, end: delimiter.start, missing) }
      if promised > limits.partDoubtBytes { return ended(by: delimiter) }
      if window.count < promised { return around.isAtEnd ? ended(by: delimiter) : .needs(promised) }
      switch promisedEnd(window, at: promised) {
      case .needsMore where !around.isAtEnd: return .needs(window.count + 1)
      case .needsMore, .no: return ended(by: delimiter)
      case .yes:
        state = .promised(missing, isCertain: true)
        return .moved(0)
      }
    }
  }

  private mutating func promisedData(_ window: Span<UInt8>, end: Int, _ missing: Int64) -> Turn {
    let piece = window.extracting(first: min(end, Int(clamping: missing)))
    if case .promised(_, let isCertain) = state {
      state = .promised(missing - Int64(piece.count), isCertain: isCertain)
    }
    return data(piece)
  }

  private mutating func turnAtPromisedEnd() -> Turn {
    if openingCount == 2, opening == 0xFFD8, around.previous != DelimiterScanner.pictureEnd {
      state = .promiseDoubted
      return .moved(0)
    }
    // A delimiter may have begun in the last bytes of a length that is a little too large.
    if around.previous == 0x0A2D { readAgain = [.lineFeed, .dash] }
    return endedAsPromised()
  }

  private mutating func turnInDoubt(_ window: Span<UInt8>) -> Turn {
    switch promisedEnd(window, at: 0) {
    case .needsMore where !around.isAtEnd: return .needs(window.count + 1)
    case .needsMore, .yes: return endedAsPromised()
    case .no:
      state = .data
      return .moved(0)
    }
  }

  private mutating func endedAsPromised() -> Turn {
    around.beginsLine = readAgain.isEmpty
    around.previous = 0
    state = .between
    return .event(.partEnded(complete: true), consumed: 0)
  }

  private enum Verdict { case yes, no, needsMore }

  /// Whether a delimiter stands where a part promised to end, after up to four line ends; not known when only
  /// those are there.
  private func promisedEnd(_ window: Span<UInt8>, at end: Int) -> Verdict {
    var place = end
    for _ in 0..<4 {
      switch window.lineEnd(at: place) {
      case .length(let length): place += length
      case .needsMore: return .needsMore
      case .no: break
      }
    }
    return switch scanner.matchLine(window, at: place, start: place, around) {
    case .delimiter, .torn: .yes
    case .needsMore: .needsMore
    case .no: place == window.count ? .needsMore : .no
    }
  }

  private mutating func data(_ piece: Span<UInt8>) -> Turn {
    var index = 0
    while openingCount < 2, index < piece.count {
      opening = opening << 8 | UInt16(piece[index])
      openingCount += 1
      index += 1
    }
    passed(piece)
    return .event(.data(0..<piece.count), consumed: piece.count)
  }

  /// The next window comes after `piece`.
  private mutating func passed(_ piece: Span<UInt8>) {
    for index in max(0, piece.count - 2)..<piece.count {
      around.previous = around.previous << 8 | UInt16(piece[index])
    }
    around.beginsLine = false
  }

  private mutating func ended(by delimiter: DelimiterScanner.Delimiter) -> Turn {
    _ = reached(delimiter)
    return .event(.partEnded(complete: true), consumed: delimiter.end)
  }

  private mutating func finish() -> Turn {
    state = .finished
    return .event(.finished, consumed: 0)
  }
}
