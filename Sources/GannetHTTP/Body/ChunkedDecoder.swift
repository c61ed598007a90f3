/// Takes the chunked coding off a body (RFC 9112 section 7.1).
///
/// It takes its input in pieces of any size and refuses at the first wrong byte. Chunk extensions are skipped.
/// Tolerated: leading zeros in a size, spaces and tabs after it, an empty extension. Everything else is an error:
/// no digit, a sign, `0x`, a size past 2⁶³−1, bare LF (but in trailers), CR or LF inside a quoted extension value.
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
  private var lineBytes = 0
  private var trailers: FieldSectionDecoder
  private var offset: Int64 = 0

  /// Makes a decoder of one body.
  public init(limits: Limits = Limits()) {
    self.limits = limits
    trailers = FieldSectionDecoder(.trailers, limits: limits)
  }

  /// Whether the line of the last chunk has been read: all data is known, whatever of the trailers is missing.
  public var hasAllData: Bool {
    switch state {
    case .trailers, .done: true
    default: false
    }
  }

  /// Takes the next piece of input.
  ///
  /// - Parameter input: the bytes that follow those consumed so far.
  /// - Returns: how many bytes were consumed, and what they ended with. A range of data ends where the consumed
  ///   bytes end, so call again with the rest of `input` until all of it is consumed or the trailers came.
  /// - Throws: the rule that was broken and where, counted from the first byte ever given. The decoder is of no
  ///   use after that.
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
      default:
        try take(input[index])
        index += 1
        offset += 1
      }
    }
    return (index, .needsInput)
  }

  private mutating func take(_ byte: UInt8) throws(SyntaxError) {
    switch state {
    case .sizeStart:
      guard byte.hexadecimalValue != nil else {
        throw error(.chunkSize, byte, "a chunk size without a digit")
      }
      state = .size
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
      throw SyntaxError(.chunkLineSize, at: offset, "a chunk line longer than its limit")
    }
    lineBytes += 1
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

  private mutating func endLine() {
    lineBytes = 0
    if size == 0 {
      state = .trailers
      // The LF that ends this line is counted by `step`, after this.
      trailers = FieldSectionDecoder(.trailers, limits: limits, bytesBefore: 0, offset: offset + 1)
    } else {
      state = .data
    }
  }

  private func error(_ rule: SyntaxError.Rule, _ byte: UInt8, _ reason: String) -> SyntaxError {
    SyntaxError(rule, byte: byte, at: offset, reason)
  }
}
