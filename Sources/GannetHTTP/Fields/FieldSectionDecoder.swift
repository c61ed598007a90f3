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

  enum State {
    case start
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
  enum Line { case field, skipped, empty }

  let context: Context
  let limits: Limits
  var state = State.start
  /// Whether the last line gave a field, so that a folded line belongs to it.
  var canFold = false
  /// The text of the fields so far, and their places in it.
  var text: [UInt8] = []
  var places: [FieldPlaces] = []
  /// Where the values of framing fields go on after folds, so that errors in them can say where they are.
  var folds: [FieldFold] = []
  /// The storage of the last section's fields: used again for the next when nobody else holds it then.
  private var last: [UInt8] = []
  var nameStart = 0
  var nameEnd = 0
  var valueStart = 0
  /// Where the value began in the input.
  var valueOffset: Int64?
  /// Bytes that the section and the line may still have. A folded line goes on with the count of the one before it.
  private var bytesLeft = 0
  private var lineBytesLeft = 0
  var offset: Int64 = 0
  /// What was tolerated so far.
  public internal(set) var tolerated: Tolerances = []

  /// Storage of more than this is not kept for the next section.
  private static let keptBytes = 16 * 1024
  private static let keptPlaces = 256

  /// Makes a decoder of one section.
  public init(_ context: Context, limits: Limits = Limits()) {
    self.context = context
    self.limits = limits
    restart()
  }

  /// Begins with the next section, whatever became of the last one. Its fields take the storage of the last one's
  /// when nobody holds those any more, so that a steady flow of them allocates nothing.
  public mutating func restart() { restart(bytesBefore: 0, offset: 0) }

  /// Begins with a section that comes `bytesBefore` bytes after the start of what the byte limit counts and `offset`
  /// bytes after what error offsets count from.
  mutating func restart(bytesBefore: Int, offset: Int64) {
    self.offset = offset
    state = .start
    canFold = false
    tolerated = []
    lineBytesLeft = limits.lineBytes
    // Entries are 32 bits wide.
    bytesLeft = min(limit.bytes, Int(UInt32.max)) - bytesBefore
  }

  /// Begins with the first byte. `prefix` is kept with the fields' text and belongs to none.
  mutating func begin(keeping prefix: [UInt8] = []) {
    state = .lineStart
    text = takeStorage()
    text.removeAll(keepingCapacity: true)
    if !prefix.isEmpty { text.append(contentsOf: prefix) }
    places.removeAll(keepingCapacity: places.capacity <= Self.keptPlaces)
    folds = []
  }

  /// The storage of the last section's fields, with what it holds.
  mutating func takeStorage() -> [UInt8] {
    var storage: [UInt8] = []
    swap(&storage, &last)
    return storage.capacity <= Self.keptBytes ? storage : []
  }

  /// Keeps storage for the next section.
  mutating func keep(_ storage: [UInt8]) {
    last = storage
    if places.capacity > Self.keptPlaces { places = [] }
  }

  private mutating func complete() -> FieldList {
    var storage: [UInt8] = []
    swap(&storage, &text)
    var fields = FieldList(moving: &storage, places: places.span)
    fields.keep(folds.span)
    last = fields.storage
    return fields
  }

  /// Takes the next piece of input.
  ///
  /// - Parameter input: the bytes that follow those consumed so far.
  /// - Returns: how many bytes were consumed, and the fields once the empty line has been read. Without them all
  ///   of `input` is consumed; after them nothing more is.
  /// - Throws: the rule that was broken and where, counted from the first byte given since the start of the section.
  ///   The decoder is of no use after that until it is restarted.
  /// - Complexity: linear in the bytes consumed.
  public mutating func step(_ input: Span<UInt8>) throws(SyntaxError) -> (consumed: Int, fields: FieldList?) {
    if case .done = state { return (0, nil) }
    if case .start = state, !input.isEmpty { begin() }
    var marked = MarkedBlock()
    var index = 0
    while index < input.count {
      if case .lineStart = state {
        let folds = canFold && input[index].isBlank
        if !folds { lineBytesLeft = limits.lineBytes }
        let length =
          folds ? takeFoldedLine(input, from: index, &marked) : takeLine(input, from: index, &marked)
        if let length {
          index += length
          continue
        }
      }
      guard bytesLeft > 0 else { throw sizeError }
      guard lineBytesLeft > 0 else {
        throw SyntaxError(
          .lineSize, at: offset, "a field line", longerThan: "lineBytes", limits.lineBytes)
      }
      let end = runEnd(input, from: index, &marked)
      if end > index {
        takeRun(input.extracting(index..<end))
      } else {
        try take(input[index])
      }
      let taken = max(end - index, 1)
      index += taken
      count(taken)
      if case .done = state {
        return (index, complete())
      }
    }
    return (index, nil)
  }

  /// Where the bytes end that change nothing but the text being read, if that: of a name, of a value, of a line to skip,
  /// blanks.
  private func runEnd(_ input: Span<UInt8>, from index: Int, _ marked: inout MarkedBlock) -> Int {
    let limit = min(input.count, index + min(bytesLeft, lineBytesLeft))
    var end = index
    switch state {
    case .name: end = marked.tokenEnd(in: input, from: index)
    case .value, .skipping: end = marked.fieldTextEnd(in: input, from: index)
    case .spaceAfterName, .beforeValue: while end < limit, input[end].isBlank { end += 1 }
    case .start, .lineStart, .lineFeed, .done: break
    }
    return min(end, limit)
  }

  private mutating func takeRun(_ run: Span<UInt8>) {
    switch state {
    case .name, .value: text.append(copying: run)
    case .start, .lineStart, .spaceAfterName, .beforeValue, .skipping, .lineFeed, .done: break
    }
  }

  private mutating func count(_ taken: Int) {
    bytesLeft -= taken
    lineBytesLeft -= taken
    offset += Int64(taken)
  }

}

