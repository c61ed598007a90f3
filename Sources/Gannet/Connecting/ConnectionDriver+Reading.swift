import GannetExchange
import GannetHTTP
import GannetPolicy
import GannetSockets
import GannetTLS

extension ConnectionDriver {
  /// Reads in one turn at most so often, so that a fast sender does not starve the loop's other connections.
  private static let readsPerTurn = 16

  /// Hears of the transport from now on.
  func listen(to transport: any StreamTransport) {
    transport.onReady = { [weak self] readiness in self?.ready(readiness) }
  }

  /// The transport has something to read, or room to write.
  private func ready(_ readiness: Readiness) {
    if readiness.isEnding { isPeerEnding = true }
    if readiness.contains(.writable) {
      flush()
      if phase == .handshaking { advance { () throws(TLSError) in try handshake() } }
    }
    if readiness.contains(.readable) { wantsReading() }
  }

  /// Whether nothing may be processed now.
  private var isHeld: Bool {
    guard phase == .busy else { return false }
    guard let load else { return true }
    return load.holdsBody || load.isStopped
  }

  /// Goes on reading: bytes have come, or the load can take bytes again.
  func wantsReading() {
    // What comes inside a callback that runs the loop is read when the callback has returned.
    guard phase != .closed, phase != .connecting else { return }
    guard !isProcessing else { return hasPutOffReading = true }
    hasPutOffReading = false
    isProcessing = true
    defer { isProcessing = false }
    guard takeStash() else { return }
    if endMayBeDue {
      endMayBeDue = false
      if exchange.isEndDue, phase == .busy { process(Span()) }
    }
    if tls != nil, phase != .handshaking, !readPlaintext() { return }
    if let pendingEnd { return streamEnded(pendingEnd) }
    read()
  }

  private func read() {
    let buffer = client.buffers.lend()
    defer { client.buffers.takeBack() }
    for _ in 0..<ConnectionDriver.readsPerTurn {
      // What was held comes first, also when the load has been resumed by another thread meanwhile.
      guard !wasHeld, !isHeld, let transport else { return }
      switch buffer.fill({ transport.receive(into: &$0) }) {
      case .bytes(let count):
        buffer.withBytes(count) { received($0) }
        // The next call says whether there is more, or the end; it costs nothing when neither can be.
        if phase == .closed { return }
      case .wouldBlock:
        isPeerEnding = false
        load?.inputPaused()
        return failIfNothingWasAnswered()
      case .endOfFile: return streamEnded(.endOfFile)
      case .failed(let errno): return streamEnded(.failed(errno))
      }
    }
    client.loop.perform { [weak self] _ in self?.wantsReading() }
  }

  private func received(_ bytes: Span<UInt8>) {
    guard let tls else { return receivedPlaintext(bytes) }
    tls.receive(bytes) { _ in
      if phase == .handshaking {
        advance { () throws(TLSError) in try handshake() }
      }
      if phase != .handshaking, phase != .closed { _ = readPlaintext() }
    }
    flush()
  }

  private func advance(_ step: () throws(TLSError) -> Void) {
    do throws(TLSError) { try step() } catch {
      flush()
      fail(ConnectionError(error, phase: phaseOfLoad, url: url))
    }
  }

  /// Decrypts and processes what the engine holds; false when the load could not take it all or the stream ended.
  private func readPlaintext() -> Bool {
    guard let tls else { return true }
    let buffer = client.buffers.lend()
    defer { client.buffers.takeBack() }
    while !wasHeld, !isHeld, phase != .closed {
      let result: TLSEngine.ReadResult
      do throws(TLSError) {
        result = try buffer.fill { space throws(TLSError) in try tls.read(into: &space) }
      } catch {
        fail(ConnectionError(error, phase: phaseOfLoad, url: url))
        return false
      }
      switch result {
      case .bytes(let count): buffer.withBytes(count) { receivedPlaintext($0) }
      case .wantsInput: return true
      case .closed:
        endOfFile()
        return false
      case .truncated:
        failTruncated()
        return false
      }
    }
    return false
  }

  private func receivedPlaintext(_ bytes: Span<UInt8>) {
    configuration.trafficObserver?.received(bytes, on: number)
    bytesReceived += Int64(bytes.count)
    if let load {
      load.touched()
      if load.metrics != nil { load.noteResponseBytes() }
    }
    guard exchange.passesAllInput, phase == .busy else { return process(bytes) }
    _ = take(bytes, body: 0..<bytes.count)
  }

  // MARK: Processing

  /// Processes what was stashed; false when it could not all be taken.
  private func takeStash() -> Bool {
    if let load, phase == .busy {
      guard !isHeld else { return false }
      do throws(ConnectionError) {
        guard try load.flushDecoded() else { return false }
      } catch {
        fail(error)
        return false
      }
    }
    guard wasHeld else { return true }
    guard !isHeld else { return false }
    wasHeld = false
    let bytes = stash
    let bodyCount = stashedBody
    stash = []
    stashedBody = 0
    if bodyCount > 0, !take(bytes.span, body: 0..<bodyCount) { return false }
    process(bytes.span.extracting(bodyCount..<bytes.count))
    return !wasHeld && phase != .closed
  }

  /// Passes body bytes to the load; false, with the rest stashed, when it did not take them all.
  private func take(_ input: Span<UInt8>, body range: Range<Int>) -> Bool {
    guard let load else {
      drain(range.count)
      return phase != .closed
    }
    let taken: Int
    do throws(ConnectionError) {
      taken = try load.receivedBody(input.extracting(range))
    } catch {
      fail(error)
      return false
    }
    guard taken < range.count || isHeld, phase != .closed else { return phase != .closed }
    guard self.load != nil else {
      // The load left while it was being told; what it did not take is drained.
      drain(range.count - taken)
      return phase != .closed
    }
    let rest = range.lowerBound + taken
    hold(input.extracting(rest..<input.count), body: range.count - taken)
    return false
  }

