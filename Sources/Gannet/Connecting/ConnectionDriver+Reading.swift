import GannetExchange
import GannetHTTP
import GannetPolicy
import GannetSockets
import GannetTLS

extension ConnectionDriver {
  /// Reads in one turn at most so often, so that a fast sender does not starve the loop's other connections.
  private static let readsPerTurn = 16

  /// The transport has something to read, or room to write.
  func ready(_ readiness: Readiness) {
    if !readiness.isDisjoint(with: [.peerClosed, .failed]) { isPeerEnding = true }
    if readiness.contains(.writable) {
      flush()
      if phase == .handshaking { advance { () throws(TLSError) in try handshake() } }
    }
    if readiness.contains(.readable) { wantsReading() }
  }

  /// Whether nothing may be processed now.
  private var isHeld: Bool {
    switch phase {
    case .busy: load.map { $0.holdsBody || $0.isStopped } ?? true
    case .connecting, .handshaking, .idle, .draining, .closed: false
    }
  }

  /// Goes on reading: bytes have come, or the load can take bytes again.
  func wantsReading() {
    // What comes inside a callback that runs the loop is read when the callback has returned.
    guard !isProcessing, phase != .closed, phase != .connecting else { return }
    isProcessing = true
    defer { isProcessing = false }
    guard takeStash() else { return }
    if tls != nil, phase != .handshaking, !readPlaintext() { return }
    if let pendingEnd { return streamEnded(pendingEnd) }
    read()
  }

  private func read() {
    var buffer = client.takeScratch()
    defer { client.giveBack(buffer) }
    for _ in 0..<ConnectionDriver.readsPerTurn {
      guard !isHeld, let transport else { return }
      var space = buffer.mutableSpan
      switch transport.receive(into: &space) {
      case .bytes(let count):
        received(buffer.span.extracting(first: count))
        // The next call says whether there is more, or the end; it costs nothing when neither can be.
        if phase == .closed { return }
      case .wouldBlock:
        isPeerEnding = false
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
    var buffer = client.takeScratch()
    defer { client.giveBack(buffer) }
    while !isHeld, phase != .closed {
      var space = buffer.mutableSpan
      let result: TLSEngine.ReadResult
      do throws(TLSError) { result = try tls.read(into: &space) } catch {
        fail(ConnectionError(error, phase: phaseOfLoad, url: url))
        return false
      }
      switch result {
      case .bytes(let count): receivedPlaintext(buffer.span.extracting(first: count))
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
    load?.touched()
    process(bytes)
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
        if offset < bytes.count { close() }
        return
      }
      let rest = bytes.extracting(offset..<bytes.count)
      let step: (consumed: Int, event: ExchangeMachine.Event?)
      do throws(SyntaxError) { step = try exchange.receive(rest) } catch {
        return fail(ConnectionError(error, phase: .receiving, url: url))
      }
      offset += step.consumed
      guard let event = step.event else { return }
      guard perform(event, rest, consumed: step.consumed) else { return }
    }
  }

  /// Passes one event on; false when nothing more of the input may be processed now.
  private func perform(_ event: ExchangeMachine.Event, _ input: Span<UInt8>, consumed: Int) -> Bool {
    switch event {
    case .informational(let head): load?.receivedInformational(head)
    case .head(let head, let framing):
      noteHead(head)
      load?.received(head, framing: framing)
    case .body(let range): return take(input, body: range)
    case .trailers(let fields): load?.receivedTrailers(fields)
    case .end(let reusable):
      ended(reusable: reusable, leftover: input.count - consumed)
      return false
    }
    return true
  }

  /// What a head says about the connection, and about the rest of the request.
  private func noteHead(_ head: ResponseHead) {
    keepAlive.received(head.fields)
    if !keepAlive.allowsAnother(after: exchanges) { closesAfterExchange = true }
    if !outbox.isEmpty, !EarlyAnswerPolicy.wantsRest(status: head.status) {
      outbox.abandon()
      closesAfterExchange = true
    }
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
    guard phase == .busy || phase == .draining else { return close() }
    do throws(SyntaxError) {
      while phase == .busy || phase == .draining, let event = try exchange.receivedEndOfFile() {
        closesAfterExchange = true
        guard perform(event, Span(), consumed: 0) else { return }
      }
      close()
    } catch {
      fail(ConnectionError(error, phase: phaseOfLoad, url: url))
    }
  }

  private func failTruncated() {
    configuration.trafficObserver?.ended(number, reset: false)
    guard phase == .busy || phase == .draining else { return close() }
    fail(
      ConnectionError(
        .networkConnectionLost, phase: phaseOfLoad, url: url,
        cause: .tls(code: 0, "no close_notify"),
        reason: "the connection ended without TLS's close_notify, so what came may be cut short"))
  }

  private func reset(_ errno: CInt) {
    configuration.trafficObserver?.ended(number, reset: true)
    guard phase != .idle else { return close() }
    fail(
      ConnectionError(
        .networkConnectionLost, phase: phaseOfLoad, url: url,
        cause: .system(errno: errno),
        reason: "the server reset the connection (\(SystemError.words(for: errno)))"))
  }
}
