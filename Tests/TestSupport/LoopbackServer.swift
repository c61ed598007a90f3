import Dispatch
import Foundation
package import GannetSockets
package import GannetTLS
import Synchronization

/// A server of the test's own behind a real socket on this machine, on a thread and an event loop of its own.
package final class LoopbackServer: Sendable {
  /// What it does with each connection.
  package enum Conduct: Sendable {
    /// Answers the n-th request with the n-th of these; past the end with the last.
    case answers([Answer])
    /// Says this before anything was asked; over TLS once the handshake is done.
    case greets(Answer)
    /// Answers once so many bytes have come, and reads no more when told so.
    case answersEarly(after: Int, Answer, readsOn: Bool)
    /// Reads nothing for so long once a request has begun, then all of it, and says this.
    case dozes(Duration, Answer)
    /// Says this again and again once a request has come.
    case repeats([UInt8])
    /// Reads, and never says a word, not even TLS's.
    case silent
    case closes
    case resets
  }

  /// Where it listens.
  package let address: SocketAddress
  private let handle: EventLoop.Handle
  private let hasEnded = DispatchSemaphore(value: 0)

  /// The port; 0 for a Unix socket.
  package var port: UInt16 { address.port ?? 0 }
  /// `http` or `https`, and 127.0.0.1 with the port.
  package func url(_ scheme: String = "http", host: String = "127.0.0.1", _ path: String = "/") -> String {
    "\(scheme)://\(host):\(port)\(path)"
  }

  /// Starts a server. With an identity it speaks TLS; `saysGoodbye` says whether it ends that with a close_notify.
  package init(
    _ conduct: Conduct, at wanted: SocketAddress = .loopback, identity: CertificateIdentity? = nil,
    saysGoodbye: Bool = true, maximumVersion: TLSContext.Version = .tls13
  ) throws {
    let context = try identity.map {
      try TLSContext.server(
        certificatePEM: $0.certificatePEM, keyPEM: $0.keyPEM, maximumVersion: maximumVersion)
    }
    let started = DispatchSemaphore(value: 0)
    let outcome = Mutex<Result<(SocketAddress, EventLoop.Handle), SystemError>?>(nil)
    let ended = hasEnded
    let thread = Thread {
      do throws(SystemError) {
        let loop = try EventLoop()
        let host = try ServerHost(loop, conduct, at: wanted, context, saysGoodbye)
        let address = host.listener.address
        let handle = loop.handle
        outcome.withLock { $0 = .success((address, handle)) }
        started.signal()
        loop.runForever()
        host.close()
        loop.shutDown()
      } catch {
        outcome.withLock { $0 = .failure(error) }
        started.signal()
      }
      ended.signal()
    }
    thread.stackSize = 1 << 20
    thread.start()
    started.wait()
    guard let result = outcome.withLock({ $0 }) else {
      throw SystemError(errno: 0, call: "a server's thread")
    }
    (address, handle) = try result.get()
  }

  /// Returns when the server has heard of all that its clients had done, such as having closed their connections.
  package func catchUp() {
    // The first may come in a turn that had fetched its events before.
    for _ in 0..<2 {
      let isThere = DispatchSemaphore(value: 0)
      handle.post { _ in isThere.signal() }
      isThere.wait()
    }
  }

  /// Ends the server and its connections; returns when its thread is done.
  package func stop() {
    handle.post { $0.stop() }
    hasEnded.wait()
    hasEnded.signal()
  }
}

/// What lives on a server's loop.
private final class ServerHost {
  let loop: EventLoop
  let listener: Listener
  private var peers: [ObjectIdentifier: ServerPeer] = [:]

  init(
    _ loop: EventLoop, _ conduct: LoopbackServer.Conduct, at wanted: SocketAddress, _ context: TLSContext?,
    _ saysGoodbye: Bool
  ) throws(SystemError) {
    self.loop = loop
    listener = try Listener(on: loop, at: wanted)
    listener.onAccept = { [unowned self] socket in
      let engine = context.flatMap { try? TLSEngine(server: $0) }
      let peer = ServerPeer(socket, on: loop, conduct, engine, saysGoodbye) { [weak self] in
        self?.peers.removeValue(forKey: ObjectIdentifier($0))
      }
      peers[ObjectIdentifier(peer)] = peer
      peer.start()
    }
  }

  func close() {
    listener.close()
    for peer in Array(peers.values) { peer.close() }
  }
}

