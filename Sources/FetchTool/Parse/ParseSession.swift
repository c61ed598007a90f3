import GannetExchange
import GannetHTTP

/// One run of the wire layers over an input: a client that sends its next request when the last response has left
/// the connection reusable and more input is there.
package struct ParseSession: ~Copyable {
  /// What came of the input so far; the data at its end is not merged in before `finish`.
  package private(set) var events: [ParseEvent] = []
  /// The ranges of the input that were data of a body or a part: everything else is heads, chunk lines, delimiters.
  package private(set) var dataRanges: [Range<Int>] = []

  private var methods: ArraySlice<String>
  private let decodes: Bool
  private var machine = ExchangeMachine()
  private var body: BodyReader?
  private var data: [UInt8] = []
  private var unexpected = 0
  private var hasFailed = false
  /// Bytes of the input that came before what the machine is given next.
  private var position = 0

  /// Makes a session; the first request counts as sent.
  package init(methods: [String], decodes: Bool) {
    self.methods = methods[...]
    self.decodes = decodes
    sendNext()
  }

  /// Takes the next piece of the input.
  package mutating func receive(_ piece: ArraySlice<UInt8>) {
    var rest = piece
    while !hasFailed {
      if machine.isIdle, !rest.isEmpty { sendNext() }
      do throws(SyntaxError) {
        let (consumed, event) = try machine.receive(rest.span)
        let taken = rest.prefix(consumed)
        rest = rest.dropFirst(consumed)
        position += consumed
        guard let event else { break }
        handle(event, of: taken)
      } catch {
        fail(error, from: machine.responseStart)
      }
    }
    if !hasFailed { unexpected += rest.count }
  }

  /// Ends the input, and with it the connection when `endOfFile`. Returns all events.
  package consuming func finish(endOfFile: Bool) -> [ParseEvent] {
    do throws(SyntaxError) {
      while endOfFile, !hasFailed, let event = try machine.receivedEndOfFile() { handle(event, of: []) }
    } catch {
      fail(error, from: machine.responseStart)
    }
    flush()
    if unexpected > 0 { events.append(.unexpected(length: unexpected)) }
    return events
  }

  private mutating func sendNext() {
    let method = methods.count > 1 ? methods.removeFirst() : methods.first ?? "GET"
    machine.sentRequest(method: method)
  }

  private mutating func handle(_ event: ExchangeMachine.Event, of taken: ArraySlice<UInt8>) {
    switch event {
    case .informational(let head): events.append(.informational(head))
    case .head(let head, let framing):
      events.append(.head(head, framing))
      body = BodyReader(head, decodes: decodes)
    case .body(let range):
      // The range is of what was given, and ends where the consumed bytes end.
      let start = position - range.count
      read(taken.suffix(range.count), at: start)
    case .trailers(let fields):
      endBody()
      if !hasFailed { add(.trailers(fields)) }
    case .end(let reusable):
      endBody()
      if !hasFailed { add(.end(reusable: reusable)) }
    }
  }

  private mutating func read(_ bytes: ArraySlice<UInt8>, at start: Int) {
    apply { body, outputs throws(BodyReader.Failure) in try body.read(bytes, at: start, into: &outputs) }
  }

  private mutating func endBody() {
    apply { body, outputs throws(BodyReader.Failure) in try body.end(into: &outputs) }
    body = nil
  }

  private mutating func apply(
    _ action: (inout BodyReader, inout [BodyReader.Output]) throws(BodyReader.Failure) -> Void
  ) {
    guard !hasFailed, var reader = body.take() else { return }
    var outputs: [BodyReader.Output] = []
    var failure: BodyReader.Failure?
    do throws(BodyReader.Failure) { try action(&reader, &outputs) } catch { failure = error }
    for output in outputs {
      switch output {
      case .data(let bytes, let place):
        data += bytes
        if let place { dataRanges.append(place) }
      case .part(let index, let fields): add(.part(index: index, fields))
      }
    }
    body = consume reader
    if let failure {
      flush()
      events.append(.error(rule: failure.rule, reason: failure.reason, offset: failure.offset))
      hasFailed = true
    }
  }

  private mutating func add(_ event: ParseEvent) {
    flush()
    events.append(event)
  }

  private mutating func flush() {
    if !data.isEmpty { events.append(.body(data)) }
    data = []
  }

  private mutating func fail(_ error: SyntaxError, from start: Int64) {
    guard !hasFailed else { return }
    flush()
    events.append(.error(rule: error.rule.rawValue, reason: error.reason, offset: start + error.offset))
    hasFailed = true
  }
}
