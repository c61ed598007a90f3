public import Dispatch
import GannetSockets
import Synchronization

/// One load of one request, reported to a delegate: Apple's `NSURLConnection`, in Swift, on Linux.
///
/// The load runs on the host it is scheduled on, and every callback comes there, never from inside `init`, `start()`
/// or `cancel()`. Exactly one of `connectionDidFinishLoading` and `didFailWithError` ends it; after `cancel()` comes
/// nothing. The connection keeps its delegate, and itself while it loads, and lets both go when the load has ended.
///
/// All methods may be called from any thread. Two connections are equal when they are the same object, so a
/// connection can be a dictionary's key. A subclass has to restate `@unchecked Sendable`; one whose host is another
/// thread starts with `startImmediately: false`, or its `init` races the first callback.
// UNCHECKED: open, so the compiler cannot check it; what changes is in a Mutex or an Atomic.
open class URLConnection: @unchecked Sendable {
  /// The request as it was given.
  public final let originalRequest: URLRequest
  /// A name to tell connections apart that share a delegate; nothing else uses it.
  public final let tag: String?
  /// The configuration as it was given.
  public final let configuration: Configuration
  /// Who answers the original request.
  final let target: LoadTarget
  /// The priority of whoever made this, for the task that iterates a body's sequence.
  final let bodyPriority: TaskPriority

  /// A plain mutex, being locked thrice a load: what `Guarded` adds for the thread sanitizer costs a twentieth of it.
  final let state: Mutex<State>
  final let isCancelled = Atomic<Bool>(false)
  final let isPaused = Atomic<Bool>(false)
  /// Whether the host is to hear of a `resume()` that it has not heard of yet.
  private final let isResuming = Atomic<Bool>(false)

  struct State: Sendable {
    enum Phase: Sendable {
      case created
      /// Started without a host: it begins when it is given one.
      case awaitingHost
      case started, ended
    }
    var phase = Phase.created
    /// Nil when it was taken from the last one it had.
    var host: HostBinding?
    /// How often the host was changed.
    var moves = 0
    /// Why there is no such host: the load then fails, on the shared loop.
    var hostFailure: ConnectionError?
    var delegate: DelegateBox?
    var currentRequest: URLRequest
  }

  /// Holds a delegate on its way to the host, the only place where it is called or let go.
  // UNCHECKED: written before the load starts and read by the load's host alone.
  struct DelegateBox: @unchecked Sendable { let delegate: any URLConnectionDelegate }

  /// Makes a connection and, unless told otherwise, starts it at once.
  ///
  /// Nil when the request cannot be loaded: `canHandle(_:)` says false, and no class of
  /// `Configuration.protocolClasses` takes it. The delegate is kept until the load has
  /// ended. `automatic` is the host of the thread this is called on (`Host`).
  public init?(
    request: URLRequest, delegate: (any URLConnectionDelegate)?, startImmediately: Bool = true,
    tag: String? = nil, configuration: Configuration = .default, on host: Host = .automatic
  ) {
    guard let target = try? request.target(configuration) else { return nil }
    self.originalRequest = request
    self.tag = tag
    self.configuration = configuration
    self.target = target
    self.bodyPriority = Task.currentPriority
    var failure: ConnectionError?
    let binding: HostBinding
    do throws(SystemError) { binding = try HostBinding(host) } catch {
      failure = ConnectionError(noHost: error, for: request)
      binding = .shared
    }
    self.state = Mutex(
      State(
        host: binding, hostFailure: failure, delegate: delegate.map { DelegateBox(delegate: $0) },
        currentRequest: request))
    if startImmediately { start() }
  }

  /// Whether a request can be loaded: its URL is well-formed, and its scheme is `http` or `https` with a host, `file` or
  /// `data`, or a registered `URLProtocol` class takes it.
  open class func canHandle(_ request: URLRequest) -> Bool {
    (try? request.target(.default)) != nil
  }