// Whole lines, at once. What is not whole, or past a limit, or wrong, is left to what goes byte by byte.
extension FieldSectionDecoder {
  /// Takes the line at `start`, which belongs to none before it, when it gives a field or is skipped; returns its length
  /// then.
  private mutating func takeLine(_ input: Span<UInt8>, from start: Int, _ marked: inout MarkedBlock) -> Int? {
    let plainEnd = marked.tokenEnd(in: input, from: start)
    guard let line = wholeLine(input, from: start, searched: plainEnd, &marked) else { return nil }
    if plainEnd > start, input[plainEnd] == .colon {
      guard places.count < limits.fieldCount else { return nil }
      var value = input.blanksTrimmed(plainEnd + 1..<line.end)
      if value.isEmpty { value = line.end..<line.end }
      nameStart = text.count
      nameEnd = nameStart + plainEnd - start
      if value.isEmpty {
        valueStart = nameEnd
        text.append(copying: input.extracting(start..<plainEnd))
      } else {
        valueStart = nameStart + value.lowerBound - start
        text.append(copying: input.extracting(start..<value.upperBound))
      }
      valueOffset = offset + Int64(value.lowerBound - start)
      endField()
    } else {
      guard namesNothing(input.extracting(start..<line.end), nameEnd: plainEnd - start) else { return nil }
      tolerated.insert(.skippedLine)
      canFold = false
    }
    if line.isBare { tolerated.insert(.bareLineFeed) }
    count(line.length)
    return line.length
  }

  /// Takes the line at `start`, which begins with a blank and belongs to the field before it; returns its length.
  private mutating func takeFoldedLine(
    _ input: Span<UInt8>, from start: Int, _ marked: inout MarkedBlock
  ) -> Int? {
    // Where a framing field goes on is noted byte by byte.
    guard context != .head || !isFramingName(to: nameEnd),
      let line = wholeLine(input, from: start, searched: start, &marked)
    else { return nil }
    tolerated.insert(.foldedLine)
    let value = input.blanksTrimmed(start..<line.end)
    if !value.isEmpty {
      if text.count > valueStart {
        // The blank before the text is the space that joins it.
        let space = text.count
        text.append(copying: input.extracting(value.lowerBound - 1..<value.upperBound))
        text[space] = .space
      } else {
        valueOffset = offset + Int64(value.lowerBound - start)
        text.append(copying: input.extracting(value))
      }
      places[places.count - 1] = fieldPlaces
    }
    if line.isBare { tolerated.insert(.bareLineFeed) }
    count(line.length)
    return line.length
  }

  /// The line at `start` that is whole and within the limits: where its text ends, its length with the line end, and
  /// whether that is a bare LF. Nothing before `searched` ends it.
  @inline(__always)
  private func wholeLine(
    _ input: Span<UInt8>, from start: Int, searched: Int, _ marked: inout MarkedBlock
  ) -> (end: Int, length: Int, isBare: Bool)? {
    let end = marked.fieldTextEnd(in: input, from: searched)
    guard end < input.count else { return nil }
    let isBare = input[end] == .lineFeed
    if !isBare {
      guard end + 1 < input.count, input[end] == .carriageReturn, input[end + 1] == .lineFeed else {
        return nil
      }
    }
    let length = end + (isBare ? 1 : 2) - start
    return length <= bytesLeft && length <= lineBytesLeft ? (end, length, isBare) : nil
  }

  /// Whether `line`, which begins with so many bytes of a token and belongs to no field, is one to skip.
  @inline(__always)
  private func namesNothing(_ line: Span<UInt8>, nameEnd: Int) -> Bool {
    guard !line.isEmpty else { return false }
    if nameEnd == 0 { return line[0].isBlank || line[0] == .colon || context == .part }
    if nameEnd == line.count { return true }
    // In a part the blanks may be before a colon, elsewhere anything but a blank is wrong.
    guard line[nameEnd].isBlank != (context == .part) else { return false }
    guard context == .head else { return true }
    var place = nameEnd
    while place < line.count, line[place].isBlank { place += 1 }
    let isField = place < line.count && line[place] == .colon
    return !isField || !Self.isFramingName(line.extracting(0..<nameEnd))
  }
}
