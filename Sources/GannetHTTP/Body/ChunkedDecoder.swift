/// Takes the chunked coding off a body (RFC 9112 section 7.1).
///
/// It takes its input in pieces of any size and refuses at the first wrong byte. Chunk extensions are skipped.
/// Tolerated: leading zeros in a size, spaces and tabs after it, an empty extension. Everything else is an error:
/// no digit, a sign, `0x`, a size past 2⁶³−1, bare LF (but in trailers), CR or LF inside a quoted extension value.
///
/// What a peer can send beside data is limited line by line (`Limits.chunkLineBytes`, `Limits.chunkExtensionBytes`) and
/// over the body (`Limits.chunkExtensionTotalBytes`).
public struct ChunkedDecoder: Sendable {
  /// What the input held next.
  public enum Step: Hashable, Sendable {
    /// All input was consumed; more is needed.
    case needsInput
    /// Data of the body: this range of the input.
    case body(Range<Int>)
    /// The body is complete, with these trailer fields.
    case trailers(FieldList)
  }

  private enum State {
    case sizeStart
    case size
    case afterSize
    case `extension`
    case quoted
    case quotedPair
    case lineFeed
    case data
    case dataEnd
    case dataEndLineFeed
    case trailers
    case done
  }

  private let limits: Limits
  private var state = State.sizeStart
  /// The size being read, then the bytes of the chunk still to come.
  private var size: Int64 = 0
  /// Bytes of the chunk's line so far, and of its extensions among them.
  private var lineBytes = 0
  private var extensionBytes = 0
  /// Bytes of all lines so far that no data pays for.
  private var unpaidBytes = 0
  private var trailers: FieldSectionDecoder
  private var offset: Int64 = 0

  /// Makes a decoder of one body.
  public init(limits: Limits = Limits()) {
    self.limits = limits
    trailers = FieldSectionDecoder(.trailers, limits: limits)
  }

  /// Begins with the next body, whatever became of the last one; offsets count from here.
  public mutating func restart() {
    state = .sizeStart
    size = 0
    beginLine()
    unpaidBytes = 0
    offset = 0
    trailers.restart()
  }

  /// Whether the line of the last chunk has been read: all data is known, whatever of the trailers is missing.
  public var hasAllData: Bool {
    switch state {
    case .trailers, .done: true
    default: false
    }
  }

  /// What was tolerated in the trailers so far.
  public var tolerated: Tolerances { trailers.tolerated }

  /// Takes the next piece of input.
  ///
  /// - Parameter input: the bytes that follow those consumed so far.
  /// - Returns: how many bytes were consumed, and what they ended with. A range of data ends where the consumed
  ///   bytes end, so call again with the rest of `input` until all of it is consumed or the trailers came.
  /// - Throws: the rule that was broken and where, counted from the first byte given since the start or the last
  ///   `restart()`. The decoder is of no use after that until it is restarted.
  /// - Complexity: constant for data, linear in the other bytes consumed.
  public mutating func step(_ input: Span<UInt8>) throws(SyntaxError) -> (consumed: Int, step: Step) {
    var index = 0
    while index < input.count {
      switch state {
      case .data:
        let length = Int(min(Int64(input.count - index), size))
        size -= Int64(length)
        offset += Int64(length)
        if size == 0 { state = .dataEnd }
        return (index + length, .body(index..<index + length))
      case .trailers:
        let (consumed, fields) = try trailers.step(input.extracting(droppingFirst: index))
        guard let fields else { return (index + consumed, .needsInput) }
        state = .done
        return (index + consumed, .trailers(fields))
      case .done: return (index, .needsInput)
      case .sizeStart:
        if let line = plainLine(input, from: index) {
          size = line.size
          offset += Int64(line.end - index - 1)
          index = line.end
          endLine()
          offset += 1
        } else {
          try take(input[index])
          index += 1
          offset += 1
        }
      case .dataEnd
      where index + 1 < input.count && input[index] == .carriageReturn && input[index + 1] == .lineFeed:
        state = .sizeStart
        index += 2
        offset += 2
      default:
        let run = takeRun(input, from: index)
        if run == 0 { try take(input[index]) }
        index += max(run, 1)
        offset += Int64(max(run, 1))
      }
    }
    return (index, .needsInput)
  }

  /// The size in a line that lies whole at `start` and holds nothing else, and where it ends; nil for any other line.
  private func plainLine(_ input: Span<UInt8>, from start: Int) -> (size: Int64, end: Int)? {
    var size: Int64 = 0
    var index = start
    // 15 digits cannot overflow, and with their CR are what a line may have unpaid.
    let end = min(input.count, start + min(15, limits.chunkLineBytes - 1))
    while index < end, let digit = input[index].hexadecimalValue {
      size = size &<< 4 | Int64(digit)
      index += 1
    }
    guard index > start, index + 1 < input.count, input[index] == .carriageReturn,
      input[index + 1] == .lineFeed
    else { return nil }
    return (size, index + 2)
  }

  /// Takes the bytes from `start` on that only go on with what is being read of a line, as far as no limit is reached;
  /// returns how many.
  private mutating func takeRun(_ input: Span<UInt8>, from start: Int) -> Int {
    let isSize = state == .size
    let free = max(0, Int(min(size, Int64.max - 16)) + 16 - lineBytes)
    let unpaid = limits.chunkExtensionTotalBytes - unpaidBytes
    var room = min(input.count - start, limits.chunkLineBytes - lineBytes)
    if !isSize { room = min(room, limits.chunkExtensionBytes - extensionBytes) }
    if room > free, room - free > unpaid { room = free + unpaid }
    guard room > 0 else { return 0 }
    let count = runLength(input.extracting(start..<start + room))
    lineBytes += count
    if !isSize { extensionBytes += count }
    unpaidBytes += max(0, count - free)
    return count
  }

