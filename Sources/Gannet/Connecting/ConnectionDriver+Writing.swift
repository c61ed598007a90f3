import GannetExchange
import GannetSockets
import GannetTLS

extension ConnectionDriver {
  private enum WriteStop: Error { case wouldBlock, failed(CInt), body(RequestBodyError) }

  /// Pieces of a body that are sent in one turn, so that a fast receiver does not starve the loop's other
  /// connections, and its answer is seen.
  private static let piecesPerTurn = 4

  /// Hands what is waiting to the system, as far as it takes it. Called again when there is room.
  func flush() {
    var wantsRoom = false
    defer {
      // Asked anew each time: room that was left is then announced again.
      transport?.wantWrite(false)
      if wantsRoom { transport?.wantWrite(true) }
    }
    do throws(WriteStop) {
      try sendCiphertext()
      var pieces = 0
      // A load that was cancelled, as in the callback about the last piece, sends no more.
      while phase == .busy, load?.isCancelled != true, try prepare() {
        if pieces == ConnectionDriver.piecesPerTurn {
          wantsRoom = true
          return
        }
        pieces += 1
        let bodyBytes = try offerPiece()
        noteHeadSent()
        if bodyBytes > 0 { tellSent(bodyBytes) }
        // TLS takes a piece whole, the socket perhaps not: nobody else would ask for room for the rest.
        if ciphertextSent < ciphertext.count { throw .wouldBlock }
      }
    } catch {
      switch error {
      case .wouldBlock: wantsRoom = true
      case .failed(let errno): sendFailed(errno)
      case .body(let error): bodyFailed(error)
      }
    }
  }

  /// Tells the load how much of its body went out. A callback that runs the loop does not get the answer there: the
  /// load may be amid what it does, and would tell of the response's data before the response.
  private func tellSent(_ count: Int) {
    guard let load else { return }
    guard !isProcessing else { return load.sentBody(count) }
    isProcessing = true
    load.sentBody(count)
    isProcessing = false
    guard hasPutOffReading else { return }
    hasPutOffReading = false
    client.loop.perform { [weak self] _ in self?.wantsReading() }
  }

  /// Whether there is something to offer now.
  private func prepare() throws(WriteStop) -> Bool {
    switch exchange.request {
    case .sendingHead: return true
    case .sendingBody:
      guard let body = outbox.body else { return false }
      defer { if body.hasBegunStream { load?.beganStream() } }
      do throws(RequestBodyError) {
        switch try body.prepare() {
        case .ready: return true
        case .waiting: return false
        case .done:
          finishBody()
          return false
        }
      } catch { throw .body(error) }
    case .none, .awaitingContinue, .sent, .stopped: return false
    }
  }

  private func offerPiece() throws(WriteStop) -> Int {
    guard case .sendingHead = exchange.request else {
      return try outbox.body?.offer { (piece) throws(WriteStop) in try send(piece) } ?? 0
    }
    // Taken out, so that nobody else can touch it while a piece of it is lent.
    var outbox = Outbox()
    swap(&outbox, &self.outbox)
    defer { swap(&outbox, &self.outbox) }
    return try outbox.offerHead { (piece) throws(WriteStop) in try send(piece) }
  }

  private func noteHeadSent() {
    guard case .sendingHead = exchange.request, outbox.isHeadSent else { return }
    exchange.sentHead()
    endMayBeDue = true
    if case .awaitingContinue = exchange.request { awaitContinue() }
    if case .sent = exchange.request { load?.requestSent() }
  }

  /// The whole body has been handed over.
  private func finishBody() {
    exchange.sentBody()
    endMayBeDue = true
    load?.requestSent()
    outbox.abandon()
    tellEndIfDue()
  }

  /// A response that was complete before its request has its end now, if the request has.
  private func tellEndIfDue() {
    guard exchange.isEndDue else { return }
    client.loop.perform { [weak self] _ in self?.wantsReading() }
  }

  /// The answer may be there all the same: a server that refuses a body answers, then closes. What the reading side
  /// finds decides.
  private func sendFailed(_ errno: CInt) {
    stopSending()
    closing = .serverEnded
    ciphertext = []
    ciphertextSent = 0
    guard sendFailure == nil else { return }
    sendFailure = errno
    client.loop.perform { [weak self] _ in self?.wantsReading() }
  }

  /// Sends no more of the request.
  func stopSending() {
    continueTimer = nil
    exchange.stoppedSending()
    endMayBeDue = true
    outbox.abandon()
  }

  // MARK: The request's body and what the server says of it

  /// The server is given its time to say 100.
  private func awaitContinue() {
    let limit = configuration.expectContinueTimeLimit
    continueTimer = client.loop.makeTimer { [weak self] _ in
      guard let self else { return }
      exchange.continueTimeLimitPassed()
      requestMoved()
    }
    continueTimer?.schedule(at: client.loop.time.advanced(by: limit))
  }

  /// What came, or did not come in time, may have decided about the rest of the request.
  func requestMoved() {
    switch exchange.request {
    case .sendingBody:
      continueTimer = nil
      flush()
    case .stopped:
      stopSending()
    case .none, .sendingHead, .awaitingContinue, .sent: break  // nothing was decided
    }
  }

  /// The body's source has more, or has ended.
  func bodyHasMore() {
    if phase == .busy { flush() }
  }

  private func send(_ piece: Span<UInt8>) throws(WriteStop) -> Int {
    guard let tls else {
      let taken = try sendRaw(piece)
      bytesSent += Int64(taken)
      if taken > 0 { configuration.trafficObserver?.sent(piece.extracting(first: taken), on: number) }
      return taken
    }
    do throws(TLSError) { try tls.write(piece) } catch { throw .failed(0) }
    bytesSent += Int64(piece.count)
    configuration.trafficObserver?.sent(piece, on: number)
    do throws(WriteStop) { try sendCiphertext() } catch {
      // The engine has taken the piece; its ciphertext is what waits.
      if case .failed = error { throw error }
    }
    return piece.count
  }

  private func sendCiphertext() throws(WriteStop) {
    guard let tls else { return }
    while true {
      if ciphertextSent == ciphertext.count {
        ciphertext.removeAll(keepingCapacity: ciphertext.capacity <= 32 * 1024)
        ciphertextSent = 0
        tls.drainCiphertext(into: &ciphertext)
        if ciphertext.isEmpty { return }
      }
      let waiting = ciphertext
      ciphertextSent += try sendRaw(waiting.span.extracting(ciphertextSent..<waiting.count))
    }
  }

  private func sendRaw(_ bytes: Span<UInt8>) throws(WriteStop) -> Int {
    guard let transport else { throw .failed(0) }
    switch transport.send(bytes) {
    case .sent(let count): return count
    case .wouldBlock: throw .wouldBlock
    case .failed(let errno): throw .failed(errno)
    }
  }
}
