import GannetExchange
import GannetHTTP

/// A connection, whose bytes choose what happens: the second one the requests, the third how many bytes of a script follow,
/// each of which is an event or so many bytes of the input that comes after the script; what is left of that is then
/// received, with a request before each response. Whatever happens in whatever order, it must be the same for every cut
/// of what is received, an error must stay, and what is told must be in order.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    guard bytes.count > 2 else { return }
    let scriptEnd = min(bytes.count, 3 + Int(bytes[2] & 63))
    let script = bytes[3..<scriptEnd]
    let input = bytes[scriptEnd...]
    let unchunked = bytes[2] & 64 > 0
    let whole = Run(script, input, variant: bytes[1], unchunked: unchunked, choice: nil).trace
    let other = Run(script, input, variant: bytes[1], unchunked: unchunked, choice: bytes[0]).trace
    require(other == whole, "the pieces gave \(other), the whole \(whole)")
  }
}

/// One run of the machine through a script.
private struct Run {
  var trace = Trace()

  private var machine: ExchangeMachine
  private var rest: ArraySlice<UInt8>
  private let variant: UInt8
  private let choice: UInt8?
  private var sent = 0
  private var left = 0
  private var error: SyntaxError?
  /// Whether a head was told and its end was not.
  private var isInResponse = false

  init(
    _ script: ArraySlice<UInt8>, _ input: ArraySlice<UInt8>, variant: UInt8, unchunked: Bool, choice: UInt8?
  ) {
    var limits = Limits()
    limits.informationalResponses = 3
    machine = ExchangeMachine(limits: limits)
    machine.acceptsUnchunkedStreams = unchunked
    machine.ignoresStreamLengths = unchunked
    (rest, self.variant, self.choice) = (input, variant, choice)
    for byte in script { happen(byte) }
    while !rest.isEmpty, error == nil {
      let before = rest.count
      // Pieces end where responses may, so that requests come between them.
      if machine.isIdle { send(body: variant & 16 > 0 ? .follows : .none) }
      receive(min(rest.count, 64))
      require(rest.count < before, "no progress")
    }
    if variant & 64 == 0 { endOfFile() }
    trace.add(
      "left \(left) \(machine.receivedAnything) \(machine.isIdle) \(machine.request) \(machine.persistence)")
  }

  private mutating func happen(_ byte: UInt8) {
    let argument = Int(byte >> 4)
    switch byte & 15 {
    case 0...6: receive(min(rest.count, argument << (byte & 7)))
    case 7: receive(rest.count)
    case 8: send(body: [.none, .follows, .followsContinue][argument % 3])
    case 9: machine.sentHead()
    case 10: machine.sentBody()
    case 11: machine.continueTimeLimitPassed()
    case 12: machine.stoppedSending()
    case 13: endOfFile()
    case 14: receive(0)
    default:
      machine.sentRequest(method: method, mayUpgrade: argument & 1 > 0)
      sent += 1
    }
    trace.add(
      "\(byte & 15) \(machine.isIdle) \(machine.receivedAnything) \(machine.request) \(machine.isWaitingForRequestEnd)"
    )
  }

  private var method: String { ["GET", "HEAD", "CONNECT", "POST"][Int(variant >> (sent & 1 * 2)) & 3] }

  private mutating func send(body: ExchangeMachine.RequestBody) {
    machine.beganRequest(method: method, body: body, mayUpgrade: variant & 32 > 0)
    if variant & 128 == 0 { machine.sentHead() }
    sent += 1
  }

  private mutating func receive(_ count: Int) {
    let piece = rest.prefix(count)
    rest = rest.dropFirst(count)
    for part in choice.map({ pieces(of: piece, $0) }) ?? [piece] {
      do throws(SyntaxError) {
        var machine = machine
        defer { self.machine = machine }
        try guarded.lend(part) { (input) throws(SyntaxError) in
          var position = 0
          try feed(input) { (rest) throws(SyntaxError) in
            let (consumed, event) = try machine.receive(rest)
            position += consumed
            guard let event else {
              left += input.count - position
              return (consumed, false)
            }
            if case .body(let range) = event {
              require(range.upperBound <= consumed && !range.isEmpty, "data that was not consumed")
              require(isInResponse, "data of no response")
              trace.data.append(copying: rest.extracting(range))
            } else {
              note(event, machine)
            }
            return (consumed, true)
          }
        }
      } catch { return fail(error) }
    }
  }

  private mutating func endOfFile() {
    do throws(SyntaxError) {
      while let event = try machine.receivedEndOfFile() { note(event, machine) }
    } catch { fail(error) }
  }

  private mutating func note(_ event: ExchangeMachine.Event, _ machine: ExchangeMachine) {
    require(error == nil, "an event after an error")
    switch event {
    case .informational, .body: require(!isInResponse, "an informational response within another")
    case .head:
      require(!isInResponse, "a head within a response")
      isInResponse = true
    case .trailers: require(isInResponse, "trailers of no response")
    case .end(let reusable):
      require(isInResponse, "the end of no response")
      isInResponse = false
      require(
        reusable == machine.isIdle && reusable == machine.persistence.isReusable, "reusable and not idle")
    }
    trace.add("\(words(of: event)) \(machine.persistence) \(machine.responseStart)")
  }

  private func words(of event: ExchangeMachine.Event) -> String {
    switch event {
    case .informational(let head): words(of: head)
    case .head(let head, let framing): "\(words(of: head)) \(framing)"
    case .trailers(let fields): "trailers \(fields)"
    case .end(let reusable): "end \(reusable)"
    case .body: ""
    }
  }

  private func words(of head: ResponseHead) -> String {
    "1.\(head.minorVersion) \(head.status) \(head.reason) \(head.fields) \(head.tolerated)"
  }

  private mutating func fail(_ failure: SyntaxError) {
    require(error == nil || error == failure, "another error after the first")
    if error == nil {
      error = failure
      trace.add(
        "error \(failure.rule) \(failure.offset) \(failure.byte.map { Int($0) } ?? -1) \(machine.responseStart)"
      )
    }
    require(
      !machine.isIdle && !machine.persistence.isReusable && !machine.request.isUnderWay,
      "usable after an error")
  }
}
