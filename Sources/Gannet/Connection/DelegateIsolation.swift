import Dispatch
import GannetSockets
import Synchronization

/// Where a delegate may be called: a class can conform for an actor only (`@MainActor URLConnectionDataDelegate`).
///
/// Swift checks that where a value is cast from `Any`, against the thread the cast runs on; once it is an existential
/// nobody checks any more (6.3). And the check does not know the main queue after `dispatchMain()`, when it is another
/// thread's. So a main host is taken at its word, and elsewhere the cast decides.
enum DelegateIsolation {
  private static let bound = Guarded<[ObjectIdentifier: Bool]>([:])

  /// Whether the delegate may be called where this runs.
  static func allowsCalls(_ delegate: any URLConnectionDelegate) -> Bool {
    if let stand = delegate as? any StandInDelegate { return stand.allowsCalls }
    let value: Any = delegate
    if value is any URLConnectionDataDelegate { return true }
    return value is any URLConnectionDelegate && !(delegate is any URLConnectionDataDelegate)
  }

  /// The class of the delegate, or of whom it stands for.
  static func identity(of delegate: any URLConnectionDelegate) -> ObjectIdentifier {
    if let stand = delegate as? any StandInDelegate, let other = stand.other {
      return ObjectIdentifier(type(of: other))
    }
    return ObjectIdentifier(type(of: delegate))
  }

  /// Whether the delegate belongs to an actor: it may not be called on a thread that is no actor's. Found out once
  /// for each class.
  static func isBound(_ delegate: URLConnection.DelegateBox) -> Bool {
    let identity = identity(of: delegate.delegate)
    if let known = bound.withLock({ $0[identity] }) { return known }
    let finding = Finding(of: delegate)
    do throws(SystemError) {
      try startBackgroundThread(stackBytes: 256 << 10) {
        finding.find()
        finding.isThere.signal()
      }
    } catch {
      return false  // without a thread it is decided when the load begins
    }
    finding.isThere.wait()
    let isBound = finding.isBound.withLock { $0 }
    bound.withLock { $0[identity] = isBound }
    return isBound
  }

  /// Keeps the delegate no longer than it looks at it: what a thread's closure holds is let go when that thread likes.
  private final class Finding: Sendable {
    private let delegate: Guarded<URLConnection.DelegateBox?>
    let isBound = Guarded(false)
    let isThere = DispatchSemaphore(value: 0)

    init(of delegate: URLConnection.DelegateBox) { self.delegate = Guarded(delegate) }

    func find() {
      let box = delegate.withLock { box in
        defer { box = nil }
        return box
      }
      guard let box else { return }
      isBound.withLock { $0 = !allowsCalls(box.delegate) }
    }
  }
}

/// A delegate of ours that passes on to one of another kind.
protocol StandInDelegate: URLConnectionDelegate {
  /// Whom it stands for.
  var other: AnyObject? { get }
  /// Whether that may be called where this is asked.
  var allowsCalls: Bool { get }
}

extension HostBinding {
  /// Whether this is certainly no place to call a delegate that belongs to an actor. The loop behind a handle may be
  /// that actor's executor, which is seen when the load begins.
  func excludes(_ delegate: URLConnection.DelegateBox) -> Bool {
    switch self {
    case .shared: DelegateIsolation.isBound(delegate)
    case .hosted(let host): !host.isOfMainThread && DelegateIsolation.isBound(delegate)
    case .loop: false
    }
  }
}

extension ConnectionError {
  /// The delegate belongs to an actor, and the host is elsewhere.
  init(delegateElsewhere request: URLRequest) {
    self.init(
      .unknown, phase: .preparing, url: request.safeURLString,
      reason: "the delegate belongs to an actor (the main one?), and the load's host runs elsewhere")
  }

  /// The load's host is gone.
  init(hostEnded request: URLRequest) {
    self.init(
      .networkConnectionLost, phase: .preparing, url: request.safeURLString,
      reason: "the thread of the load's event loop has ended")
  }
}

extension LoopClient {
  /// A delegate that may not be called here is told so on the main queue: no other actor's place is known. The
  /// connection keeps it until then.
  func refuse(_ connection: URLConnection) {
    connection.ended()
    let tell: @Sendable () -> Void = {
      let (box, hostFailure) = connection.takeDelegate()
      guard let box, !connection.isCancelled.load(ordering: .acquiring) else { return }
      box.delegate.connection(
        connection,
        didFailWithError: hostFailure ?? ConnectionError(delegateElsewhere: connection.originalRequest))
    }
    // The main thread's loop, so that `EventLoop.current.run()` there serves as well as the main queue.
    if let host = LoopHost.ofMainThread, host.post({ _ in tell() }) { return }
    DispatchQueue.main.async(execute: tell)
  }
}