/// One connection of a server.
private final class ServerPeer {
  private let socket: StreamSocket
  private let loop: EventLoop
  private let conduct: LoopbackServer.Conduct
  private let tls: TLSEngine?
  private let saysGoodbye: Bool
  private let gone: (ServerPeer) -> Void
  private var scanner = RequestScanner()
  private var requests = 0
  private var received = 0
  private var isReading = true
  private var waking: LoopTimer?
  private var isRepeating = false
  private var hasGreeted = false
  private var output: [UInt8] = []
  private var sent = 0
  private var ending: ReceiveOutcome?
  private var isClosed = false

  init(
    _ socket: StreamSocket, on loop: EventLoop, _ conduct: LoopbackServer.Conduct, _ tls: TLSEngine?,
    _ saysGoodbye: Bool, gone: @escaping (ServerPeer) -> Void
  ) {
    self.socket = socket
    self.loop = loop
    self.conduct = conduct
    self.tls = tls
    self.saysGoodbye = saysGoodbye
    self.gone = gone
  }

  func start() {
    switch conduct {
    case .closes: return close()
    case .resets:
      socket.abort()
      return close()
    case .answers, .greets, .answersEarly, .dozes, .repeats, .silent: break
    }
    socket.onReady = { [unowned self] readiness in
      if readiness.contains(.writable) { flush() }
      if readiness.contains(.readable) { read() }
    }
    if tls == nil { greet() }
  }

  private func greet() {
    guard case .greets(let answer) = conduct, !hasGreeted else { return }
    hasGreeted = true
    say(answer)
  }

  private func read() {
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while isReading, !isClosed {
      var space = buffer.mutableSpan
      switch socket.receive(into: &space) {
      case .bytes(let count): take(buffer.span.extracting(first: count))
      case .wouldBlock: return
      case .endOfFile, .failed: return close()
      }
    }
  }

  private func take(_ bytes: Span<UInt8>) {
    if case .silent = conduct { return }
    guard let tls else { return takePlaintext(bytes) }
    tls.receive(bytes)
    do throws(TLSError) {
      guard try tls.handshake() else { return flush() }
      greet()
      var buffer = [UInt8](repeating: 0, count: 16 * 1024)
      reading: while !isClosed {
        var space = buffer.mutableSpan
        switch try tls.read(into: &space) {
        case .bytes(let count): takePlaintext(buffer.span.extracting(first: count))
        case .wantsInput: break reading
        case .closed, .truncated: return close()
        }
      }
      flush()
    } catch {
      // The alert that says why goes out first.
      ending = .endOfFile
      flush()
    }
  }

  private func takePlaintext(_ bytes: Span<UInt8>) {
    received += bytes.count
    switch conduct {
    case .answers(let answers):
      var position = 0
      while position < bytes.count {
        position += scanner.step(bytes.extracting(position..<bytes.count))
        guard scanner.progress == .ended else { continue }
        scanner = RequestScanner()
        requests += 1
        if let last = answers.last { say(requests <= answers.count ? answers[requests - 1] : last) }
      }
    case .answersEarly(let count, let answer, let readsOn):
      guard received >= count, !hasGreeted else { return }
      hasGreeted = true
      isReading = readsOn
      say(answer)
    case .dozes(let time, let answer):
      if received == bytes.count { doze(time) }
      guard scanner.step(bytes) > 0, scanner.progress == .ended else { return }
      say(answer)
    case .repeats:
      guard scanner.step(bytes) > 0, scanner.progress == .ended else { return }
      isRepeating = true
      flush()
    case .greets, .silent, .closes, .resets: break
    }
  }

  private func doze(_ time: Duration) {
    isReading = false
    waking = loop.makeTimer { [unowned self] _ in
      isReading = true
      read()
    }
    waking?.schedule(at: loop.now.advanced(by: time))
  }

  private func say(_ answer: Answer) {
    ending = ending ?? answer.ending
    write(answer.bytes)
    flush()
  }

  private func write(_ bytes: [UInt8]) {
    guard let tls else { return output += bytes }
    try? tls.write(bytes.span)
    tls.drainCiphertext(into: &output)
  }

  private func flush() {
    tls?.drainCiphertext(into: &output)
    while !isClosed {
      if sent == output.count {
        output = []
        sent = 0
        if ending != nil { return end() }
        guard isRepeating, case .repeats(let bytes) = conduct else { return socket.wantWrite(false) }
        write(bytes)
      }
      guard case .sent(let count) = socket.send(output.span.extracting(sent..<output.count)) else {
        return socket.wantWrite(true)
      }
      sent += count
    }
  }

  private func end() {
    if case .failed = ending { socket.abort() }
    if let tls, saysGoodbye {
      tls.shutdown()
      tls.drainCiphertext(into: &output)
      _ = socket.send(output.span)
    }
    close()
  }

  func close() {
    guard !isClosed else { return }
    isClosed = true
    waking = nil
    socket.onReady = nil
    socket.close()
    gone(self)
  }
}
