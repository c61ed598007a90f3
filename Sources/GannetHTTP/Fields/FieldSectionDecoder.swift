/// Reads field lines up to and including the empty line that ends them (RFC 9112 section 5).
///
/// It takes its input in pieces of any size and refuses at the first wrong byte. A value loses the white space
/// around it; a folded line joins the one before it with one space (section 5.2). Bare LF ends a line too. A line that names no field is
/// skipped: one without a colon or without a name, a first line that begins with white space, and (outside
/// parts) one with white space before its colon, unless it names a framing field, which is an error. Any other
/// byte that cannot be in a name is an error in a head or trailer section, and skips the line in a part.
public struct FieldSectionDecoder: Sendable {
  /// Where the section stands: it decides what is tolerated, and the limit on its bytes.
  public enum Context: Sendable {
    /// After a status line. Limit: `Limits.headBytes`, status line included.
    case head
    /// After the last chunk. Limit: `Limits.trailerBytes`.
    case trailers
    /// The fields of one part of a multipart stream. White space may stand before the colon. Limit:
    /// `Limits.partHeadBytes`.
    case part
  }

  private enum State {
    case lineStart
    case name
    case spaceAfterName
    case beforeValue
    case value
    case skipping
    case lineFeed(after: Line)
    case done
  }

  /// What the line was whose CR has been read.
  private enum Line { case field, skipped, empty }

  private let context: Context
  private let fieldLimit: Int
  private var state = State.lineStart
  /// Whether the last line gave a field, so that a folded line belongs to it.
  private var canFold = false
  private var fields = FieldList()
  private var nameStart = 0
  private var nameEnd = 0
  private var valueStart = 0
  /// Where the value began in the input.
  private var valueOffset: Int64?
  private var bytesLeft: Int
  private var offset: Int64

  /// Makes a decoder of one section.
  public init(_ context: Context, limits: Limits = Limits()) {
    self.init(context, limits: limits, bytesBefore: 0, offset: 0)
  }

  /// Makes a decoder of a section that comes `bytesBefore` bytes after the start of what the byte limit counts
  /// and `offset` bytes after what error offsets count from.
  init(_ context: Context, limits: Limits, bytesBefore: Int, offset: Int64) {
    self.context = context
    self.offset = offset
    fieldLimit = limits.fieldCount
    bytesLeft =
      switch context {
      case .head: limits.headBytes - bytesBefore
      case .trailers: limits.trailerBytes - bytesBefore
      case .part: limits.partHeadBytes - bytesBefore
      }
  }

  /// Takes the next piece of input.
  ///
  /// - Parameter input: the bytes that follow those consumed so far.
  /// - Returns: how many bytes were consumed, and the fields once the empty line has been read. Without them all
  ///   of `input` is consumed; after them nothing more is.
  /// - Throws: the rule that was broken and where, counted from the first byte ever given. The decoder is of no
  ///   use after that.
  /// - Complexity: linear in the bytes consumed.
  public mutating func step(_ input: Span<UInt8>) throws(SyntaxError) -> (consumed: Int, fields: FieldList?) {
    if case .done = state { return (0, nil) }
    var index = 0
    while index < input.count {
      guard bytesLeft > 0 else { throw sizeError }
      try take(input[index])
      index += 1
      bytesLeft -= 1
      offset += 1
      if case .done = state {
        let complete = fields
        fields = FieldList()
        return (index, complete)
      }
    }
    return (index, nil)
  }

  private mutating func take(_ byte: UInt8) throws(SyntaxError) {
    switch state {
    case .lineStart: try takeLineStart(byte)
    case .name: try takeName(byte)
    case .spaceAfterName: try takeSpaceAfterName(byte)
    case .beforeValue:
      guard !byte.isBlank else { return }
      valueOffset = valueOffset ?? offset
      try takeValue(byte)
    case .value: try takeValue(byte)
    case .skipping:
      if byte == .carriageReturn {
        state = .lineFeed(after: .skipped)
      } else if byte == .lineFeed {
        endLine(.skipped)
      } else if !byte.isFieldText {
        throw error(.fieldLine, byte, "a control byte in a field line")
      }
    case .lineFeed(let line):
      guard byte == .lineFeed else { throw error(.lineEnd, byte, "a CR that no LF follows") }
      endLine(line)
    case .done: break  // `step` takes no byte after the end
    }
  }

  private mutating func takeLineStart(_ byte: UInt8) throws(SyntaxError) {
    switch byte {
    case .carriageReturn: state = .lineFeed(after: .empty)
    case .lineFeed: endLine(.empty)
    case .space, .tab:
      if canFold { reopenLastField() } else { state = .skipping }
    case .colon: state = .skipping
    default:
      nameStart = fields.bytes.count
      state = .name
      try takeName(byte)
    }
  }

  private mutating func takeName(_ byte: UInt8) throws(SyntaxError) {
    switch byte {
    case _ where byte.isToken: fields.bytes.append(byte)
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
      if context == .head && isFramingName {
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
      fields.bytes.append(byte)
      state = .value
    } else if byte == .carriageReturn {
      state = .lineFeed(after: .field)
    } else if byte == .lineFeed {
      endLine(.field)
    } else {
      throw error(.fieldValue, byte, "a control byte in a field value")
    }
  }

  private mutating func takeEndOfNamelessLine(_ byte: UInt8) {
    dropName()
    if byte == .carriageReturn {
      state = .lineFeed(after: .skipped)
    } else {
      endLine(.skipped)
    }
  }

  private mutating func endName() throws(SyntaxError) {
    guard fields.count < fieldLimit else {
      throw SyntaxError(.fieldCount, at: offset, "more than \(fieldLimit) fields")
    }
    nameEnd = fields.bytes.count
    valueStart = nameEnd
    valueOffset = nil
    state = .beforeValue
  }

  /// Forgets the name read so far and skips the rest of its line.
  private mutating func dropName() {
    fields.bytes.removeLast(fields.bytes.count - nameStart)
    state = .skipping
  }

  private mutating func endLine(_ line: Line) {
    switch line {
    case .empty: state = .done
    case .skipped:
      canFold = false
      state = .lineStart
    case .field:
      while fields.bytes.count > valueStart, fields.bytes[fields.bytes.count - 1].isBlank {
        fields.bytes.removeLast()
      }
      fields.appendEntry(
        nameStart, nameEnd, valueStart, fields.bytes.count, inputOffset: valueOffset ?? offset)
      canFold = true
      state = .lineStart
    }
  }

  /// Goes on with the value of the last field, after one space when it has any text.
  private mutating func reopenLastField() {
    fields.entries.removeLast()
    if fields.bytes.count > valueStart { fields.bytes.append(.space) }
    state = .beforeValue
  }

  private var isFramingName: Bool {
    let name = fields.bytes.span.extracting(nameStart..<fields.bytes.count)
    return name.equalsIgnoringCase("content-length") || name.equalsIgnoringCase("transfer-encoding")
  }

  private var sizeError: SyntaxError {
    switch context {
    case .head: SyntaxError(.headSize, at: offset, "a head longer than its limit")
    case .trailers: SyntaxError(.trailerSize, at: offset, "a trailer section longer than its limit")
    case .part: SyntaxError(.headSize, at: offset, "fields of a part longer than their limit")
    }
  }

  private func error(_ rule: SyntaxError.Rule, _ byte: UInt8, _ reason: String) -> SyntaxError {
    SyntaxError(rule, byte: byte, at: offset, reason)
  }
}