  /// Keeps what cannot be taken now. Also when it is nothing: the machine may have an event that needs no more bytes.
  private func hold(_ bytes: Span<UInt8>, body: Int) {
    stash = [UInt8](copying: bytes)
    stashedBody = body
    wasHeld = true
  }

  /// Runs plaintext through the exchange machine, and passes on what comes of it.
  private func process(_ bytes: Span<UInt8>) {
    var offset = 0
    while phase != .closed {
      if isHeld { return hold(bytes.extracting(offset..<bytes.count), body: 0) }
      if phase == .idle {
        // Nothing was asked for: whatever a server says now, it is not the answer to the next request.
        if offset < bytes.count { close(.unaskedBytes) }
        return
      }
      let rest = bytes.extracting(offset..<bytes.count)
      let isHead = exchange.state == .awaitingHead
      let step: (consumed: Int, event: ExchangeMachine.Event?)
      do throws(SyntaxError) { step = try exchange.receive(rest) } catch {
        return fail(ConnectionError(error, phase: .receiving, url: url))
      }
      offset += step.consumed
      if isHead { responseHeadBytes += Int64(step.consumed) }
      guard let event = step.event else { return }
      guard perform(event, rest, consumed: step.consumed) else { return }
    }
  }

  /// Passes one event on; false when nothing more of the input may be processed now.
  private func perform(_ event: ExchangeMachine.Event, _ input: Span<UInt8>, consumed: Int) -> Bool {
    switch event {
    case .informational(let head):
      load?.receivedInformational(head)
      requestMoved()
    case .head(let head, let framing):
      noteHead(head)
      requestMoved()
      load?.received(head, framing: framing)
    case .body(let range): return take(input, body: range)
    case .trailers(let fields): load?.receivedTrailers(fields)
    case .end:
      ended(leftover: input.count - consumed)
      return false
    }
    return true
  }

  /// What a head says about the connection.
  private func noteHead(_ head: ResponseHead) {
    keepAlive.received(head.fields)
    if !keepAlive.allowsAnother(after: exchanges) { closing = closing ?? .exchangeLimit }
  }

  // MARK: The stream's end

  /// The transport has ended. What TLS still holds is delivered first.
  private func streamEnded(_ end: StreamEnd) {
    guard !isHeld else {
      pendingEnd = end
      return
    }
    pendingEnd = nil
    if let tls {
      // A reset is told as one; only an end of file is a question to TLS.
      if case .endOfFile = end { tls.receivedEndOfFile() }
      if phase == .handshaking { return endHandshake(end) }
      guard readPlaintext() else { return }
    }
    switch end {
    case .endOfFile:
      // A send that met the reset took its error with it, so that reading sees a mere end. After a broken pipe it is
      // one: the peer's end had come before.
      if let sendFailure, sendFailure != SystemError.brokenPipe { reset(sendFailure) } else { endOfFile() }
    case .failed(let errno): reset(errno)
    }
  }

  private func endHandshake(_ end: StreamEnd) {
    tls?.receivedEndOfFile()
    advance { () throws(TLSError) in try handshake() }
  }

  /// The request could not be sent whole, and what had come by then is no answer: none will come.
  private func failIfNothingWasAnswered() {
    guard let sendFailure, phase == .busy, !exchange.receivedAnything else { return }
    reset(sendFailure)
  }

  private func endOfFile() {
    configuration.trafficObserver?.ended(number, reset: false)
    guard phase == .busy || phase == .draining else { return close(.serverEnded) }
    let phaseBefore = phaseOfLoad
    do throws(SyntaxError) {
      while phase == .busy || phase == .draining, let event = try exchange.receivedEndOfFile() {
        closing = closing ?? .serverEnded
        guard perform(event, Span(), consumed: 0) else { return }
      }
      close(.serverEnded)
    } catch {
      fail(ConnectionError(error, phase: phaseBefore, url: url))
    }
  }

  /// TLS's stream ended without its close_notify: what came may be cut short, but neither nothing nor a whole answer.
  private func failTruncated() {
    if let sendFailure, sendFailure != SystemError.brokenPipe { return reset(sendFailure) }
    guard exchange.receivedAnything, !exchange.isWaitingForRequestEnd, !exchange.isEndDue else {
      return endOfFile()
    }
    configuration.trafficObserver?.ended(number, reset: false)
    guard phase == .busy || phase == .draining else { return close(.serverEnded) }
    fail(
      ConnectionError(
        .networkConnectionLost, phase: phaseOfLoad, url: url,
        cause: .tls(code: 0, "no close_notify"),
        reason: "the connection ended without TLS's close_notify, so what came may be cut short"))
  }

  private func reset(_ errno: CInt) {
    configuration.trafficObserver?.ended(number, reset: true)
    guard phase != .idle else { return close(.serverEnded) }
    if exchange.isWaitingForRequestEnd || exchange.isEndDue {
      // The answer is complete; only the rest of the request was not taken.
      closing = .serverEnded
      stopSending()
      return process(Span())
    }
    fail(
      ConnectionError(
        .networkConnectionLost, phase: phaseOfLoad, url: url,
        cause: .system(errno: errno),
        reason: "the server reset the connection (\(SystemError.words(for: errno)))"))
  }
}
