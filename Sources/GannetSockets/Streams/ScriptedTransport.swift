/// A stream whose other end is the caller: bytes and an end that it scripts, and what was sent. No socket.
package final class ScriptedTransport: StreamTransport {
  /// What has been sent so far.
  package private(set) var sent: [UInt8] = []
  package private(set) var isWritingFinished = false
  package private(set) var isClosed = false

  private var incoming: [UInt8]
  private var taken = 0
  private var ending: ReceiveOutcome?
  private var isReadingPaused = false
  private let later: (@escaping () -> Void) -> Void

  /// - Parameters:
  ///   - bytes: what there is to receive from the start.
  ///   - ending: what follows them (`.endOfFile`, `.failed`); nil: nothing yet.
  ///   - later: runs its argument in a later turn of the loop that the transport is on.
  package init(
    _ bytes: [UInt8] = [], ending: ReceiveOutcome? = nil, later: @escaping (@escaping () -> Void) -> Void
  ) {
    incoming = bytes
    self.ending = ending
    self.later = later
  }

  package var onReady: ((Readiness) -> Void)? {
    didSet { if onReady != nil, oldValue == nil { announce() } }
  }

  /// More bytes come, and the end, if it does.
  package func script(_ bytes: [UInt8], ending: ReceiveOutcome? = nil) {
    incoming += bytes
    self.ending = ending
    announce()
  }

  package func receive(into buffer: inout MutableSpan<UInt8>) -> ReceiveOutcome {
    guard !isClosed else { return .endOfFile }
    let count = min(buffer.count, incoming.count - taken)
    guard count > 0 || buffer.isEmpty else { return ending ?? .wouldBlock }
    for index in 0..<count { buffer[index] = incoming[taken + index] }
    taken += count
    return .bytes(count)
  }

  package func send(_ bytes: Span<UInt8>) -> SendOutcome {
    for index in bytes.indices { sent.append(bytes[index]) }
    return .sent(bytes.count)
  }

  /// There is always room, and a call to say so after each wish.
  package func wantWrite(_ wanted: Bool) {
    guard wanted else { return }
    later { [weak self] in
      guard let self, !isClosed else { return }
      onReady?(.writable)
    }
  }

  package func pauseReading(_ paused: Bool) {
    isReadingPaused = paused
    if !paused { announce() }
  }

  package func finishWriting() {
    isWritingFinished = true
  }

  package func close() {
    isClosed = true
    onReady = nil
  }

  private func announce() {
    later { [weak self] in
      guard let self, !isClosed, !isReadingPaused, taken < incoming.count || ending != nil else { return }
      onReady?(ending == nil ? .readable : [.readable, .peerClosed])
    }
  }
}
