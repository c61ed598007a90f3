import GannetCoding
import GannetHTTP
import GannetMultipart

/// Reads one body: undoes its content coding where that is asked for, then splits it where its type says so.
struct BodyReader: ~Copyable {
  /// What was read.
  enum Output {
    /// Data, and its place in the input where it stands there as it is.
    case data([UInt8], Range<Int>?)
    case part(index: Int, FieldList)
  }

  /// What was wrong, its offset counted from the start of the input.
  struct Failure: Error {
    let rule: String
    let reason: String
    let offset: Int64
  }

  /// Decoded bytes made at a time.
  private static let decodedBytes = 64 * 1024

  private var decoder: ContentDecoder?
  private var splitter: MixedReplaceSplitter?
  private var partCount = 0
  /// Where pieces of the body begin: in the body, and in the input. Pieces that follow each other are one.
  private var places: [(body: Int64, input: Int64)] = []
  /// Bytes of the body so far.
  private var bodyBytes: Int64 = 0
  private var hasEnded = false

  init(_ head: ResponseHead, decodes: Bool) {
    decoder = decodes ? ContentDecoder(contentEncoding: head.fields.values(for: "Content-Encoding")) : nil
    splitter = head.fields["Content-Type"].flatMap { MixedReplaceSplitter(contentType: $0) }
  }

  /// Reads bytes of the body that stand in the input at `start`.
  mutating func read(
    _ bytes: ArraySlice<UInt8>, at start: Int, into outputs: inout [Output]
  ) throws(Failure) {
    let input = Int64(start)
    if places.last.map({ $0.input - $0.body }) != input - bodyBytes { places.append((bodyBytes, input)) }
    bodyBytes += Int64(bytes.count)
    guard decoder != nil else { return try split(bytes, at: start, into: &outputs) }
    var rest = bytes
    while true {
      var decoded: [UInt8] = []
      let consumed: Int
      var failure: ContentCodingError?
      do throws(ContentCodingError) {
        consumed = try decoder?.decode(rest.span, into: &decoded, atMost: Self.decodedBytes) ?? 0
      } catch {
        consumed = 0
        failure = error
      }
      try split(decoded[...], at: nil, into: &outputs)
      if let failure { throw codingFailure(failure) }
      rest = rest.dropFirst(consumed)
      if decoded.count < Self.decodedBytes { return }
    }
  }

  /// The body has ended, or will not go on.
  mutating func end(into outputs: inout [Output]) throws(Failure) {
    guard !hasEnded else { return }
    hasEnded = true
    do throws(ContentCodingError) { try decoder?.finish() } catch { throw codingFailure(error) }
    do throws(SyntaxError) {
      while let event = try splitter?.receivedEndOfFile() { note(event, of: [], at: nil, into: &outputs) }
    } catch { throw splittingFailure(error) }
  }

  private mutating func split(
    _ bytes: ArraySlice<UInt8>, at start: Int?, into outputs: inout [Output]
  ) throws(Failure) {
    guard splitter != nil else {
      if !bytes.isEmpty { outputs.append(.data(Array(bytes), start.map { $0..<$0 + bytes.count })) }
      return
    }
    var rest = bytes
    do throws(SyntaxError) {
      while let (consumed, event) = try splitter?.step(rest.span) {
        let place = start.map { $0 + rest.startIndex - bytes.startIndex }
        guard let event else { return }
        note(event, of: rest, at: place, into: &outputs)
        rest = rest.dropFirst(consumed)
      }
    } catch { throw splittingFailure(error) }
  }

  private mutating func note(
    _ event: MixedReplaceSplitter.Event, of bytes: ArraySlice<UInt8>, at start: Int?,
    into outputs: inout [Output]
  ) {
    switch event {
    case .partBegan(let fields):
      outputs.append(.part(index: partCount, fields))
      partCount += 1
    case .data(let range):
      let place = start.map { $0 + range.lowerBound..<$0 + range.upperBound }
      outputs.append(.data(Array(bytes.dropFirst(range.lowerBound).prefix(range.count)), place))
    case .held(let held): outputs.append(.data(held, nil))
    case .partCompleted, .partEnded, .finished, .unsplit: break  // not among the lines that are printed
    }
  }

  private func codingFailure(_ error: ContentCodingError) -> Failure {
    Failure(rule: "content-coding", reason: error.reason, offset: inputOffset(error.offset))
  }

  private func splittingFailure(_ error: SyntaxError) -> Failure {
    // Offsets in a decoded body have no place in the input: what is known is how far that was read.
    let offset = decoder == nil ? inputOffset(error.offset) : inputOffset(bodyBytes)
    return Failure(rule: error.rule.rawValue, reason: error.reason, offset: offset)
  }

  /// The place in the input of an offset in the body.
  private func inputOffset(_ offset: Int64) -> Int64 {
    guard let place = places.last(where: { $0.body <= offset }) else { return 0 }
    return place.input + min(offset, bodyBytes) - place.body
  }
}
