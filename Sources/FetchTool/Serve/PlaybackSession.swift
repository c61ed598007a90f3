import GannetSockets
import GannetTLS

/// One client of a `PlaybackServer`: waits for its requests and sends what was recorded.
final class PlaybackSession {
  /// How long a client may take to close once everything has been sent.
  private static let lingerTime = Duration.seconds(2)
  /// Nothing more is prepared while so many bytes wait to be sent.
  private static let outputBytes = 256 * 1024
  /// A client that sends so much while nothing waits for it is left.
  private static let inputBytes = 1 << 20

  private enum Phase {
    /// Waits for the request that says what to play.
    case awaitingCue
    case playing
    /// The server's side is to end once what waits has been sent.
    case ending
    /// It has ended; the client's end is waited for.
    case lingering
    case closed
  }

  private let socket: StreamSocket
  private let tls: TLSEngine?
  private unowned let server: PlaybackServer
  private let origin: Int
  private var phase = Phase.awaitingCue

  private var scanner = RequestScanner()
  private var machine: PlaybackMachine?
  private var role: PlaybackStage.Role?

  /// Plaintext from the client that nothing has waited for yet.
  private var input: [UInt8] = []
  /// What waits to be sent, from `sent` on.
  private var output: [UInt8] = []
  private var sent = 0
  private var linger: LoopTimer?
  private var isPumping = false

  init(_ socket: StreamSocket, tls: TLSEngine?, origin: Int, of server: PlaybackServer) {
    self.socket = socket
    self.tls = tls
    self.origin = origin
    self.server = server
    socket.onReady = { [weak self] _ in self?.ready() }
  }

  /// A server that spoke first does so again; otherwise the client's request decides.
  func start() {
    if let role = server.takeSilently(origin: origin) { play(role) }
    pump()
  }

  /// Sends what waits, and ends.
  func windDown() {
    guard phase != .lingering, phase != .closed else { return }
    phase = .ending
    pump()
  }

  private func ready() {
    receive()
    pump()
  }

  // MARK: Receiving

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while phase != .closed {
      var space = buffer.mutableSpan
      switch socket.receive(into: &space) {
      case .bytes(let count): received(buffer.span.extracting(0..<count))
      case .wouldBlock: return
      case .endOfFile, .failed: return clientLeft()
      }
    }
  }

  private func received(_ bytes: Span<UInt8>) {
    guard let tls else {
      if isListening { append(bytes) }
      return
    }
    tls.receive(bytes)
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while true {
      var space = buffer.mutableSpan
      do throws(TLSError) {
        switch try tls.read(into: &space) {
        case .bytes(let count): if isListening { append(buffer.span.extracting(0..<count)) }
        case .wantsInput: return drainTLS()
        case .closed, .truncated: return clientLeft()
        }
      } catch {
        // The client is told by an alert, where there is one, and the connection ends.
        server.note("a client's TLS failed: \(error)")
        drainTLS()
        return windDown()
      }
    }
  }

  /// Whether what the client sends still counts.
  private var isListening: Bool {
    switch phase {
    case .awaitingCue, .playing: true
    case .ending, .lingering, .closed: false
    }
  }

  private func append(_ bytes: Span<UInt8>) {
    guard input.count + bytes.count <= Self.inputBytes else {
      server.note("a client sends more than its recording waits for")
      return windDown()
    }
    for index in bytes.indices { input.append(bytes[index]) }
  }

  private func clientLeft() {
    phase = .closed
    linger = nil
    socket.close()
    leaveRole()
    server.closed(self)
  }

  // MARK: Playing

  /// Plays on until the client is waited for, or the socket is full.
  private func pump() {
    guard !isPumping else { return }
    isPumping = true
    defer { isPumping = false }
    while phase != .closed {
      flush()
      guard output.count - sent < Self.outputBytes else { return }
      switch phase {
      case .awaitingCue: if !takeCue() { return }
      case .playing: if !playOn() { return }
      case .ending:
        guard output.isEmpty else { return }
        end()
      case .lingering, .closed: return
      }
    }
  }

  /// Reads the first request, up to the end of its head. False when it isn't there yet.
  private func takeCue() -> Bool {
    var taken = 0
    while taken < input.count, scanner.progress == .head {
      taken += scanner.step(input.span.extracting(taken..<input.count))
    }
    input.removeFirst(taken)
    guard scanner.progress != .head else { return false }
    guard
      let role = server.take(
        origin: origin, target: scanner.target, hasAuthorization: scanner.hasAuthorization)
    else {
      phase = .ending
      return true
    }
    play(role)
    return true
  }

  private func play(_ role: PlaybackStage.Role) {
    self.role = role
    machine = server.machine(for: role, scanner: scanner)
    scanner = RequestScanner()
    phase = .playing
  }

  /// One step of the recording. False when the client has to speak.
  private func playOn() -> Bool {
    switch machine?.next() {
    case .send(let bytes): send(bytes)
    case .end:
      phase = .ending
    case .reset:
      phase = .closed
      socket.abort()
      leaveRole()
      server.closed(self)
    case .awaitClient:
      let taken = machine?.receive(input.span) ?? 0
      input.removeFirst(taken)
      return taken > 0
    case .finished, nil:
      // The recorded connection was left open: what comes on this one is the next load's.
      leaveRole()
      if phase == .playing { phase = .awaitingCue }
    }
    return true
  }

  private func leaveRole() {
    machine = nil
    guard let role else { return }
    self.role = nil
    server.ended(role)
  }

  // MARK: Sending

  private func send(_ bytes: [UInt8]) {
    guard let tls else {
      output += bytes
      return
    }
    do throws(TLSError) {
      try tls.write(bytes.span)
    } catch {
      server.note("a client's TLS failed: \(error)")
      phase = .ending
    }
    drainTLS()
  }

  private func drainTLS() {
    var ciphertext: [UInt8] = []
    tls?.drainCiphertext(into: &ciphertext)
    output += ciphertext
  }

  private func flush() {
    while sent < output.count {
      switch socket.send(output.span.extracting(sent..<output.count)) {
      case .sent(let count): sent += count
      case .wouldBlock: return socket.wantWrite(true)
      case .failed: return clientLeft()
      }
    }
    output.removeAll(keepingCapacity: true)
    sent = 0
    socket.wantWrite(false)
  }

  /// Ends the server's side, and gives the client time to receive it all: closing at once could reset the connection.
  private func end() {
    tls?.shutdown()
    drainTLS()
    flush()
    guard phase != .closed else { return }
    socket.finishWriting()
    phase = .lingering
    leaveRole()
    linger = server.makeLinger(Self.lingerTime) { [weak self] in self?.clientLeft() }
  }
}
