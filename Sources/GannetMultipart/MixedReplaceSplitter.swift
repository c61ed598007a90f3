public import GannetHTTP

/// Splits the body of a `multipart/x-mixed-replace` response into its parts (RFC 2046 section 5.1, and what cameras
/// send in place of it; the tolerances are listed in `docs/CONFORMANCE.md`).
///
/// Data is told as ranges of the input, at once: only bytes that are the beginning of a delimiter as far as they go
/// are kept back. A part is known to be complete (``Event/partCompleted``) at the first of these, and has ended
/// (``Event/partEnded``) with its delimiter:
///
/// - *Its promised length is in* and can be believed: an earlier part's delimiter stood where that promised to end, or
///   the end of this part's own picture is there too. Line ends between it and the delimiter are dropped.
/// - *Its picture has ended*, of a JPEG picture without a length: the splitter follows its marker structure
///   (ITU-T T.81 annex B). What still comes before the delimiter is data of the part all the same. A picture whose
///   structure does not parse is complete when `FF D9` ends all that has arrived (``inputPaused()``).
/// - *Its delimiter has come.*
///
/// Of lengths that are not kept the stream makes at most one part hesitate:
///
/// - A delimiter that begins a line within the promised data is believed when none stands at the promised end. From
///   that delimiter to that end, and no further than `Limits.partDoubtBytes`, the stream is kept back until it is
///   known; past that limit the delimiter is believed.
/// - A part without a delimiter at its promised end goes on to the next one.
/// - A stream that did either makes no promises any more: the lengths of its later parts are not looked at.
/// - A length that is no number, or 0, promises nothing.
///
/// At the end of the stream a delimiter that was begun is dropped, and so are the fields of a part without their empty
/// line; a part without a length has ended, one with bytes missing is an error.
///
/// A value without I/O: not tied to a thread.
public struct MixedReplaceSplitter: Sendable {
  /// What the stream holds next.
  public enum Event: Hashable, Sendable {
    /// A part begins; these are its own fields, none of an earlier part's.
    case partBegan(FieldList)
    /// Data of the part: this range of the input just given.
    case data(Range<Int>)
    /// Data of the part that was kept back from earlier input.
    case held([UInt8])
    /// The part is known to be complete. Told once for each part, with no delay; not at all for one that only the
    /// stream's end ended. More data of the part may follow where a picture or a length told it.
    case partCompleted
    /// The part has ended: its delimiter, or the end of the stream, has come.
    case partEnded
    /// The close delimiter: no part follows, and what comes is dropped.
    case finished
    /// The stream has no delimiter to split at: its data comes as it is, without parts.
    case unsplit
  }

  enum State: Hashable, Sendable {
    /// Before the first delimiter.
    case start
    /// No delimiter came first: in what may be the fields of the first part.
    case firstFields
    /// Without a boundary parameter: in the first line.
    case sniffing
    case unsplit
    /// Dropping bytes up to a delimiter: a preamble.
    case between
    /// After a delimiter.
    case fieldsStart
    case fields
    case data
    /// So many promised bytes are to come; `isCertain` once a delimiter among them is known to be data.
    case promised(Int64, isCertain: Bool)
    /// The promised bytes are in.
    case promiseKept
    /// The close delimiter has come and ended a part.
    case finishing
    case finished
  }

  let limits: Limits
  var state: State
  var scanner: DelimiterScanner
  var around = DelimiterScanner.Surroundings()
  var fieldDecoder: FieldSectionDecoder
  /// Where in the stream the fields being read begin.
  var fieldsStart: Int64 = 0
  var shape = FieldBlockShape()
  /// The lines read so far of what may be the fields of a first part without a delimiter, and where its last begins.
  var firstBlock: [UInt8] = []
  var firstBlockLine = 0
  var part = Part(FieldList())
  /// What earlier parts have shown about lengths.
  var lengths = LengthRecord.untried