  /// The request being loaded now: the original one, or what the canonical step and redirects made of it.
  public final var currentRequest: URLRequest { state.withLock { $0.currentRequest } }

  /// Moves a connection that has not been started to this host.
  ///
  /// - Throws: once the load has been started; when the delegate belongs to an actor (as a class that conforms for the
  ///   main actor does) and the host is the shared loop or a queue that is not the main one (with `.loop` that is found
  ///   out when the load begins, which then fails); when there is no descriptor left for a loop.
  public final func schedule(on host: Host) throws(ConnectionError) {
    let binding: HostBinding
    do throws(SystemError) { binding = try HostBinding(host) } catch {
      throw ConnectionError(noHost: error, for: originalRequest)
    }
    try schedule(binding)
  }

  /// Moves a connection that has not been started to a Dispatch queue: all its callbacks come there, one after the
  /// other on a concurrent queue too (Cocoa's method, which takes an `OperationQueue`: `GannetFoundation` has that).
  ///
  /// - Throws: as ``schedule(on:)``.
  public final func setDelegateQueue(_ queue: DispatchQueue) throws(ConnectionError) {
    try schedule(on: .queue(queue))
  }

  /// Moves a connection that has not been started to a host that is driven elsewhere, which is chosen by the one it
  /// has, where that is of this kind too. Nil leaves it without a host; `hasMoved` false leaves it where it is.
  package final func schedule(
    choosing host: (_ current: LoopHost?) throws(ConnectionError) -> (host: LoopHost?, hasMoved: Bool)
  ) throws(ConnectionError) {
    while true {
      let (current, moves) = state.withLock { ($0.host, $0.moves) }
      let choice = try host(current?.hosted)
      guard choice.hasMoved else { return }
      if try schedule(choice.host.map { .hosted($0) }, ifStillAt: moves) { return }
    }
  }

  private func schedule(_ binding: HostBinding?) throws(ConnectionError) {
    _ = try schedule(binding, ifStillAt: nil)
  }

  /// False, and nothing done, when the connection has been moved since the move of this number.
  private func schedule(
    _ binding: HostBinding?, ifStillAt moves: Int?
  ) throws(ConnectionError) -> Bool {
    if let binding, let delegate = state.withLock({ $0.delegate }), binding.excludes(delegate) {
      throw ConnectionError(delegateElsewhere: originalRequest)
    }
    enum Outcome { case late, overtaken, moved(begins: Bool) }
    let outcome = state.withLock { state -> Outcome in
      guard state.phase == .created || state.phase == .awaitingHost else { return .late }
      if let moves, state.moves != moves { return .overtaken }
      state.host = binding
      state.moves += 1
      state.hostFailure = nil
      return .moved(begins: state.phase == .awaitingHost && binding != nil)
    }
    switch outcome {
    case .late:
      throw ConnectionError(
        .unknown, phase: .preparing, url: originalRequest.safeURLString,
        reason: "a load is scheduled before it is started, not after")
    case .overtaken: return false
    case .moved(let begins):
      if begins { begin() }
      return true
    }
  }

  /// Whether nothing comes of the load any more: it has ended, or was cancelled.
  package final var isOver: Bool {
    isCancelled.load(ordering: .acquiring) || state.withLock { $0.phase == .ended }
  }

  /// Starts the load. A second call, and one after `cancel()`, does nothing.
  ///
  /// A connection without a host (`unschedule(from:forMode:)` took the last one) waits for one: the load begins when it
  /// is scheduled, and until then nothing but the caller keeps the connection.
  public final func start() { begin() }

  private func begin() {
    guard !isCancelled.load(ordering: .acquiring) else { return }
    let host: HostBinding? = state.withLock { state in
      guard state.phase == .created || state.phase == .awaitingHost else { return nil }
      state.phase = state.host == nil ? .awaitingHost : .started
      return state.host
    }
    guard let host, !host.post({ loop in LoopClient.of(loop).begin(self) }) else { return }
    let failure = ConnectionError(hostEnded: originalRequest)
    state.withLock { state in
      state.host = .shared
      state.hostFailure = failure
    }
    host.survive { loop in LoopClient.of(loop).begin(self) }
  }

