public import GannetHTTP

/// One connection, exchange after exchange, seen from the client: where each response begins, how its body ends, and
/// whether another request may follow (RFC 9112 sections 6 and 9).
///
/// It is told what was sent and given what was received; it says what that was, and whether the rest of the request is
/// to be sent (`request`). Data is told as ranges of the input, never copied. One exchange at a time: no pipelining.
///
/// A value without I/O: not tied to a thread.
public struct ExchangeMachine: Sendable {
  /// What the input holds next.
  public enum Event: Hashable, Sendable {
    /// An informational response (1xx) before the final one.
    case informational(ResponseHead)
    /// The head of the response, and how its body ends. After `.upgrade` the bytes are another protocol's.
    case head(ResponseHead, BodyFraming)
    /// Data of the body, without its chunks' framing: this range of the input just given.
    case body(Range<Int>)
    /// Fields after a chunked body; not told when there are none.
    case trailers(FieldList)
    /// The response is complete; `reusable` when another request may be sent, otherwise `persistence` says why not.
    case end(reusable: Bool)
  }

  /// Where the machine stands: the states of `docs/exchange-states.mmd`, but for `ending`, which every drain leaves.
  @usableFromInline package enum State: Hashable, Sendable {
    /// No request waits for an answer.
    case idle
    case awaitingHead
    /// So many bytes of the body are to come.
    case receivingLength(Int64)
    case receivingChunks
    case receivingUntilClose
    /// Everything of the response has come, and it was a success: the rest of the request is still being sent.
    case awaitingRequestEnd
    /// Everything of the response has come; its end is still to be told.
    case ending
    /// The last response of this connection has ended.
    case ended
    case failed(SyntaxError)
  }

  /// Why the connection can carry another request after this response, or not; `reusable` until the head says
  /// otherwise.
  public internal(set) var persistence = Persistence.reusable
  /// Bytes of the connection's input before the current response: what error offsets count from. An informational
  /// response, or an empty line before it, is part of the response it precedes.
  public private(set) var responseStart: Int64 = 0

  /// How far the request of the current exchange is, and so what is to be done about it now.
  public internal(set) var request = Request.none

  /// Whether a multipart body may come without the chunks that its head announces, as some cameras send it: told by its
  /// first byte, which no chunk can begin with. The body then ends with the connection. Default false: an error.
  public var acceptsUnchunkedStreams = false
  /// Whether the `Content-Length` of a `multipart/x-mixed-replace` response is not looked at: its body ends with the
  /// connection. Default false: the body has the length that its head says.
  public var ignoresStreamLengths = false

  private let limits: Limits
  @usableFromInline package internal(set) var state = State.idle
  private var method = ""
  private var mayUpgrade = false
  /// What follows the head that is being sent.
  var requestBody = RequestBody.none
  private var headDecoder: ResponseHeadDecoder
  private var chunkedDecoder: ChunkedDecoder
  /// Whether the first byte of a chunked body is still to show whether it is one.
  private var mayBeUnchunked = false
  private var informationalCount = 0
  /// What was tolerated in informational responses before the final one.
  private var toleratedBefore: Tolerances = []
  /// Where the head or the chunked body being read begins, in the connection's input.
  private var decoderStart: Int64 = 0
  /// Bytes of the connection's input that have been consumed.
  private var position: Int64 = 0

  /// Makes the machine of a new connection.
  public init(limits: Limits = Limits()) {
    self.limits = limits
    headDecoder = ResponseHeadDecoder(limits: limits)
    chunkedDecoder = ChunkedDecoder(limits: limits)
  }

  /// Whether a request may be sent: the connection is new, or a reusable response has ended.
  public var isIdle: Bool { state == .idle }

  /// Whether a byte of the response to the current request has come; empty lines before it don't count.
  public var receivedAnything: Bool {
    switch state {
    case .idle: false
    case .awaitingHead: !headDecoder.isIdle || informationalCount > 0
    case .failed(let error): error.rule != .noResponse
    case .receivingLength, .receivingChunks, .receivingUntilClose, .awaitingRequestEnd, .ending, .ended: true
    }
  }

  /// Whether nothing but informational responses has come: the final one has not begun.
  public var awaitsFinalResponse: Bool { state == .awaitingHead && headDecoder.isIdle }

  /// Whether all that still comes is data of the response, up to the connection's end: it need not be given to
  /// ``receive(_:)`` any more, which would say just that of it.
  @inlinable public var passesAllInput: Bool {
    if case .receivingUntilClose = state { true } else { false }
  }

