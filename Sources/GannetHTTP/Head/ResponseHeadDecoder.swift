/// Reads the head of one response: status line, fields, empty line (RFC 9112 sections 2 to 5).
///
/// It takes its input in pieces of any size and refuses at the first wrong byte. What it tolerates is listed in
/// `docs/CONFORMANCE.md`.
///
/// One decoder can read the heads of a connection one after the other: after `restart()` the next head takes the storage
/// of the last one, unless somebody holds that still, so that a head costs no allocation.
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

  /// Begins with the next head, whatever became of the last one; offsets count from here. The last head stays as it
  /// is for those who hold it; when nobody does, its storage is used again.
  public mutating func restart() {
    state = .statusLine
    offset = 0
    headBytes = 0
    statusLine.restart()
  }

  /// Whether no byte of a head has come; empty lines before it don't count.
  public var isIdle: Bool { if case .statusLine = state { statusLine.isIdle } else { false } }

  /// Takes the next piece of input.
  ///
  /// - Parameter input: the bytes that follow those consumed so far.
  /// - Returns: how many bytes were consumed, and the head once its last line has been read. Without it all of
  ///   `input` is consumed; after it nothing more is.
  /// - Throws: the rule that was broken and where, counted from the first byte given since the start or the last
  ///   `restart()`. The decoder is of no use after that until it is restarted.
  /// - Complexity: linear in the bytes consumed.
  public mutating func step(_ input: Span<UInt8>) throws(SyntaxError) -> (consumed: Int, head: ResponseHead?)
  {
    switch state {
    case .statusLine:
      if takesWholeHeads, offset == 0, let whole = wholeHead(input) { return whole }
      let consumed = try stepStatusLine(input)
      guard case .fields = state else { return (consumed, nil) }
      let rest = try stepFields(input.extracting(droppingFirst: consumed))
      return (consumed + rest.consumed, rest.head)
    case .fields: return try stepFields(input)
    case .done: return (0, nil)
    }
  }

  private mutating func wholeHead(_ input: Span<UInt8>) -> (consumed: Int, head: ResponseHead?)? {
    guard
      let (consumed, line, count) = WholeHeadParser.parse(input, limits: limits, places: &fieldSection.places)
    else { return nil }
    state = .done
    var storage = fieldSection.takeStorage()
    let fields = FieldList(
      input.extracting(0..<consumed), places: fieldSection.places.span.extracting(0..<count), in: &storage)
    fieldSection.keep(fields.storage)
    return (consumed, ResponseHead(line, fields: fields))
  }

  private mutating func stepStatusLine(_ input: Span<UInt8>) throws(SyntaxError) -> Int {
    var index = 0
    while index < input.count {
      guard headBytes < limits.headBytes else {
        throw SyntaxError(.headSize, at: offset, "a head", longerThan: "headBytes", limits.headBytes)
      }
      guard headBytes < limits.lineBytes else {
        throw SyntaxError(.lineSize, at: offset, "a status line", longerThan: "lineBytes", limits.lineBytes)
      }
      let room = min(limits.headBytes, limits.lineBytes) - headBytes
      let run = statusLine.takeRun(input.extracting(index..<index + min(room, input.count - index)))
      if run > 0 {
        index += run
        offset += Int64(run)
        headBytes += run
        continue
      }
      try statusLine.take(input[index], at: offset)
      index += 1
      offset += 1
      if !statusLine.isIdle { headBytes += 1 }
      if statusLine.isDone {
        state = .fields
        fieldSection.restart(bytesBefore: headBytes, offset: offset)
        fieldSection.begin(keeping: statusLine.reasonBytes)
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
    let line = StatusLine(
      minorVersion: statusLine.minorVersion, status: statusLine.status,
      reason: 0..<statusLine.reasonBytes.count)
    var head = ResponseHead(line, fields: fields)
    head.tolerated = statusLine.tolerated.union(fieldSection.tolerated)
    return (consumed, head)
  }
}