  /// Bytes kept back from earlier input: those from `keptStart` on are still to be read.
  private var kept: [UInt8] = []
  private var keptStart = 0
  /// Bytes that were kept back one after the other, since last there were none.
  private var keptRun = 0
  /// Bytes to be read again before the rest.
  var readAgain: [UInt8] = []
  /// Bytes of the stream that have been read for good.
  private(set) var position: Int64 = 0
  private var failure: SyntaxError?

  /// Makes a splitter of one body.
  ///
  /// - Parameters:
  ///   - boundary: the `boundary` parameter as the server sent it, unquoted; nil takes the first line that is not
  ///     empty for the delimiter when it begins with `--`, and splits nothing when it doesn't. So does a boundary
  ///     longer than 254 bytes, or one with a line end in it.
  ///   - limits: `partHeadBytes`, `fieldCount` and `partDoubtBytes` matter here.
  public init(boundary: String?, limits: Limits = Limits()) {
    self.limits = limits
    let bytes = Array((boundary ?? "").utf8)
    let isUsable =
      !bytes.isEmpty && bytes.count <= DelimiterScanner.longestToken - 2
      && !bytes.contains { $0 == .lineFeed || $0 == .carriageReturn }
    scanner = isUsable ? DelimiterScanner(boundary: bytes) : DelimiterScanner(token: [])
    state = isUsable ? .start : .sniffing
    fieldDecoder = FieldSectionDecoder(.part, limits: limits)
  }

  /// Makes a splitter of the body of a response with this `Content-Type` value; nil when it is not
  /// `multipart/x-mixed-replace`.
  public init?(contentType: String, limits: Limits = Limits()) {
    guard let type = MediaType(contentType), type.essence == "multipart/x-mixed-replace" else { return nil }
    self.init(boundary: type.boundary, limits: limits)
  }

  /// The length that the fields of a part promise, as a hint: the number that its `Content-Length` begins with. Nil
  /// when there is none, when it runs into letters or past 2⁶³−1, and for 0, which cameras send that do not know it.
  public static func promisedLength(of fields: FieldList) -> Int64? { PromisedLength.read(fields) }

  /// Takes the next piece of input.
  ///
  /// - Parameter input: the bytes that follow those consumed so far. Call again with the rest, even an empty one,
  ///   until `event` is nil: then all of it has been consumed.
  /// - Returns: how many bytes of `input` were consumed, and what the stream held; a range of data is one of `input`
  ///   as given to this call.
  /// - Throws: a rule of the part's fields that was broken, or a limit on them; the offset counts from the start of
  ///   the body. The splitter throws the same from then on.
  /// - Complexity: linear in the bytes of the stream.
  public mutating func step(_ input: Span<UInt8>) throws(SyntaxError) -> (consumed: Int, event: Event?) {
    if let failure { throw failure }
    do throws(SyntaxError) { return try advance(over: input) } catch {
      failure = error
      throw error
    }
  }

  /// All that has arrived so far has been given: call it where a reader would wait for more, as often as that happens.
  ///
  /// - Returns: ``Event/partCompleted`` when the part is a JPEG picture whose structure does not parse, and `FF D9` is
  ///   the last that came.
  public mutating func inputPaused() -> Event? {
    let nothingIsKept = keptStart == kept.count && readAgain.isEmpty
    guard failure == nil, nothingIsKept, state == .data, brokenPictureMayBeComplete else { return nil }
    part.isComplete = true
    return .partCompleted
  }

  private var brokenPictureMayBeComplete: Bool {
    !part.isComplete && !part.completionIsDue && part.picture.isBroken
      && around.previous == DelimiterScanner.pictureEnd
  }

  /// The stream has ended.
  ///
  /// - Returns: what that means for bytes kept back and for the part; call again until it is nil.
  /// - Throws: `truncated-body` when promised bytes of a part are missing.
  public mutating func receivedEndOfFile() throws(SyntaxError) -> Event? {
    if let failure { throw failure }
    around.isAtEnd = true
    do throws(SyntaxError) {
      if let event = try advance(over: Span()).event { return event }
      return try endOfFile()
    } catch {
      failure = error
      throw error
    }
  }