  /// How many bytes at the front of `input` only go on with what is being read of a line.
  private func runLength(_ input: Span<UInt8>) -> Int {
    var count = 0
    switch state {
    case .size where size == 0: while count < input.count, input[count] == 0x30 { count += 1 }
    case .afterSize: while count < input.count, input[count].isBlank { count += 1 }
    case .extension:
      while count < input.count, input[count].isFieldText, input[count] != .quote { count += 1 }
    case .quoted:
      while count < input.count, input[count].isFieldText, input[count] != .quote {
        let length = input[count] == .backslash ? 2 : 1
        guard length == 1 || count + 1 < input.count && input[count + 1].isFieldText else { break }
        count += length
      }
    default: break
    }
    return count
  }

  private mutating func take(_ byte: UInt8) throws(SyntaxError) {
    switch state {
    case .sizeStart:
      guard byte.hexadecimalValue != nil else {
        throw error(.chunkSize, byte, "a chunk size without a digit")
      }
      state = .size
      size = 0
      try takeInLine(byte)
    case .size, .afterSize, .extension, .quoted, .quotedPair: try takeInLine(byte)
    case .lineFeed:
      guard byte == .lineFeed else { throw error(.chunkSize, byte, "a CR that no LF follows") }
      endLine()
    case .dataEnd:
      guard byte == .carriageReturn else {
        throw error(.chunkDataEnd, byte, "no CRLF after the data of a chunk")
      }
      state = .dataEndLineFeed
    case .dataEndLineFeed:
      guard byte == .lineFeed else { throw error(.chunkDataEnd, byte, "no CRLF after the data of a chunk") }
      state = .sizeStart
    case .data, .trailers, .done: break  // `step` handles these itself
    }
  }

  /// Takes a byte of the line before a chunk's data.
  private mutating func takeInLine(_ byte: UInt8) throws(SyntaxError) {
    guard lineBytes < limits.chunkLineBytes else {
      throw SyntaxError(
        .chunkLineSize, at: offset, "a chunk's line", longerThan: "chunkLineBytes", limits.chunkLineBytes)
    }
    lineBytes += 1
    if byte != .carriageReturn, !isDigitOfSize(byte) {
      guard extensionBytes < limits.chunkExtensionBytes else {
        throw SyntaxError(
          .chunkExtensionSize, at: offset, "the extensions of a chunk", longerThan: "chunkExtensionBytes",
          limits.chunkExtensionBytes)
      }
      extensionBytes += 1
    }
    // Of each line its first 16 bytes are free, and as many more as the chunk has data.
    if lineBytes > 16, Int64(lineBytes - 16) > size {
      guard unpaidBytes < limits.chunkExtensionTotalBytes else {
        throw SyntaxError(
          .chunkExtensionTotal, at: offset, "the extensions of all chunks, beyond their data,",
          longerThan: "chunkExtensionTotalBytes", limits.chunkExtensionTotalBytes)
      }
      unpaidBytes += 1
    }
    switch state {
    case .size:
      if let digit = byte.hexadecimalValue { return try appendDigit(digit, byte) }
      try takeAfterSize(byte)
    case .afterSize: try takeAfterSize(byte)
    case .quoted:
      switch byte {
      case .quote: state = .extension
      case .backslash: state = .quotedPair
      default: try checkExtension(byte)
      }
    case .quotedPair:
      try checkExtension(byte)
      state = .quoted
    default:
      switch byte {
      case .quote: state = .quoted
      case .carriageReturn: state = .lineFeed
      default: try checkExtension(byte)
      }
    }
  }

  private func isDigitOfSize(_ byte: UInt8) -> Bool {
    if case .size = state { byte.hexadecimalValue != nil } else { false }
  }

  private mutating func takeAfterSize(_ byte: UInt8) throws(SyntaxError) {
    switch byte {
    case .space, .tab: state = .afterSize
    case .semicolon: state = .extension
    case .carriageReturn: state = .lineFeed
    default: throw error(.chunkSize, byte, "a byte that cannot follow a chunk size")
    }
  }

  private mutating func appendDigit(_ digit: UInt8, _ byte: UInt8) throws(SyntaxError) {
    let (shifted, overflow) = size.multipliedReportingOverflow(by: 16)
    if overflow { throw error(.chunkSize, byte, "a chunk size past 2^63-1") }
    size = shifted | Int64(digit)
  }

  private func checkExtension(_ byte: UInt8) throws(SyntaxError) {
    if !byte.isFieldText { throw error(.chunkExtension, byte, "a byte that cannot be in a chunk extension") }
  }

  private mutating func beginLine() {
    lineBytes = 0
    extensionBytes = 0
  }

  private mutating func endLine() {
    beginLine()
    if size == 0 {
      state = .trailers
      // The LF that ends this line is counted by `step`, after this.
      trailers.restart(bytesBefore: 0, offset: offset + 1)
    } else {
      state = .data
    }
  }

  private func error(_ rule: SyntaxError.Rule, _ byte: UInt8, _ reason: String) -> SyntaxError {
    SyntaxError(rule, byte: byte, at: offset, reason)
  }
}
