import GannetSockets
import GannetTLS

extension ConnectionDriver {
  private enum WriteStop: Error { case wouldBlock, failed(CInt) }

  /// Pieces of a body that are sent in one turn, so that a fast receiver does not starve the loop's other
  /// connections, and its answer is seen.
  private static let piecesPerTurn = 4

  /// Hands what is waiting to the system, as far as it takes it. Called again when there is room.
  func flush() {
    defer {
      // Asked anew each time: room that was left is then announced again.
      transport?.wantWrite(false)
      if !outbox.isEmpty || ciphertextSent < ciphertext.count { transport?.wantWrite(true) }
    }
    do throws(WriteStop) {
      try sendCiphertext()
      var pieces = 0
      while !outbox.isEmpty, phase == .busy, pieces < ConnectionDriver.piecesPerTurn {
        pieces += 1
        let bodyBytes = try offerPiece()
        if bodyBytes > 0 { load?.sentBody(bodyBytes) }
      }
    } catch {
      switch error {
      case .wouldBlock: break  // `ready` comes when there is room
      case .failed(let errno):
        // The answer may be there all the same: a server that refuses a body answers, then closes. What the
        // reading side finds decides.
        outbox.abandon()
        closesAfterExchange = true
        ciphertext = []
        ciphertextSent = 0
        guard sendFailure == nil else { break }
        sendFailure = errno
        client.loop.perform { [weak self] _ in self?.wantsReading() }
      }
    }
  }

  private func offerPiece() throws(WriteStop) -> Int {
    // Taken out, so that nobody else can touch it while a piece of it is lent.
    var outbox = Outbox()
    swap(&outbox, &self.outbox)
    defer { swap(&outbox, &self.outbox) }
    return try outbox.offer { (piece) throws(WriteStop) in try send(piece) }
  }

  private func send(_ piece: Span<UInt8>) throws(WriteStop) -> Int {
    guard let tls else {
      let taken = try sendRaw(piece)
      if taken > 0 { configuration.trafficObserver?.sent(piece.extracting(first: taken), on: number) }
      return taken
    }
    do throws(TLSError) { try tls.write(piece) } catch { throw .failed(0) }
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
