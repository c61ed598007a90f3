import Dispatch
import GannetSockets

/// A real server on a loopback port and a thread of its own, which answers by the path of each request.
package final class PathServer: Sendable {
  /// What a request gets.
  package enum Reply: Sendable {
    /// These bytes; the connection stays.
    case bytes([UInt8])
    /// These bytes, and the end of the connection.
    case last([UInt8])
    /// The same bytes first, then the others over and over, as fast as they are taken.
    case endless([UInt8], [UInt8])
    /// These bytes and the end of the connection, once the server is told to `release` them.
    case held([UInt8])
    /// Nothing.
    case silence
    /// A reset.
    case reset

    /// A response with a length.
    package static func ok(_ body: String, status: String = "200 OK", _ fields: String = "") -> Reply {
      .bytes(Answer.ok(body, status: status, fields).bytes)
    }

    /// A response with a length on a connection that is not used again.
    package static func closing(_ body: String) -> Reply {
      .last(Answer.ok(body, "Connection: close\r\n").bytes)
    }
  }

  /// What it has seen.
  package struct Counts: Sendable {
    /// Connections that came.
    package var accepted = 0
    /// Connections that are open.
    package var open = 0
    /// The paths that were asked for.
    package var paths: [String] = []
    /// Bytes that were sent.
    package var sent = 0
  }

  /// The port it listens on.
  package let port: UInt16
  private let handle: EventLoop.Handle
  fileprivate let state = Guarded(Counts())
  fileprivate let waiters = Guarded<[(isMet: @Sendable (Counts) -> Bool, arrival: Arrival<Counts>)]>([])
  /// Told when an endless answer has not been taken for a while.
  package let stuck = Arrival<Counts>()

  /// Starts it.
  package init(_ answer: @escaping @Sendable (String) -> Reply) throws {
    let begun = Begun()
    let box = Weak()
    try startBackgroundThread(stackBytes: 1 << 20) {
      guard let loop = try? EventLoop(), let listener = try? Listener(on: loop) else {
        begun.isThere.signal()
        return
      }
      let sessions = Sessions()
      loop.attachments[ObjectIdentifier(Sessions.self)] = sessions
      listener.onAccept = { socket in
        guard let server = box.server.withLock({ $0.server }) else { return }
        sessions.begin(socket, server, answer, on: loop)
      }
      begun.place.withLock { $0 = (listener.port, loop.handle) }
      begun.isThere.signal()
      loop.runForever()
      listener.close()
      sessions.endAll()
      loop.shutDown()
    }
    begun.isThere.wait()
    guard let place = begun.place.withLock({ $0 }) else {
      throw SystemError(errno: 24, call: "a test server")
    }
    (port, handle) = place
    box.server.withLock { $0.server = self }
  }

  deinit { handle.post { $0.stop() } }

  /// Sends what is held.
  package func release() {
    handle.post { ($0.attachments[ObjectIdentifier(Sessions.self)] as? Sessions)?.release() }
  }

  /// The URL of a path here.
  package func url(_ path: String) -> String { "http://127.0.0.1:\(port)\(path)" }

  /// What it has seen so far.
  package var counts: Counts { state.withLock { $0 } }

  /// Waits until what it has seen is like this.
  @discardableResult
  package func until(_ isMet: @escaping @Sendable (Counts) -> Bool) async throws -> Counts {
    let arrival = Arrival<Counts>()
    waiters.withLock { $0.append((isMet, arrival)) }
    note { _ in }
    return try await arrival.value
  }

  fileprivate func note(_ change: @Sendable (inout Counts) -> Void) {
    let counts = state.withLock { counts in
      change(&counts)
      return counts
    }
    let met = waiters.withLock { waiters in
      let met = waiters.filter { $0.isMet(counts) }
      waiters.removeAll { $0.isMet(counts) }
      return met
    }
    for waiter in met { waiter.arrival.arrive(counts) }
  }

  private final class Begun: Sendable {
    let isThere = DispatchSemaphore(value: 0)
    let place = Guarded<(UInt16, EventLoop.Handle)?>(nil)
  }

  private struct Reference: Sendable { weak var server: PathServer? }
  private final class Weak: Sendable { let server = Guarded(Reference()) }
}

/// The connections of a server, on its thread.
private final class Sessions {
  private var open: [ObjectIdentifier: Session] = [:]

  func begin(
    _ socket: StreamSocket, _ server: PathServer, _ answer: @escaping @Sendable (String) -> PathServer.Reply,
    on loop: EventLoop
  ) {
    server.note { counts in
      counts.accepted += 1
      counts.open += 1
    }
    let session = Session(socket, server, answer, on: loop)
    open[ObjectIdentifier(session)] = session
    session.onEnd = { [weak self] session in self?.open[ObjectIdentifier(session)] = nil }
    session.start()
  }

  func release() { for session in Array(open.values) { session.release() } }

  func endAll() { for session in Array(open.values) { session.end() } }
}

