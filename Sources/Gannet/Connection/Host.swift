public import Dispatch
public import GannetSockets

extension URLConnection {
  /// Where a load runs and calls back.
  public enum Host: Sendable {
    /// Inside a callback or job of a loop: that loop. On the main thread: the main queue, so that `RunLoop.main.run()`,
    /// `dispatchMain()`, an async `main` and `EventLoop.current.run()` all drive it. On a thread whose
    /// `EventLoop.current` was used: that loop. Anywhere else: the shared loop.
    case automatic
    /// One background thread of Gannet's own, shared by the process.
    case shared
    /// The event loop behind this handle.
    case loop(EventLoop.Handle)
    /// A Dispatch queue. One load's callbacks are serial, on a concurrent queue too.
    case queue(DispatchQueue)
  }
}

/// A host that has been decided on.
enum HostBinding: Sendable {
  case loop(EventLoop.Handle)
  case hosted(LoopHost)

  /// Decides on a host. Throws when the system has no descriptors left for a new loop.
  init(_ host: URLConnection.Host) throws(SystemError) {
    switch host {
    case .automatic: self = try .automatic()
    case .shared: self = .loop(EventLoop.shared)
    case .loop(let handle): self = .loop(handle)
    case .queue(let queue): self = .hosted(try LoopHost.of(queue))
    }
  }

  private static func automatic() throws(SystemError) -> HostBinding {
    if let running = EventLoop.running { return .loop(running.handle) }
    if EventLoop.isMainThread { return .hosted(try LoopHost.of(.main)) }
    if let existing = EventLoop.existing { return .loop(existing.handle) }
    return .loop(EventLoop.shared)
  }

  /// Runs a job on the host, at the earliest in its next turn.
  func post(_ job: sending @escaping (EventLoop) -> Void) {
    switch self {
    case .loop(let handle): handle.post(job)
    case .hosted(let host): host.post(job)
    }
  }
}
