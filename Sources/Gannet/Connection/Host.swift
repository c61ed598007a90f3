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
  case queue(QueueHost)

  init(_ host: URLConnection.Host) {
    switch host {
    case .automatic: self = .automatic()
    case .shared: self = .loop(EventLoop.shared)
    case .loop(let handle): self = .loop(handle)
    case .queue(let queue): self = .queue(QueueHost.of(queue))
    }
  }

  private static func automatic() -> HostBinding {
    if let running = EventLoop.running { return .loop(running.handle) }
    if EventLoop.isMainThread { return .queue(QueueHost.of(.main)) }
    if let existing = EventLoop.existing { return .loop(existing.handle) }
    return .loop(EventLoop.shared)
  }

  /// Runs a job on the host, at the earliest in its next turn.
  func post(_ job: sending @escaping (EventLoop) -> Void) {
    switch self {
    case .loop(let handle): handle.post(job)
    case .queue(let host): host.post(job)
    }
  }
}
