public import Dispatch
public import GannetSockets

extension URLConnection {
  /// Where a load runs and calls back.
  public enum Host: Sendable {
    /// Inside a callback or job of a loop: that loop, in the host it lives in. On the main thread: the main queue, so
    /// that `RunLoop.main.run()`, `dispatchMain()`, an async `main` and `EventLoop.current.run()` all drive it. On a
    /// thread whose `EventLoop.current` was used: that loop. Anywhere else, and in a task: the shared loop.
    case automatic
    /// One background thread of Gannet's own, shared by the process.
    case shared
    /// The event loop behind this handle, while its thread runs it. A load that is started when the loop has ended
    /// fails, on the shared loop.
    case loop(EventLoop.Handle)
    /// A Dispatch queue. One load's callbacks are serial, on a concurrent queue too.
    case queue(DispatchQueue)
  }
}

/// A host that has been decided on.
enum HostBinding: Sendable {
  case loop(EventLoop.Handle)
  /// The shared loop, whose thread begins when it is first used.
  case shared
  case hosted(LoopHost)

  /// Decides on a host. Throws when the system has no descriptors left for a new loop.
  init(_ host: URLConnection.Host) throws(SystemError) {
    switch host {
    case .automatic: self = try .automatic()
    case .shared: self = .shared
    case .loop(let handle): self = .loop(handle)
    case .queue(let queue): self = .hosted(try LoopHost.of(queue))
    }
  }

  private static func automatic() throws(SystemError) -> HostBinding {
    if let running = EventLoop.running {
      if let host = LoopHost.hosting(running) { return .hosted(host) }
      // The main thread's own goes on in the main queue when its `run()` has returned.
      if !EventLoop.isMainThread || running !== EventLoop.existing { return .loop(running.handle) }
    }
    if EventLoop.isMainThread { return .hosted(try LoopHost.of(.main)) }
    if let existing = EventLoop.existing, !EventLoop.isInTask { return .loop(existing.handle) }
    return .shared
  }

  /// The host, when something other than its loop drives it.
  var hosted: LoopHost? {
    guard case .hosted(let host) = self else { return nil }
    return host
  }

  /// Runs a job on the host, at the earliest in its next turn; false when the host has ended.
  func post(_ job: sending @escaping (EventLoop) -> Void) -> Bool {
    switch self {
    case .loop(let handle): handle.offer(job)
    case .shared: EventLoop.shared.offer(job)
    case .hosted(let host): host.post(job)
    }
  }

  /// Runs a job on the shared loop's thread, once this host, which has ended, has run its last.
  func survive(_ job: sending @escaping (EventLoop) -> Void) {
    switch self {
    case .loop(let handle): handle.survive(job)
    case .shared: EventLoop.shared.survive(job)
    case .hosted(let host): host.loop.handle.survive(job)
    }
  }
}
