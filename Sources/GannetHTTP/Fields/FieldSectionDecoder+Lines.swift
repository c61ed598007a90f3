// What each byte of a field line does.
extension FieldSectionDecoder {
  mutating func take(_ byte: UInt8) throws(SyntaxError) {
    switch state {
    case .lineStart: try takeLineStart(byte)
    case .name: try takeName(byte)
    case .spaceAfterName: try takeSpaceAfterName(byte)
    case .beforeValue:
      guard !byte.isBlank else { return }
      beginText()
      try takeValue(byte)
    case .value: try takeValue(byte)
    case .skipping:
      if byte == .carriageReturn {
        state = .lineFeed(after: .skipped)
      } else if byte == .lineFeed {
        endLineBare(.skipped)
      } else if !byte.isFieldText {
        throw error(.fieldLine, byte, "a control byte in a field line")
      }
    case .lineFeed(let line):
      guard byte == .lineFeed else { throw error(.lineEnd, byte, "a CR that no LF follows") }
      endLine(line)
    case .start, .done: break  // `step` begins before the first byte, and takes none after the end
    }
  }

  private mutating func takeLineStart(_ byte: UInt8) throws(SyntaxError) {
    switch byte {
    case .carriageReturn: state = .lineFeed(after: .empty)
    case .lineFeed: endLineBare(.empty)
    case .space, .tab:
      if canFold { reopenLastField() } else { skipLine() }
    case .colon: skipLine()
    default:
      nameStart = text.count
      state = .name
      try takeName(byte)
    }
  }

  private mutating func takeName(_ byte: UInt8) throws(SyntaxError) {
    switch byte {
    case _ where byte.isToken: text.append(byte)
    case .colon: try endName()
    case .space, .tab: state = .spaceAfterName
    case .carriageReturn, .lineFeed: takeEndOfNamelessLine(byte)
    case _ where context == .part && byte.isFieldText: dropName()
    default: throw error(.fieldName, byte, "a byte that cannot be in a field name")
    }
  }

  private mutating func takeSpaceAfterName(_ byte: UInt8) throws(SyntaxError) {
    switch byte {
    case .space, .tab: break
    case .colon:
      if context == .part { return try endName() }
      if context == .head && isFramingName(to: text.count) {
        throw error(.fieldName, byte, "white space between the name of a framing field and its colon")
      }
      dropName()
    case .carriageReturn, .lineFeed: takeEndOfNamelessLine(byte)
    case _ where byte.isFieldText: dropName()
    default: throw error(.fieldLine, byte, "a control byte in a field line")
    }
  }

  private mutating func takeValue(_ byte: UInt8) throws(SyntaxError) {
    if byte.isFieldText {
      text.append(byte)
      state = .value
    } else if byte == .carriageReturn {
      state = .lineFeed(after: .field)
    } else if byte == .lineFeed {
      endLineBare(.field)
    } else {
      throw error(.fieldValue, byte, "a control byte in a field value")
    }
  }

  private mutating func takeEndOfNamelessLine(_ byte: UInt8) {
    dropName()
    if byte == .carriageReturn {
      state = .lineFeed(after: .skipped)
    } else {
      endLineBare(.skipped)
    }
  }

  private mutating func endName() throws(SyntaxError) {
    guard places.count < limits.fieldCount else {
      throw SyntaxError(
        .fieldCount, at: offset, "more than \(limits.fieldCount) fields, the limit fieldCount")
    }
    nameEnd = text.count
    valueStart = nameEnd
    valueOffset = nil
    state = .beforeValue
  }

  /// Forgets the name read so far and skips the rest of its line.
  private mutating func dropName() {
    text.removeLast(text.count - nameStart)
    skipLine()
  }

  private mutating func skipLine() {
    tolerated.insert(.skippedLine)
    state = .skipping
  }

  private mutating func endLineBare(_ line: Line) {
    tolerated.insert(.bareLineFeed)
    endLine(line)
  }

  private mutating func endLine(_ line: Line) {
    switch line {
    case .empty: state = .done
    case .skipped:
      canFold = false
      state = .lineStart
    case .field:
      while text.count > valueStart, text[text.count - 1].isBlank { text.removeLast() }
      endField()
    }
  }

  /// Ends the field whose name and value lie in the text.
  mutating func endField() {
    places.append(fieldPlaces)
    canFold = true
    state = .lineStart
  }

  var fieldPlaces: FieldPlaces {
    FieldPlaces(nameStart, nameEnd, valueStart, text.count, inputOffset: Int(valueOffset ?? offset))
  }

  /// Goes on with the value of the last field, after one space when it has any text.
  private mutating func reopenLastField() {
    tolerated.insert(.foldedLine)
    places.removeLast()
    if text.count > valueStart { text.append(.space) }
    state = .beforeValue
  }

  /// The text of a value begins with this byte, or goes on with it after a fold.
  private mutating func beginText() {
    guard valueOffset != nil, text.count > valueStart else { return valueOffset = offset }
    guard context == .head, isFramingName(to: nameEnd) else { return }
    // Of folds without text between them only the last one counts.
    if let last = folds.last, Int(last.textPosition) == text.count { folds.removeLast() }
    folds.append(FieldFold(at: text.count, from: offset))
  }

  func isFramingName(to end: Int) -> Bool {
    Self.mayBeFramingName(end - nameStart) && Self.isFramingName(text.span.extracting(nameStart..<end))
  }

  static func isFramingName(_ name: Span<UInt8>) -> Bool {
    name.equalsIgnoringCase("content-length") || name.equalsIgnoringCase("transfer-encoding")
  }

  /// Whether it may be, by its length: this is asked of each folded line.
  @inline(__always)
  private static func mayBeFramingName(_ length: Int) -> Bool { length == 14 || length == 17 }

  var limit: (bytes: Int, name: String) {
    switch context {
    case .head: (limits.headBytes, "headBytes")
    case .trailers: (limits.trailerBytes, "trailerBytes")
    case .part: (limits.partHeadBytes, "partHeadBytes")
    }
  }

  var sizeError: SyntaxError {
    let (rule, what): (SyntaxError.Rule, String) =
      switch context {
      case .head: (.headSize, "a head")
      case .trailers: (.trailerSize, "a trailer section")
      case .part: (.headSize, "the fields of a part")
      }
    return SyntaxError(rule, at: offset, what, longerThan: limit.name, limit.bytes)
  }

  private func error(_ rule: SyntaxError.Rule, _ byte: UInt8, _ reason: String) -> SyntaxError {
    SyntaxError(rule, byte: byte, at: offset, reason)
  }
}