  /// What one transition did.
  enum Turn {
    /// So many bytes of the window were read, and this came of it.
    case event(Event, consumed: Int)
    case moved(Int)
    /// Nothing can be told before the window holds so many bytes.
    case needs(Int)
  }

  private mutating func advance(over input: Span<UInt8>) throws(SyntaxError) -> (consumed: Int, event: Event?)
  {
    var consumed = 0
    while true {
      prependReadAgain()
      if keptStart < kept.count {
        if let event = try advanceOverKept(input, &consumed) { return (consumed, event) }
        if keptStart < kept.count, consumed == input.count { return (consumed, nil) }
        continue
      }
      switch try turn(input.extracting(droppingFirst: consumed)) {
      case .event(let event, let length):
        position += Int64(length)
        return (consumed + length, event.moved(by: consumed))
      case .moved(let length):
        position += Int64(length)
        consumed += length
      case .needs:
        kept.append(copying: input.extracting(droppingFirst: consumed))
        return (input.count, nil)
      }
    }
  }

  /// Takes turns over the bytes kept back until something comes of it, they are all read, or `input` has no more to
  /// add to them.
  private mutating func advanceOverKept(
    _ input: Span<UInt8>, _ consumed: inout Int
  ) throws(SyntaxError) -> Event? {
    // The bytes lie outside `self` for as long as a turn reads them.
    var bytes: [UInt8] = []
    swap(&bytes, &kept)
    defer {
      swap(&bytes, &kept)
      dropRead()
    }
    while keptStart < bytes.count, readAgain.isEmpty {
      let window = keptStart..<bytes.count
      switch try turn(bytes.span.extracting(window)) {
      case .event(let event, let length):
        keptStart += length
        position += Int64(length)
        guard case .data(let range) = event else { return event }
        return .held(
          Array(bytes[window.lowerBound + range.lowerBound..<window.lowerBound + range.upperBound]))
      case .moved(let length):
        keptStart += length
        position += Int64(length)
      case .needs(let count):
        let available = input.extracting(droppingFirst: consumed)
        if available.isEmpty { return nil }
        // Data that looks like a delimiter's beginning again and again is taken in larger and larger pieces.
        let addition = available.extracting(
          first: max(1, count - window.count, min(keptRun, Self.longestAddition)))
        bytes.append(copying: addition)
        keptRun += addition.count
        consumed += addition.count
      }
    }
    return nil
  }

  /// Bytes of input that are kept at once though fewer would do.
  private static let longestAddition = 4096

  private mutating func prependReadAgain() {
    guard !readAgain.isEmpty else { return }
    kept.replaceSubrange(..<keptStart, with: readAgain)
    keptStart = 0
    position -= Int64(readAgain.count)
    readAgain = []
  }

  /// Forgets kept bytes that have been read, once they are the larger half.
  private mutating func dropRead() {
    if keptStart == kept.count {
      keptRun = 0
      kept.removeAll(keepingCapacity: kept.capacity <= 4096)
      keptStart = 0
    } else if keptStart > 4096, keptStart > kept.count / 2 {
      kept.removeFirst(keptStart)
      keptStart = 0
    }
  }

  private mutating func endOfFile() throws(SyntaxError) -> Event? {
    switch state {
    case .data:
      if brokenPictureMayBeComplete {
        part.isComplete = true
        return .partCompleted
      }
      state = .finished
      return .partEnded
    case .promised(let missing, _):
      throw SyntaxError(
        .truncatedBody, at: position, "the stream ended \(missing) bytes before the end that a part promised")
    case .start, .firstFields, .sniffing, .unsplit, .between, .fieldsStart, .fields, .promiseKept, .finishing,
      .finished:
      state = .finished
      return nil
    }
  }
}

extension MixedReplaceSplitter.Event {
  /// The same event, its range seen from `distance` bytes earlier.
  fileprivate func moved(by distance: Int) -> Self {
    guard case .data(let range) = self else { return self }
    return .data(range.lowerBound + distance..<range.upperBound + distance)
  }
}
