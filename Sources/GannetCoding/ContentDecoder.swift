internal import GannetHTTP

/// Undoes the content codings of one body, piece by piece (RFC 9110 section 8.4).
///
/// Output is bounded per call, so a body that grows a thousandfold costs time but no memory. A body of no bytes is
/// complete whatever its label says. Gzip members one after the other are joined; bytes after the coding's end are
/// ignored, unless they begin as another member.
package struct ContentDecoder: ~Copyable {
  /// Decoders in the order the bytes pass them: the coding applied last comes first.
  private let stages: [InflateStage]
  /// What waits for the stage of the same place; that of the first stays empty.
  private var waiting: [Waiting]

  private struct Waiting {
    var bytes: [UInt8] = []
    var start = 0
    var isEmpty: Bool { start == bytes.count }
  }

  /// What the innermost stage that failed said, told once all that came before it has been decoded: so it does not
  /// depend on how the body was cut which of two failures is told.
  private var failure: (stage: Int, error: ContentCodingError)?

  /// Bytes between two stages, at most.
  private static let waitingBytes = 16 * 1024

  /// Whether `coding`, a name as in `Content-Encoding`, can be undone here.
  package static func isSupported(_ coding: String) -> Bool {
    switch ContentCoding.Chain(fieldValues: [coding]) {
    case .identity, .codings: true
    case .unsupported: false
    }
  }

  /// A decoder for the values of `Content-Encoding`; nil when the body is to be passed on as it is: there is no
  /// coding, or one that is unknown here.
  package init?(contentEncoding values: [String]) {
    guard case .codings(let codings) = ContentCoding.Chain(fieldValues: values) else { return nil }
    self.init(codings)
  }

  /// A decoder for codings in the order in which they were applied.
  package init(_ codings: [ContentCoding]) {
    stages = codings.reversed().map { InflateStage($0) }
    waiting = codings.map { _ in Waiting() }
  }

  /// Decodes a prefix of `input`, appends at most `limit` bytes to `output`, and says how many bytes of `input` were
  /// consumed. When `limit` bytes were appended there may be more: call again with the rest of the input, even if it
  /// is empty. Otherwise all of `input` was consumed. When it throws, what could be decoded is in `output`.
  package mutating func decode(
    _ input: Span<UInt8>, into output: inout [UInt8], atMost limit: Int
  ) throws(ContentCodingError) -> Int {
    let end = output.count + max(0, limit)
    var consumed = 0
    guard let last = stages.indices.last else {
      let count = min(input.count, end - output.count)
      output.append(copying: input.extracting(first: count))
      return count
    }
    var moved = true
    while moved {
      moved = false
      // Last stage first: what waits is small, and room is made before it is filled.
      for index in stride(from: last, through: 0, by: -1) where index > failure?.stage ?? -1 {
        do throws(ContentCodingError) {
          if try move(index, input, &consumed, &output, end) { moved = true }
        } catch {
          failure = (index, error)
          // What it made before that still has its way to go.
          moved = true
        }
      }
    }
    if let failure, output.count < end { throw failure.error }
    return consumed
  }

  /// The body is over. Throws when a coding's own end is missing.
  package mutating func finish() throws(ContentCodingError) {
    if let failure { throw failure.error }
    for stage in stages where !stage.isComplete {
      throw ContentCodingError(
        kind: .truncated, coding: stage.coding, offset: stage.consumed,
        reason: "the body ended before its \(stage.coding.rawValue) coding did")
    }
  }

  /// Runs one stage once over what there is for it. Says whether anything came of that.
  private mutating func move(
    _ index: Int, _ input: Span<UInt8>, _ consumed: inout Int, _ output: inout [UInt8], _ end: Int
  ) throws(ContentCodingError) -> Bool {
    if index == 0 {
      let (taken, made) = try run(0, input.extracting(droppingFirst: consumed), &output, end)
      consumed += taken
      return taken > 0 || made > 0
    }
    let rest = waiting[index].bytes
    let (taken, made) = try run(
      index, rest.span.extracting(droppingFirst: waiting[index].start), &output, end)
    waiting[index].start += taken
    if waiting[index].isEmpty { waiting[index] = Waiting() }
    return taken > 0 || made > 0
  }

  /// Runs one stage once: into `output` for the last, else into what waits for the next.
  private mutating func run(
    _ index: Int, _ input: Span<UInt8>, _ output: inout [UInt8], _ end: Int
  ) throws(ContentCodingError) -> (taken: Int, made: Int) {
    let stage = stages[index]
    do throws(InflateStage.Failure) {
      if index == stages.count - 1 { return try stage.run(input, into: &output, upTo: end) }
      guard waiting[index + 1].isEmpty else { return (0, 0) }
      return try stage.run(input, into: &waiting[index + 1].bytes, upTo: ContentDecoder.waitingBytes)
    } catch {
      throw ContentCodingError(
        kind: error.kind, coding: stage.coding, offset: stage.consumed + Int64(error.taken),
        reason: error.reason)
    }
  }
}
