#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Where a replay cuts the server's bytes: each piece is received in a turn of its own.
package enum ReplayCuts: Hashable, Sendable {
  /// Where the recorded segments end.
  case asRecorded
  /// After so many bytes each, at least 1. Segments that follow each other are joined first.
  case every(Int)
  /// At these places, counted from the first byte of the connection, in rising order. Segments that follow each other
  /// are joined first.
  case at([Int])
}

/// Plays the server's side of one recorded connection in memory. It waits for the client's requests as a server
/// would, and never for time.
///
/// A client that sends another request when the recording is over finds the connection reset: it has left the
/// recorded path.
package final class ReplayingTransport: StreamTransport {
  private enum End { case endOfFile, reset }

  private let loop: EventLoop
  private var machine: PlaybackMachine
  private var cuts: ReplayCuts

  /// What the client sent and nothing has waited for yet.
  private var clientBytes: [UInt8] = []
  /// What the server has said and the client not received, from `position` on.
  private var serverBytes: [UInt8] = []
  private var position = 0
  /// The place of `serverBytes[position]` in the connection.
  private var streamOffset = 0
  private var end: End?

  /// Bytes that may be received now: the rest of the announced piece.
  private var available = 0
  private var endIsAnnounced = false
  private var isAnnouncing = false
  private var isReadingPaused = false
  private var isClosed = false

  package var onReady: ((Readiness) -> Void)? {
    didSet { if onReady != nil { announceNext() } }
  }

  /// Plays the connection with this number on `loop`.
  package init(_ recording: Recording, connection: Int, cuts: ReplayCuts, on loop: EventLoop) {
    machine = PlaybackMachine(recording, connection: connection)
    self.cuts = cuts
    self.loop = loop
    play()
  }

  package func receive(into buffer: inout MutableSpan<UInt8>) -> ReceiveOutcome {
    guard !isClosed else { return .failed(EBADF) }
    guard available > 0 else {
      guard endIsAnnounced, let end else { return .wouldBlock }
      return end == .endOfFile ? .endOfFile : .failed(ECONNRESET)
    }
    let count = min(available, buffer.count)
    copy(serverBytes.span.extracting(position..<position + count), to: &buffer)
    position += count
    streamOffset += count
    available -= count
    if position == serverBytes.count {
      serverBytes.removeAll(keepingCapacity: true)
      position = 0
    }
    if available == 0 {
      play()
      announceNext()
    }
    return .bytes(count)
  }

  private func copy(_ bytes: Span<UInt8>, to buffer: inout MutableSpan<UInt8>) {
    for index in bytes.indices { buffer[index] = bytes[index] }
  }

  package func send(_ bytes: Span<UInt8>) -> SendOutcome {
    guard !isClosed else { return .failed(EBADF) }
    if end == .reset { return .failed(ECONNRESET) }
    for index in bytes.indices { clientBytes.append(bytes[index]) }
    play()
    announceNext()
    return .sent(bytes.count)
  }

  package func wantWrite(_ wanted: Bool) {}

  package func pauseReading(_ paused: Bool) {
    isReadingPaused = paused
    if !paused, available > 0 || endIsAnnounced { announce() } else { announceNext() }
  }

  package func finishWriting() {}

  package func close() {
    isClosed = true
    onReady = nil
  }

  /// Lets the server speak as far as it does without more from the client.
  private func play() {
    while end == nil {
      // Recorded segments stay apart: the next is taken when this one has been received.
      if cuts == .asRecorded, position < serverBytes.count { return }
      switch machine.next() {
      case .send(let bytes): serverBytes += bytes
      case .end: end = .endOfFile
      case .reset: end = .reset
      case .awaitClient:
        let taken = machine.receive(clientBytes.span)
        clientBytes.removeFirst(taken)
        guard taken > 0 else { return }
      case .finished:
        guard !clientBytes.isEmpty else { return }
        end = .reset
      }
    }
  }

  /// Makes the next piece available in the loop's next turn, once the one before has been received.
  private func announceNext() {
    guard onReady != nil, available == 0, position < serverBytes.count || (end != nil && !endIsAnnounced)
    else {
      return
    }
    announce()
  }

  private func announce() {
    guard !isAnnouncing, !isReadingPaused else { return }
    isAnnouncing = true
    loop.perform { [weak self] _ in self?.ready() }
  }

  private func ready() {
    isAnnouncing = false
    guard !isClosed, !isReadingPaused else { return }
    if available == 0 {
      if position < serverBytes.count { available = nextPiece() } else { endIsAnnounced = end != nil }
    }
    if available > 0 { onReady?(.readable) } else if endIsAnnounced { onReady?([.readable, .peerClosed]) }
  }

  private func nextPiece() -> Int {
    let left = serverBytes.count - position
    switch cuts {
    case .asRecorded: return left
    case .every(let count): return min(left, max(1, count))
    case .at(let places):
      let next = places.first { $0 > streamOffset }
      return next.map { min(left, $0 - streamOffset) } ?? left
    }
  }
}
