import GannetHTTP
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
  /// The original request's URL, which `canHandle` has found to be one that can be loaded.
  final let address: HTTPURL

  /// A plain mutex, being locked thrice a load: what `Guarded` adds for the thread sanitizer costs a twentieth of it.
  final let state: Mutex<State>
  final let isCancelled = Atomic<Bool>(false)
  final let isPaused = Atomic<Bool>(false)

  struct State: Sendable {
    enum Phase: Sendable { case created, started, ended }
    var phase = Phase.created
    var host: HostBinding
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
  /// Nil when the request cannot be loaded: `canHandle(_:)` says false. The delegate is kept until the load has
  /// ended. `automatic` is the host of the thread this is called on (`Host`).
  public init?(
    request: URLRequest, delegate: (any URLConnectionDelegate)?, startImmediately: Bool = true,
    tag: String? = nil, configuration: Configuration = .default, on host: Host = .automatic
  ) {
    guard let address = try? request.loadableAddress() else { return nil }
    self.originalRequest = request
    self.tag = tag
    self.configuration = configuration
    self.address = address
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

  /// Whether a request can be loaded: its URL is well-formed, its scheme is `http` or `https`, and it names a host.
  open class func canHandle(_ request: URLRequest) -> Bool {
    (try? request.loadableAddress()) != nil
  }

  /// The request being loaded now: the original one, or what the canonical step and redirects made of it.
  public final var currentRequest: URLRequest { state.withLock { $0.currentRequest } }

  /// Sets the host for a connection that has not been started.
  ///
  /// - Throws: once the load has been started; when the delegate belongs to an actor (as a class that conforms for the
  ///   main actor does) and the host is not that actor's; when there is no descriptor left for a loop.
  public final func schedule(on host: Host) throws(ConnectionError) {
    let binding: HostBinding
    do throws(SystemError) { binding = try HostBinding(host) } catch {
      throw ConnectionError(noHost: error, for: originalRequest)
    }
    try schedule(binding)
  }

  /// As `schedule(on:)`, on a host that is driven elsewhere.
  package final func schedule(in host: LoopHost) throws(ConnectionError) { try schedule(.hosted(host)) }

  private func schedule(_ binding: HostBinding) throws(ConnectionError) {
    if let delegate = state.withLock({ $0.delegate }), binding.excludes(delegate) {
      throw ConnectionError(delegateElsewhere: originalRequest)
    }
    let isLate = state.withLock { state in
      guard state.phase == .created else { return true }
      state.host = binding
      state.hostFailure = nil
      return false
    }
    if isLate {
      throw ConnectionError(
        .unknown, phase: .preparing, url: originalRequest.safeURLString,
        reason: "a load is scheduled before it is started, not after")
    }
  }

  /// Starts the load. A second call, and one after `cancel()`, does nothing.
  public final func start() {
    guard !isCancelled.load(ordering: .acquiring) else { return }
    let host: HostBinding? = state.withLock { state in
      guard state.phase == .created else { return nil }
      state.phase = .started
      return state.host
    }
    guard let host, !host.post({ loop in LoopClient.of(loop).begin(self) }) else { return }
    let failure = ConnectionError(hostEnded: originalRequest)
    state.withLock { state in
      state.host = .shared
      state.hostFailure = failure
    }
    _ = HostBinding.shared.post { loop in LoopClient.of(loop).begin(self) }
  }

  /// Ends the load: no callback begins after this returns on the host, and the delegate is let go there. From another
  /// thread it does not wait, so a callback that is being entered may still run. A second call does nothing.
  public final func cancel() {
    guard !isCancelled.exchange(true, ordering: .acquiringAndReleasing) else { return }
    let host: HostBinding? = state.withLock { $0.phase == .ended ? nil : $0.host }
    _ = host?.post { loop in LoopClient.of(loop).cancelled(self) }
  }

  /// The phase of a load that runs on `loop`, asked on that loop; nil before it has begun and once it has ended.
  package final func currentPhase(on loop: EventLoop) -> ConnectionError.Phase? {
    LoopClient.of(loop).load(of: self)?.phase
  }

  /// Stops reading: no data is delivered until `resume()`, the sender is slowed down by TCP, and the inactivity clock
  /// stands.
  public final func pause() { isPaused.store(true, ordering: .releasing) }

  /// Goes on reading after `pause()`.
  public final func resume() {
    guard isPaused.exchange(false, ordering: .acquiringAndReleasing) else { return }
    let host: HostBinding? = state.withLock { $0.phase == .started ? $0.host : nil }
    _ = host?.post { loop in LoopClient.of(loop).resumed(self) }
  }

  /// Hands the delegate to the host, once, with why the load cannot have the host it was meant for.
  final func takeDelegate() -> (delegate: DelegateBox?, hostFailure: ConnectionError?) {
    state.withLock { state in
      let box = state.delegate
      state.delegate = nil
      return (box, state.hostFailure)
    }
  }

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
