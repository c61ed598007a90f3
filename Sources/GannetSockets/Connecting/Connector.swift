#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Connects sockets: resolves, races the addresses, keeps the time.
package enum Connector {
  package typealias Outcome = Result<StreamSocket, ConnectFailure>

  /// Connects to an endpoint.
  ///
  /// `completion` is called once, in the loop's turn and never from inside this call, unless the attempt is cancelled
  /// before. An attempt keeps itself alive until then; it ends silently with its loop.
  ///
  /// - Parameters:
  ///   - timeLimit: for resolving and connecting together.
  ///   - headStart: how long one address is tried before the next joins.
  @discardableResult
  package static func connect(
    to endpoint: Endpoint, on loop: EventLoop, timeLimit: Duration,
    headStart: Duration = .milliseconds(250), resolver: Resolver = .shared,
    completion: @escaping (Outcome) -> Void
  ) -> Attempt {
    let attempt = Attempt(
      endpoint: endpoint, poller: loop.poller, timeLimit: timeLimit, headStart: headStart,
      completion: completion)
    attempt.start(on: loop, resolver: resolver)
    return attempt
  }
}

/// One call of `Connector.connect` that is under way: performs the actions of its race. On the loop's thread.
package final class Attempt {
  private let endpoint: Endpoint
  private let poller: Poller
  private let timeLimit: Duration
  private let headStart: Duration
  /// Nil once called, or cancelled.
  private var completion: ((Connector.Outcome) -> Void)?

  private var lookup: Lookup?
  private var race: ConnectionRace?
  private var sockets: [Int: StreamSocket] = [:]
  /// Fires at the time limit; its closure is what keeps the attempt alive.
  private var limitTimer: LoopTimer?
  private var raceTimer: LoopTimer?
  /// For a Unix socket whose listener's queue was full.
  private var retryTimer: LoopTimer?

  private var pendingActions: [ConnectionRace.Action] = []
  private var isPerforming = false

  /// When the host's name was asked about, and when it was answered; nil of what needs no asking, and of what has not
  /// happened.
  package private(set) var (lookupStart, lookupEnd): (ContinuousClock.Instant?, ContinuousClock.Instant?)
  /// When the first address was tried.
  package private(set) var connectStart: ContinuousClock.Instant?

  fileprivate init(
    endpoint: Endpoint, poller: Poller, timeLimit: Duration, headStart: Duration,
    completion: @escaping (Connector.Outcome) -> Void
  ) {
    self.endpoint = endpoint
    self.poller = poller
    self.timeLimit = timeLimit
    self.headStart = headStart
    self.completion = completion
  }

  /// Whether the host's addresses are not known yet.
  package var isResolving: Bool { lookup != nil }

  /// Ends the attempt: `completion` isn't called any more, and what it has opened is closed.
  package func cancel() {
    completion = nil
    end()
  }

  // MARK: - Phases

  fileprivate func start(on loop: EventLoop, resolver: Resolver) {
    let timer = loop.makeTimer { _ in self.timeLimitReached() }
    timer.schedule(at: loop.now + timeLimit)
    limitTimer = timer
    raceTimer = loop.makeTimer { [weak self] loop in
      self?.step { race, actions in race.timeReached(at: loop.now, into: &actions) }
    }
    switch endpoint {
    case .unix(let path): begin([.unix(path: path)], on: loop)
    case .host(let host, let port):
      if case .success(let addresses)? = Resolver.immediateAnswer(host, port: port) {
        begin(addresses, on: loop)
        return
      }
      lookupStart = loop.now
      lookup = resolver.resolve(host, port: port, on: loop) { [weak self] answer, loop in
        self?.resolved(answer, on: loop)
      }
    }
  }

  private func resolved(_ answer: Resolver.Answer, on loop: EventLoop) {
    lookup = nil
    lookupEnd = loop.now
    switch answer {
    case .success(let addresses): begin(addresses, on: loop)
    case .failure(let failure): finish(.failure(.unresolved(endpoint, failure)))
    }
  }

  private func begin(_ addresses: [SocketAddress], on loop: EventLoop) {
    race = ConnectionRace(addresses: addresses, headStart: headStart)
    retryTimer = loop.makeTimer { [weak self] _ in self?.connect(0) }
    // In a job of its own, so that a connect that fails at once doesn't call back from inside `connect(to:)`.
    loop.perform { [weak self] loop in
      self?.connectStart = loop.now
      self?.step { race, actions in race.start(at: loop.now, into: &actions) }
    }
  }

  private func timeLimitReached() {
    finish(.failure(.tooSlow(endpoint, race: race, limit: timeLimit)))
  }

  // MARK: - The race

  /// Tells the race what happened, and performs what it wants, in order; what that leads to at once is queued.
  private func step(_ event: (inout ConnectionRace, inout [ConnectionRace.Action]) -> Void) {
    guard var current = race else { return }
    race = nil
    event(&current, &pendingActions)
    race = current
    guard !isPerforming else { return }
    isPerforming = true
    while !pendingActions.isEmpty { perform(pendingActions.removeFirst()) }
    isPerforming = false
  }

  private func perform(_ action: ConnectionRace.Action) {
    switch action {
    case .connect(let index): connect(index)
    case .wake(let time): raceTimer?.schedule(at: time)
    case .cancelWake: raceTimer?.cancel()
    case .close(let index): sockets.removeValue(forKey: index)?.close()
    case .win(let index): won(index)
    case .lose:
      if let race { finish(.failure(.refused(endpoint, race: race))) }
    }
  }

  private func connect(_ index: Int) {
    guard let address = race?.addresses[index] else { return }
    do throws(SystemError) {
      let socket = try StreamSocket.connecting(to: address, poller: poller)
      socket.onReady = { [weak self] readiness in
        if readiness.contains(.writable) { self?.ended(index) }
      }
      sockets[index] = socket
    } catch {
      if error.errno == EAGAIN, case .unix = address {
        retryTimer?.schedule(at: .now + .milliseconds(10))
      } else {
        failed(index, error.errno)
      }
    }
  }

  private func ended(_ index: Int) {
    guard let socket = sockets[index] else { return }
    let errno = socket.connectOutcome()
    if errno == 0 {
      step { race, actions in race.connected(index, into: &actions) }
    } else {
      sockets.removeValue(forKey: index)?.close()
      failed(index, errno)
    }
  }

  private func failed(_ index: Int, _ errno: CInt) {
    step { race, actions in race.failed(index, errno: errno, at: .now, into: &actions) }
  }

  private func won(_ index: Int) {
    guard let socket = sockets.removeValue(forKey: index) else { return }
    socket.becomeConnected()
    finish(.success(socket))
  }

  // MARK: - The end

  private func finish(_ outcome: Connector.Outcome) {
    let completion = completion
    self.completion = nil
    end()
    completion?(outcome)
  }

  private func end() {
    lookup?.cancel()
    lookup = nil
    for socket in sockets.values { socket.close() }
    sockets = [:]
    pendingActions = []
    (raceTimer, retryTimer) = (nil, nil)
    // Last: it may be what keeps the attempt alive.
    limitTimer = nil
  }
}