  /// A request begins to be sent. Changes nothing unless the machine is idle: a request sent on a connection in use
  /// gets no answer of its own.
  ///
  /// - Parameters:
  ///   - method: the method as sent. HEAD and CONNECT change how the response is framed.
  ///   - body: what follows the head.
  ///   - mayUpgrade: whether the request asks for another protocol, so that 101 is an answer.
  public mutating func beganRequest(method: String, body: RequestBody = .none, mayUpgrade: Bool = false) {
    guard case .idle = state else { return }
    self.method = method
    self.mayUpgrade = mayUpgrade
    requestBody = body
    request = .sendingHead
    persistence = .reusable
    informationalCount = 0
    toleratedBefore = []
    responseStart = position
    awaitHead(from: position)
  }

  /// Takes the next piece of the connection's input.
  ///
  /// - Parameter input: the bytes that follow those consumed so far. Call again with the rest, even an empty one,
  ///   until `event` is nil. Bytes that are left then came after a response that no other can follow.
  /// - Returns: how many bytes of `input` were consumed, and what they ended with; a range of data is one of `input`
  ///   as given to this call.
  /// - Throws: the rule that was broken and where, counted from `responseStart`; the machine throws the same from
  ///   then on. `unexpected-bytes` when no request waits for an answer.
  /// - Complexity: constant for data that is not chunked, linear in the bytes consumed otherwise.
  public mutating func receive(_ input: Span<UInt8>) throws(SyntaxError) -> (consumed: Int, event: Event?) {
    do throws(SyntaxError) {
      let (consumed, event) = try transition(on: input)
      position += Int64(consumed)
      return (consumed, event)
    } catch {
      throw fail(error)
    }
  }

  private mutating func transition(
    on input: Span<UInt8>
  ) throws(SyntaxError) -> (consumed: Int, event: Event?) {
    switch state {
    case .idle:
      guard !input.isEmpty else { return (0, nil) }
      responseStart = position
      throw SyntaxError(.unexpectedBytes, byte: input[0], at: 0, "bytes that answer no request")
    case .awaitingHead: return try receiveHead(input)
    case .receivingLength(0), .ending, .awaitingRequestEnd: return (0, end(isFollowed: !input.isEmpty))
    case .receivingLength(let missing):
      let length = Int(min(missing, Int64(input.count)))
      guard length > 0 else { return (0, nil) }
      state = .receivingLength(missing - Int64(length))
      return (length, .body(0..<length))
    case .receivingChunks: return try receiveChunks(input)
    case .receivingUntilClose:
      return input.isEmpty ? (0, nil) : (input.count, .body(0..<input.count))
    case .ended: return (0, nil)  // What comes now is nobody's: the caller sees it left over.
    case .failed(let error): throw error
    }
  }

  /// The connection's input has ended.
  ///
  /// - Returns: the end of a response that it completes; call again until it is nil.
  /// - Throws: `no-response`, `truncated-head` or `truncated-body` when a response is missing or incomplete. Chunked
  ///   data without the last empty line is complete: all of it is known.
  public mutating func receivedEndOfFile() throws(SyntaxError) -> Event? {
    if request.isUnderWay { request = .stopped }
    switch state {
    case .idle, .ended:
      if persistence.isReusable { persistence = .closed }
      state = .ended
      return nil
    case .awaitingHead:
      if !receivedAnything {
        throw fail(SyntaxError(.noResponse, at: offset, "the connection ended without a response"))
      }
      let words =
        headDecoder.isIdle ? "after an informational response, without the final one" : "within a head"
      throw fail(SyntaxError(.truncatedHead, at: offset, "the connection ended \(words)"))
    case .receivingLength(0), .awaitingRequestEnd, .ending: return end()
    case .receivingLength(let missing):
      throw fail(SyntaxError(.truncatedBody, at: offset, "the connection ended \(missing) bytes too early"))
    case .receivingChunks:
      guard chunkedDecoder.hasAllData else {
        throw fail(SyntaxError(.truncatedBody, at: offset, "the connection ended before the last chunk"))
      }
      persistence = .closed
      return end()
    case .receivingUntilClose: return end()
    case .failed(let error): throw error
    }
  }

  private var offset: Int64 { position - responseStart }

  private mutating func awaitHead(from start: Int64) {
    decoderStart = start
    headDecoder.restart()
    state = .awaitingHead
  }