  /// Ends the load: no callback begins after this returns on the host, and the delegate is let go there. From another
  /// thread it does not wait, so a callback that is being entered may still run. A second call does nothing.
  public final func cancel() {
    guard !isCancelled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    cancelOnHost { loop in LoopClient.of(loop).cancelled(self) }
  }

  /// As `cancel()`, for the task that waits for the load: tells it, once, what the load was doing. On the host, where
  /// the load has been let go of by then; here when there is no host that could tell.
  final func cancel(telling tell: @escaping @Sendable (ConnectionError) -> Void) {
    isCancelled.store(true, ordering: .releasing)
    let isTold = cancelOnHost { loop in
      let client = LoopClient.of(loop)
      let error = ConnectionError(
        cancelled: self.currentRequest, in: client.phase(of: self) ?? self.phaseAtRest)
      client.cancelled(self)
      tell(error)
    }
    if !isTold { tell(ConnectionError(cancelled: currentRequest, in: phaseAtRest)) }
  }

  /// False when there is no host to do it: then the delegate is let go here.
  @discardableResult
  private func cancelOnHost(_ job: sending @escaping (EventLoop) -> Void) -> Bool {
    let (host, isHomeless) = state.withLock { state -> (HostBinding?, Bool) in
      (state.phase == .ended ? nil : state.host, state.host == nil)
    }
    if let host, host.post(job) { return true }
    if host != nil || isHomeless { _ = takeDelegate() }
    return false
  }

  /// The phase of a load that is not under way: it has not begun, or all of it has come.
  private var phaseAtRest: ConnectionError.Phase {
    state.withLock { $0.phase == .ended ? .receiving : .preparing }
  }

  /// The phase of a load that runs on `loop`, asked on that loop; nil before it has begun and once it has ended.
  package final func currentPhase(on loop: EventLoop) -> ConnectionError.Phase? {
    LoopClient.of(loop).phase(of: self)
  }

  /// Stops reading: no data is delivered until `resume()`, the sender is slowed down by TCP, and the inactivity clock
  /// stands.
  public final func pause() { isPaused.store(true, ordering: .releasing) }

  /// Goes on reading after `pause()`.
  public final func resume() {
    guard isPaused.exchange(false, ordering: .acquiringAndReleasing) else { return }
    // What has not begun will find itself not paused.
    let host: HostBinding? = state.withLock { $0.phase == .started ? $0.host : nil }
    guard let host else { return }
    // One job does for all that are asked for before it runs: whoever pauses and resumes without end fills no queue.
    guard !isResuming.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let isPosted = host.post { loop in
      _ = self.isResuming.exchange(false, ordering: .acquiringAndReleasing)
      LoopClient.of(loop).resumed(self)
    }
    if !isPosted { isResuming.store(false, ordering: .releasing) }
  }

  /// Hands the delegate to the host, once, with why the load cannot have the host it was meant for.
  final func takeDelegate() -> (delegate: DelegateBox?, hostFailure: ConnectionError?) {
    state.withLock { state in
      let box = state.delegate
      state.delegate = nil
      return (box, state.hostFailure)
    }
  }

  /// Has the delegate back, which was taken and may not be called where that was.
  final func keep(_ delegate: DelegateBox) { state.withLock { $0.delegate = delegate } }

  /// The load is over: nothing may be posted for it any more.
  final func ended() { state.withLock { $0.phase = .ended } }

  final func setCurrentRequest(_ request: URLRequest) { state.withLock { $0.currentRequest = request } }
}

extension URLConnection: Hashable {
  /// Whether both are the same object.
  public static func == (left: URLConnection, right: URLConnection) -> Bool { left === right }

  /// Feeds the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
