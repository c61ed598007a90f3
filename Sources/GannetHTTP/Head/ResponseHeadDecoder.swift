/// Reads the head of one response: status line, fields, empty line (RFC 9112 sections 2 to 5).
///
/// It takes its input in pieces of any size and refuses at the first wrong byte. What it tolerates is listed in
/// `docs/TOLERANCES.md`.
public struct ResponseHeadDecoder: Sendable {
  private enum State {
    case statusLine
    case fields
    case done
  }

  private let limits: Limits
  private var state = State.statusLine
  private var statusLine = StatusLineDecoder()
  private var fieldSection: FieldSectionDecoder
  private var offset: Int64 = 0
  /// Bytes of the head so far, without the empty lines before it.
  private var headBytes = 0

  /// Whether a head that lies whole in the input is read in one pass.
  private let takesWholeHeads: Bool

  /// Makes a decoder of one head.
  public init(limits: Limits = Limits()) { self.init(limits: limits, takesWholeHeads: true) }

  /// Makes a decoder; without `takesWholeHeads` it always goes byte by byte, and gives the same results more slowly.
  package init(limits: Limits, takesWholeHeads: Bool) {
    self.limits = limits
    self.takesWholeHeads = takesWholeHeads
    fieldSection = FieldSectionDecoder(.head, limits: limits)
  }

  /// Whether no byte of a head has come; empty lines before it don't count.
  public var isIdle: Bool { if case .statusLine = state { statusLine.isIdle } else { false } }

  /// Takes the next piece of input.
  ///
  /// - Parameter input: the bytes that follow those consumed so far.
  /// - Returns: how many bytes were consumed, and the head once its last line has been read. Without it all of
  ///   `input` is consumed; after it nothing more is.
  /// - Throws: the rule that was broken and where, counted from the first byte ever given. The decoder is of no
  ///   use after that.
  /// - Complexity: linear in the bytes consumed.
  public mutating func step(_ input: Span<UInt8>) throws(SyntaxError) -> (consumed: Int, head: ResponseHead?)
  {
    switch state {
    case .statusLine:
      if takesWholeHeads, offset == 0, let whole = WholeHeadParser.parse(input, limits: limits) {
        state = .done
        return whole
      }
      let consumed = try stepStatusLine(input)
      guard case .fields = state else { return (consumed, nil) }
      let rest = try stepFields(input.extracting(droppingFirst: consumed))
      return (consumed + rest.consumed, rest.head)
    case .fields: return try stepFields(input)
    case .done: return (0, nil)
    }
  }

  private mutating func stepStatusLine(_ input: Span<UInt8>) throws(SyntaxError) -> Int {
    var index = 0
    while index < input.count {
      guard headBytes < limits.headBytes else {
        throw SyntaxError(.headSize, at: offset, "a head longer than its limit")
      }
      try statusLine.take(input[index], at: offset)
      index += 1
      offset += 1
      if !statusLine.isIdle { headBytes += 1 }
      if statusLine.isDone {
        state = .fields
        fieldSection = FieldSectionDecoder(.head, limits: limits, bytesBefore: headBytes, offset: offset)
        break
      }
    }
    return index
  }

  private mutating func stepFields(
    _ input: Span<UInt8>
  ) throws(SyntaxError) -> (consumed: Int, head: ResponseHead?) {
    let (consumed, fields) = try fieldSection.step(input)
    guard let fields else { return (consumed, nil) }
    state = .done
    let head = ResponseHead(
      minorVersion: statusLine.minorVersion, status: statusLine.status, reason: statusLine.reason,
      fields: fields)
    return (consumed, head)
  }
}
