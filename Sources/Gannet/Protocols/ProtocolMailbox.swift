import FoundationEssentials
import GannetPolicy
import GannetSockets

/// What a protocol says on its way to the load's host, in order, from whatever threads it says it.
final class ProtocolMailbox: URLProtocolClient {
  /// What was said.
  enum Message: Sendable {
    case redirect(URLRequest, URLResponse)
    case challenge(URLAuthenticationChallenge)
    case challengeCancelled(URLAuthenticationChallenge)
    case response(URLResponse)
    case data(Data)
    case finish
    case failure(any Error)

    var word: ProtocolMachine.Word {
      switch self {
      case .redirect: .redirect
      case .challenge: .challenge
      case .challengeCancelled: .challengeCancelled
      case .response: .response
      case .data: .data
      case .finish: .finish
      case .failure: .failure
      }
    }

    /// Its part of what may wait: one without data costs something too.
    var cost: Int {
      guard case .data(let data) = self else { return 256 }
      return 64 + data.count
    }
  }

  /// Bytes that may wait before the protocol is asked to pause, and how few they are when it goes on.
  private static let highBytes = 256 * 1024
  private static let lowBytes = 64 * 1024

  private struct State {
    var messages: [Message?] = []
    var next = 0
    var bytes = 0
    /// Whether the host knows that there is something.
    var isAnnounced = false
    /// Whether the protocol was asked to pause.
    var isHeld = false
    /// Whether it is being asked: it is told to go on only after it has paused.
    var isPausing = false
    /// Whether nothing more is taken: the load is over, or the protocol has said that it is.
    var isClosed = false

    /// Whether the protocol may go on after all.
    var canRelease: Bool { isHeld && !isPausing && bytes <= ProtocolMailbox.lowBytes }

    mutating func release() -> Bool {
      defer { if canRelease { isHeld = false } }
      return canRelease
    }
  }

  private let state = Guarded(State())
  private let load: ObjectIdentifier
  private let host: EventLoop.Handle

  /// The mailbox of the load of this connection, which runs on this loop.
  init(_ connection: URLConnection, host: EventLoop.Handle) {
    load = ObjectIdentifier(connection)
    self.host = host
  }

  private func put(_ message: Message, from urlProtocol: URLProtocol) {
    let (isNews, isFull) = state.withLock { state -> (Bool, Bool) in
      guard !state.isClosed else { return (false, false) }
      state.messages.append(message)
      state.bytes += message.cost
      // Nothing is let pass after these, so nothing is kept.
      switch message {
      case .finish, .failure, .redirect: state.isClosed = true
      case .challenge, .challengeCancelled, .response, .data: break
      }
      let isNews = !state.isAnnounced
      state.isAnnounced = true
      let isFull = !state.isHeld && state.bytes >= ProtocolMailbox.highBytes
      if isFull { (state.isHeld, state.isPausing) = (true, true) }
      return (isNews, isFull)
    }
    if isNews { announce() }
    if isFull { pause(urlProtocol) }
  }

  private func announce() {
    host.post { [load] loop in LoopClient.of(loop).protocolLoad(load)?.received(by: self) }
  }

  /// Asks the protocol to pause. Where the host has taken everything meanwhile, it is told that there is something to say.
  private func pause(_ urlProtocol: URLProtocol) {
    urlProtocol.pauseLoading()
    let isNews = state.withLock { state in
      state.isPausing = false
      guard state.canRelease, !state.isClosed, !state.isAnnounced else { return false }
      state.isAnnounced = true
      return true
    }
    if isNews { announce() }
  }

  /// The next message, if there is one, and whether the protocol may go on; nil for neither. On the host.
  func take() -> (message: Message?, letsGoOn: Bool)? {
    state.withLock { state in
      guard state.next < state.messages.count, let message = state.messages[state.next] else {
        if state.release() { return (nil, true) }
        state.isAnnounced = false
        return nil
      }
      state.messages[state.next] = nil
      state.next += 1
      state.bytes -= message.cost
      // The slots of what was taken go too, when they are half of all.
      if state.next * 2 >= state.messages.count {
        state.messages.removeFirst(state.next)
        state.next = 0
      }
      return (message, state.release())
    }
  }

  /// Nothing more is heard, and what waits is let go.
  func close() {
    // Let go outside the lock: what is in it may have code of others in its `deinit`.
    let left = state.withLock { state -> [Message?] in
      state.isClosed = true
      defer { state.messages = [] }
      state.next = 0
      return state.messages
    }
    withExtendedLifetime(left) {}
  }

  // MARK: URLProtocolClient

  func urlProtocol(
    _ urlProtocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse
  ) {
    put(.redirect(request, redirectResponse), from: urlProtocol)
  }
  func urlProtocol(_ urlProtocol: URLProtocol, didReceive response: URLResponse) {
    put(.response(response), from: urlProtocol)
  }
  func urlProtocol(_ urlProtocol: URLProtocol, didLoad data: Data) {
    if !data.isEmpty { put(.data(data), from: urlProtocol) }
  }
  func urlProtocolDidFinishLoading(_ urlProtocol: URLProtocol) { put(.finish, from: urlProtocol) }
  func urlProtocol(_ urlProtocol: URLProtocol, didFailWithError error: any Error) {
    put(.failure(error), from: urlProtocol)
  }
  func urlProtocol(_ urlProtocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge) {
    put(.challenge(challenge), from: urlProtocol)
  }
  func urlProtocol(_ urlProtocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge) {
    put(.challengeCancelled(challenge), from: urlProtocol)
  }
}