/// One connection of a server.
private final class Session {
  private let socket: StreamSocket
  private weak let server: PathServer?
  private let answer: @Sendable (String) -> PathServer.Reply
  private var scanner = RequestScanner()
  private var request: [UInt8] = []
  private var output: [UInt8] = []
  private var refill: [UInt8] = []
  private var held: [UInt8] = []
  private var closes = false
  private var stuck: LoopTimer?
  private unowned let loop: EventLoop
  private var isOpen = true
  var onEnd: ((Session) -> Void)?

  init(
    _ socket: StreamSocket, _ server: PathServer, _ answer: @escaping @Sendable (String) -> PathServer.Reply,
    on loop: EventLoop
  ) {
    self.socket = socket
    self.server = server
    self.answer = answer
    self.loop = loop
  }

  func start() {
    socket.onReady = { [weak self] readiness in
      if readiness.contains(.writable) { self?.send() }
      if readiness.contains(.readable) { self?.receive() }
    }
  }

  func end() {
    guard isOpen else { return }
    isOpen = false
    stuck = nil
    socket.close()
    server?.note { $0.open -= 1 }
    onEnd?(self)
  }

  private func receive() {
    var buffer = [UInt8](repeating: 0, count: 16 * 1024)
    while isOpen {
      var space = buffer.mutableSpan
      switch socket.receive(into: &space) {
      case .bytes(let count): received(buffer[..<count])
      case .wouldBlock: return
      case .endOfFile, .failed: return end()
      }
    }
  }

  private func received(_ bytes: ArraySlice<UInt8>) {
    var rest = bytes
    // Who says hello in TLS is told in plain text.
    if request.isEmpty, rest.first == 0x16 { return reply(.last(Array("HTTP/1.1 400 Bad\r\n\r\n".utf8))) }
    while !rest.isEmpty, isOpen {
      let consumed = scanner.step(Array(rest).span)
      request += rest.prefix(consumed)
      rest = rest.dropFirst(consumed)
      guard scanner.progress == .ended else { continue }
      let path = String(decoding: request.prefix { $0 != 13 }, as: UTF8.self).split(separator: " ")[1]
      scanner = RequestScanner()
      request = []
      server?.note { $0.paths.append(String(path)) }
      reply(answer(String(path)))
    }
  }

  private func reply(_ reply: PathServer.Reply) {
    switch reply {
    case .bytes(let bytes): output += bytes
    case .last(let bytes):
      output += bytes
      closes = true
    case .endless(let first, let rest):
      output += first
      refill = rest
    case .held(let bytes):
      held = bytes
      return
    case .silence: return
    case .reset:
      socket.abort()
      return end()
    }
    send()
  }

  func release() {
    guard !held.isEmpty else { return }
    reply(.last(held))
  }

  private func send() {
    // An endless answer lets the loop turn after each mebibyte.
    var budget = 1 << 20
    while isOpen {
      if output.isEmpty, !refill.isEmpty { output = refill }
      guard !output.isEmpty else {
        if closes { end() }
        return
      }
      switch socket.send(output.span) {
      case .sent(let count):
        output.removeFirst(count)
        server?.note { $0.sent += count }
        watch()
        budget -= count
        if budget < 0 {
          loop.perform { [weak self] _ in self?.send() }
          return
        }
      case .wouldBlock: return socket.wantWrite(true)
      case .failed: return end()
      }
    }
  }

  private func watch() {
    guard !refill.isEmpty else { return }
    if stuck == nil {
      stuck = loop.makeTimer { [weak self] _ in
        if let server = self?.server { server.stuck.arrive(server.counts) }
      }
    }
    stuck?.schedule(at: loop.now + .milliseconds(300))
  }
}

/// Something that comes once, and is waited for.
package final class Arrival<Value: Sendable>: Sendable {
  private struct State: Sendable {
    var value: Value?
    var isGivenUp = false
    var waiters: [CheckedContinuation<Value, any Error>] = []
  }
  private let state = Guarded(State())

  /// Nothing has come.
  package init() {}

  /// It has come. What comes later does not count.
  package func arrive(_ value: Value) {
    let waiters = state.withLock { state -> [CheckedContinuation<Value, any Error>] in
      guard state.value == nil else { return [] }
      state.value = value
      defer { state.waiters = [] }
      return state.waiters
    }
    for waiter in waiters { waiter.resume(returning: value) }
  }

  /// What has come, if it has.
  package var current: Value? { state.withLock { $0.value } }

  /// What has come, or will. Throws when the test that waits is cancelled, as by its time limit.
  package var value: Value {
    get async throws {
      try await withTaskCancellationHandler {
        try await withCheckedThrowingContinuation { continuation in
          let (value, isGivenUp) = state.withLock { state in
            if state.value == nil, !state.isGivenUp { state.waiters.append(continuation) }
            return (state.value, state.isGivenUp)
          }
          if let value {
            continuation.resume(returning: value)
          } else if isGivenUp {
            continuation.resume(throwing: CancellationError())
          }
        }
      } onCancel: {
        let waiters = state.withLock { state in
          state.isGivenUp = true
          defer { state.waiters = [] }
          return state.waiters
        }
        for waiter in waiters { waiter.resume(throwing: CancellationError()) }
      }
    }
  }
}
