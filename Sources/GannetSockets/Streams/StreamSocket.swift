import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A TCP or Unix stream socket on a loop. Letting it go closes it.
///
/// It is registered edge-triggered, and keeps what the edges said: a receive that didn't fill its buffer has drained
/// the socket, so no further one is tried before the next edge. A request and its response on a connection that is
/// kept cost three system calls: send, wait, receive.
package final class StreamSocket: StreamTransport, EventSource {
  /// Whom it is connected to.
  package let peer: SocketAddress

  private var descriptor: FileDescriptor?
  private let poller: Poller
  private var token: Poller.Token

  /// There may be something to receive.
  private var mayReceive = false
  /// The peer has closed or failed: there is always something to receive, if only the end.
  private var isEnding = false
  private var isReadingPaused = false
  private var wantsWrite = false
  /// Room was announced, and no send has filled it since.
  private var maySend = false
  /// A Unix socket announces room each time its peer reads, so it asks for that only while it waits.
  private let asksForRoomWhenFull: Bool
  private var sendFailure: CInt?
  private var isAskingForRoom: Bool

  package var onReady: ((Readiness) -> Void)? {
    didSet { if onReady != nil, oldValue == nil { replayIfMissed() } }
  }

  /// Takes a connected, or connecting, socket of the peer's family that doesn't block.
  ///
  /// - Throws: when the kernel has no room for the registration.
  init(owning descriptor: consuming FileDescriptor, peer: SocketAddress, poller: Poller) throws(SystemError) {
    self.peer = peer
    self.poller = poller
    token = Poller.Token(index: .max, generation: .max)
    if case .unix = peer { asksForRoomWhenFull = true } else { asksForRoomWhenFull = false }
    isAskingForRoom = !asksForRoomWhenFull
    let number = descriptor.number
    self.descriptor = consume descriptor
    token = try poller.add(number, self, writable: isAskingForRoom)
    if !asksForRoomWhenFull { setOption(number, CInt(IPPROTO_TCP), TCP_NODELAY, 1) }
  }

  deinit {
    close()
  }

  /// The descriptor's number, for `splice` and the like; -1 once closed.
  package var descriptorNumber: CInt { descriptor?.number ?? -1 }

  /// This end's address; nil for a Unix socket, and once closed.
  package var localAddress: SocketAddress? {
    SocketAddress(of: descriptorNumber, peer: false)
  }

  // MARK: - Bytes

  package func receive(into buffer: inout MutableSpan<UInt8>) -> ReceiveOutcome {
    guard let number = descriptor?.number else { return .failed(EBADF) }
    guard mayReceive || isEnding else { return .wouldBlock }
    let room = buffer.count
    guard room > 0 else { return .bytes(0) }
    while true {
      let count = receiveBytes(number, into: &buffer)
      if count > 0 {
        mayReceive = count == room
        return .bytes(count)
      }
      if count == 0 { return .endOfFile }
      switch lastErrno {
      case EINTR: continue
      case EAGAIN:
        mayReceive = false
        isEnding = false
        return .wouldBlock
      case let failure: return .failed(failure)
      }
    }
  }

  package func lookAgain() { mayReceive = true }

  package func send(_ bytes: Span<UInt8>) -> SendOutcome {
    guard let number = descriptor?.number else { return .failed(EBADF) }
    if let sendFailure { return .failed(sendFailure) }
    var sent = 0
    // A short send is tried on until it would block, since only that makes the kernel announce room.
    while sent < bytes.count {
      let count = sendBytes(number, bytes, from: sent)
      if count >= 0 {
        sent += count
        continue
      }
      switch lastErrno {
      case EINTR: continue
      case EAGAIN:
        maySend = false
        askForRoom(true)
        return sent > 0 ? .sent(sent) : .wouldBlock
      case let failure:
        // The kernel names a reset only once. What came before it can still be received, before epoll says so.
        sendFailure = failure
        isEnding = true
        return sent > 0 ? .sent(sent) : .failed(failure)
      }
    }
    return .sent(sent)
  }

  // MARK: - Readiness

  package func ready(_ readiness: Readiness, on loop: EventLoop) {
    if readiness.contains(.readable) { mayReceive = true }
    if readiness.isEnding { isEnding = true }
    if readiness.contains(.writable) { maySend = true }
    announce(readiness)
  }

  /// Calls `onReady` with as much of the readiness as is wanted now.
  private func announce(_ readiness: Readiness) {
    var wanted = isReadingPaused ? Readiness(rawValue: 0) : readiness.withoutWritable
    if wantsWrite, readiness.contains(.writable) {
      wanted = Readiness(rawValue: wanted.rawValue | Readiness.writable.rawValue)
      askForRoom(false)
    }
    if wanted.rawValue != 0 { onReady?(wanted) }
  }

  package func wantWrite(_ wanted: Bool) {
    guard wanted != wantsWrite else { return }
    wantsWrite = wanted
    if wanted, maySend { replay(.writable) }
  }

  package func pauseReading(_ paused: Bool) {
    guard paused != isReadingPaused else { return }
    isReadingPaused = paused
    if !paused { replayIfMissed() }
  }

  private func replayIfMissed() {
    var missed: Readiness = []
    if mayReceive || isEnding { missed.insert(.readable) }
    if isEnding { missed.insert(.peerClosed) }
    if !missed.isEmpty, !isReadingPaused { replay(missed) }
  }

  private func replay(_ readiness: Readiness) {
    guard descriptor != nil else { return }
    poller.replay(readiness, to: token)
  }

  private func askForRoom(_ asking: Bool) {
    guard asksForRoomWhenFull, asking != isAskingForRoom, let number = descriptor?.number else { return }
    isAskingForRoom = asking
    do throws(SystemError) {
      try poller.change(number, token, writable: asking)
    } catch {
      // The next send, which is tried at once, says so.
      sendFailure = error.errno
      replay(.writable)
    }
  }

  // MARK: - The end

  package func finishWriting() {
    guard let number = descriptor?.number else { return }
    // Fails when the connection is gone already: then there is nothing to end.
    _ = shutdown(number, CInt(SHUT_WR))
  }

  package func close() {
    guard descriptor != nil else { return }
    poller.remove(token)
    onReady = nil
    descriptor = nil
  }

  /// Closes so that the peer sees the connection reset.
  package func abort() {
    guard let number = descriptor?.number else { return }
    resetWhenClosed(number)
    close()
  }

  // MARK: - Connecting

  /// Begins to connect: `onReady` with `.writable` says that `connectOutcome` is known.
  ///
  /// - Throws: what failed at once. `EAGAIN`: a Unix socket's listener has its queue full.
  static func connecting(to peer: SocketAddress, poller: Poller) throws(SystemError) -> StreamSocket {
    let descriptor = try makeStreamSocket(for: peer)
    try beginConnecting(descriptor.number, to: peer)
    let socket = try StreamSocket(owning: descriptor, peer: peer, poller: poller)
    // A Unix socket is connected now, but what it says next would be that it has room only when asked.
    socket.askForRoom(true)
    socket.wantsWrite = true
    return socket
  }

  /// How a connect that became writable ended: 0, or its errno.
  func connectOutcome() -> CInt {
    guard let number = descriptor?.number else { return EBADF }
    let status = pendingError(number)
    guard status == 0 else { return status }
    // A connect to a free port in the range of our own ports may meet itself.
    if peer.isLoopback, localAddress == peer { return ECONNREFUSED }
    return 0
  }

  /// Hands a connected socket over, as if it were new.
  func becomeConnected() {
    onReady = nil
    wantsWrite = false
  }
}
