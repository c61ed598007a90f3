/// Reads a head that lies whole and plain at the start of the input, in one pass with one copy.
///
/// It knows the common form only, HTTP/1.x with single spaces and no folded, nameless or wrong line; anything else
/// is left to the decoders that go byte by byte, which say what is wrong. So it must agree with them on what it
/// takes: a test proves that on the fixtures and on random changes of them.
enum WholeHeadParser {
  /// The head at the start of `input` and its length in bytes, or nil when it is not whole, not plain, or past a
  /// limit.
  static func parse(_ input: Span<UInt8>, limits: Limits) -> (consumed: Int, head: ResponseHead)? {
    guard let (line, fieldsStart) = statusLine(input) else { return nil }
    guard let (entries, end) = fieldLines(input, from: fieldsStart, limit: limits.fieldCount) else {
      return nil
    }
    guard end <= limits.headBytes else { return nil }
    var fields = FieldList()
    fields.entries = entries
    fields.bytes = Array(copying: input.extracting(fieldsStart..<end))
    var head = line
    head.fields = fields
    return (end, head)
  }

  /// Reads `HTTP/1.x nnn` with what follows up to the line end.
  private static func statusLine(_ input: Span<UInt8>) -> (head: ResponseHead, end: Int)? {
    guard input.count > 15, input[0] == 0x48, input[1] == 0x54, input[2] == 0x54, input[3] == 0x50,
      input[4] == 0x2F, input[5] == 0x31, input[6] == 0x2E, input[7].isDigit, input[8] == .space,
      input[9].isDigit, input[9] != 0x30, input[10].isDigit, input[11].isDigit
    else { return nil }
    let status = Int(input[9]) * 100 + Int(input[10]) * 10 + Int(input[11]) - 0x30 * 111
    guard let lineFeed = firstIndex(of: .lineFeed, in: input, from: 12) else { return nil }
    let lineEnd = input[lineFeed - 1] == .carriageReturn ? lineFeed - 1 : lineFeed
    guard lineEnd == 12 || input[12] == .space, input.isFieldText(12..<lineEnd) else { return nil }
    // A tab before the phrase belongs to it, a space does not.
    var phraseStart = 12
    while phraseStart < lineEnd, input[phraseStart] == .space { phraseStart += 1 }
    let trimmed = input.blanksTrimmed(12..<lineEnd)
    let phrase = phraseStart..<(trimmed.isEmpty ? phraseStart : trimmed.upperBound)
    let reason = phrase.isEmpty ? "" : String(fieldText: input.extracting(phrase))
    let minorVersion: UInt8 = input[7] == 0x30 ? 0 : 1
    return (ResponseHead(minorVersion: minorVersion, status: status, reason: reason), lineFeed + 1)
  }

  /// Reads field lines from `start` up to and including the empty line. The entries count from `start`.
  private static func fieldLines(
    _ input: Span<UInt8>, from start: Int, limit: Int
  ) -> (entries: [FieldList.Entry], end: Int)? {
    var entries: [FieldList.Entry] = []
    entries.reserveCapacity(min(16, limit))
    var position = start
    while position < input.count {
      let nameStart = position
      if input[position] == .lineFeed { return (entries, position + 1) }
      if input[position] == .carriageReturn {
        guard position + 1 < input.count, input[position + 1] == .lineFeed else { return nil }
        return (entries, position + 2)
      }
      // A folded line has no name, so it ends this.
      while position < input.count, input[position].isToken { position += 1 }
      guard position > nameStart, position < input.count, input[position] == .colon, entries.count < limit,
        let lineFeed = firstIndex(of: .lineFeed, in: input, from: position)
      else { return nil }
      let lineEnd = input[lineFeed - 1] == .carriageReturn ? lineFeed - 1 : lineFeed
      guard input.isFieldText(position..<lineEnd) else { return nil }
      var value = input.blanksTrimmed(position + 1..<lineEnd)
      if value.isEmpty { value = lineEnd..<lineEnd }
      entries.append(
        FieldList.Entry(
          nameStart: UInt32(clamping: nameStart - start), nameEnd: UInt32(clamping: position - start),
          valueStart: UInt32(clamping: value.lowerBound - start),
          valueEnd: UInt32(clamping: value.upperBound - start),
          inputOffset: UInt32(clamping: value.lowerBound)))
      position = lineFeed + 1
    }
    return nil
  }
}

extension Span where Element == UInt8 {
  /// Whether every byte of `range` may be in a field value.
  fileprivate func isFieldText(_ range: Range<Int>) -> Bool {
    let text = extracting(range)
    // No branch on a byte, so that the loop is vectorised.
    var wrong: UInt8 = 0
    for index in text.indices {
      let byte = text[index]
      wrong |= (byte < 0x20 ? 1 : 0) & (byte != 0x09 ? 1 : 0) | (byte == 0x7F ? 1 : 0)
    }
    return wrong == 0
  }
}
