import GannetHTTP

/// The transitions: one turn reads from the front of a window, in the state the splitter is in. Those within a part's
/// data are in a file of their own.
extension MixedReplaceSplitter {
  mutating func turn(_ window: Span<UInt8>) throws(SyntaxError) -> Turn {
    if part.completionIsDue { return completed() }
    return switch state {
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
    case .promiseKept: turnAfterPromise(window)
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
          .headSize, at: position + Int64(index),
          "the fields of a part longer than \(limits.partHeadBytes) bytes, the limit partHeadBytes")
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

  /// In a preamble.
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
  mutating func reached(_ delimiter: DelimiterScanner.Delimiter) -> Turn {
    scanner.learn(delimiter)
    state = delimiter.isClose ? .finishing : .fieldsStart
    return .moved(delimiter.end)
  }

  /// Skips a delimiter that is sent twice, or fields that are none.
  private mutating func turnAtFields(_ window: Span<UInt8>) -> Turn {
    if window.isEmpty { return .needs(1) }
    if scanner.beginsNoToken(window[0]) { return beginFields() }
    switch scanner.matchLine(window, at: 0, start: 0, around) {
    case .needsMore: return .needs(window.count + 1)
    case .torn: return .moved(window.count)
    case .delimiter(let delimiter): return reached(delimiter)
    case .no: return beginFields()
    }
  }

  private mutating func beginFields() -> Turn {
    fieldDecoder.restart()
    fieldsStart = position
    state = .fields
    return .moved(0)
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
    part = Part(fields)
    let length = lengths == .refuted ? nil : PromisedLength.read(fields)
    state = length.map { .promised($0, isCertain: false) } ?? .data
    around.beginsLine = true
    around.previous = 0
    return .event(.partBegan(fields), consumed: consumed)
  }
}