  private mutating func receiveHead(
    _ input: Span<UInt8>
  ) throws(SyntaxError) -> (consumed: Int, event: Event?) {
    let consumed: Int
    let head: ResponseHead?
    do throws(SyntaxError) { (consumed, head) = try headDecoder.step(input) } catch { throw moved(error) }
    guard let head else { return (consumed, nil) }
    if head.status < 200, head.status != 101 {
      informationalCount += 1
      guard informationalCount <= limits.informationalResponses else {
        throw SyntaxError(
          .informationalCount, at: decoderStart - responseStart,
          "more than \(limits.informationalResponses) informational responses, the limit informationalResponses"
        )
      }
      if case .tolerated(let tolerances) = try decide(for: head).1 { toleratedBefore.formUnion(tolerances) }
      if head.status == 100 { receivedContinue() }
      awaitHead(from: position + Int64(consumed))
      return (consumed, .informational(head))
    }
    if head.status == 101, !mayUpgrade {
      throw SyntaxError(
        .unexpectedSwitch, at: decoderStart - responseStart,
        "101 to a request that asked for no other protocol")
    }
    var framing: BodyFraming
    (framing, persistence) = try decide(for: head)
    if ignoresStreamLengths, case .length = framing,
      MediaType(contentTypeOf: head.fields)?.essence == "multipart/x-mixed-replace"
    {
      (framing, persistence) = (.close, .framedByClose)
    }
    tolerate(toleratedBefore)
    decideOnRequest(status: head.status, framing)
    switch framing {
    case .none, .upgrade: state = .ending
    case .length(let length): state = .receivingLength(length)
    case .close: state = .receivingUntilClose
    case .chunked:
      chunkedDecoder.restart()
      decoderStart = position + Int64(consumed)
      mayBeUnchunked =
        acceptsUnchunkedStreams && MediaType(contentTypeOf: head.fields)?.type == "multipart"
      state = .receivingChunks
    }
    return (consumed, .head(head, framing))
  }

  private func decide(for head: ResponseHead) throws(SyntaxError) -> (BodyFraming, Persistence) {
    do throws(SyntaxError) { return try BodyFraming.decide(for: head, answering: method) } catch {
      throw moved(error)
    }
  }

  /// Notes what was tolerated outside the final head.
  private mutating func tolerate(_ tolerances: Tolerances) {
    guard !tolerances.isEmpty else { return }
    switch persistence {
    case .reusable: persistence = .tolerated(tolerances)
    case .tolerated(let others): persistence = .tolerated(others.union(tolerances))
    default: break  // there is a reason already
    }
  }

  private mutating func receiveChunks(
    _ input: Span<UInt8>
  ) throws(SyntaxError) -> (consumed: Int, event: Event?) {
    if mayBeUnchunked, !input.isEmpty {
      mayBeUnchunked = false
      // A delimiter, or an empty line before it.
      if input[0] == UInt8(ascii: "-") || input[0] == .carriageReturn || input[0] == .lineFeed {
        state = .receivingUntilClose
        persistence = .framedByClose
        return (input.count, .body(0..<input.count))
      }
    }
    let consumed: Int
    let step: ChunkedDecoder.Step
    do throws(SyntaxError) { (consumed, step) = try chunkedDecoder.step(input) } catch { throw moved(error) }
    switch step {
    case .needsInput: return (consumed, nil)
    case .body(let range): return (consumed, .body(range))
    case .trailers(let fields):
      tolerate(chunkedDecoder.tolerated)
      guard !fields.isEmpty else { return (consumed, end(isFollowed: consumed < input.count)) }
      state = .ending
      return (consumed, .trailers(fields))
    }
  }

  /// The response is complete. Nil when its end waits for that of the request, unless more bytes follow already:
  /// they answer nothing.
  private mutating func end(isFollowed: Bool = false) -> Event? {
    if request.isUnderWay {
      state = .awaitingRequestEnd
      guard isFollowed else { return nil }
      request = .stopped
    }
    if request == .stopped, persistence.isReusable { persistence = .requestUnfinished }
    state = persistence.isReusable ? .idle : .ended
    request = .none
    return .end(reusable: persistence.isReusable)
  }

  private mutating func fail(_ error: SyntaxError) -> SyntaxError {
    if request.isUnderWay { request = .stopped }
    state = .failed(error)
    persistence = error.rule.isTruncation ? .closed : .outOfStep
    return error
  }

  /// The error of a decoder that began at `decoderStart`, its offset counted from the response's start.
  private func moved(_ error: SyntaxError) -> SyntaxError { error.moved(by: decoderStart - responseStart) }
}
