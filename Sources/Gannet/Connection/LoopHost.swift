package import GannetSockets

/// What makes an event loop's turns happen in something that waits elsewhere: a queue, a run loop.
package protocol LoopAttachment: Sendable {
  /// Stops it. Called from any thread.
  func detach()
}

/// An event loop that lives in a host: something of the user's that waits on the loop's descriptor and calls `turn()`.
///
/// It is attached only while there is work, so that an idle host costs nothing and can be let go.
// UNCHECKED: `loop` is touched in the host's turns alone, which the host makes serial; who drives has a Mutex.
package final class LoopHost: @unchecked Sendable {
  /// The loop. Touched by the host's turns alone, but for its descriptor and handle.
  package let loop: EventLoop
  /// Watches the loop's descriptor and calls `turn()`, serially, whenever it is readable.
  private let attach: @Sendable (LoopHost) -> any LoopAttachment
  /// Whether its turns are the main thread's, or the main queue's once `dispatchMain()` has ended that thread.
  let isOfMainThread: Bool
  private let driver = Guarded(Driver.nobody)

  /// Who runs the loop's turns.
  private enum Driver {
    case nobody
    case host(any LoopAttachment)
    /// The loop's own thread, in `EventLoop.run()`, so many deep.
    case thread(runs: Int)
    /// The host's thread is gone.
    case ended
  }

  /// A host for this loop. Throws when there is no descriptor left for its timers.
  package init(
    _ loop: EventLoop, isOfMainThread: Bool, attach: @escaping @Sendable (LoopHost) -> any LoopAttachment
  ) throws(SystemError) {
    self.loop = loop
    self.isOfMainThread = isOfMainThread
    self.attach = attach
    try loop.beginHosting()
    loop.attachments[ObjectIdentifier(LoopHost.self)] = Reference(host: self)
    loop.handle.whenWoken { [weak self] in self?.seeToDriver() }
    loop.willRun = { [weak self] in self?.threadTakesOver() }
    loop.didRun = { [weak self] in self?.threadGivesBack() }
    if loop.hasWork { seeToDriver() }
  }

  /// A loop's way back to its host.
  private final class Reference {
    weak let host: LoopHost?
    init(host: LoopHost) { self.host = host }
  }

  /// The host that a loop lives in, if it does. In one of the loop's turns.
  static func hosting(_ loop: EventLoop) -> LoopHost? {
    (loop.attachments[ObjectIdentifier(LoopHost.self)] as? Reference)?.host
  }

  /// Runs a job in one of the host's turns; false when the host has ended. From any thread.
  package func post(_ job: sending @escaping (EventLoop) -> Void) -> Bool {
    loop.handle.offer(job)
  }

  /// Attaches the host where nobody drives it. Whoever wakes the loop from its sleep calls this: it comes before the
  /// host's look whether anything is left, which then sees that the loop has been woken, or waits for what comes of it.
  private func seeToDriver() {
    driver.withLock { driver in
      if case .nobody = driver { driver = .host(attach(self)) }
    }
  }

  /// One turn of the loop, in the host.
  package func turn() {
    // Also makes what the turn before did, on another of the queue's threads, known to this one.
    let isDriving = driver.withLock { driver in if case .host = driver { true } else { false } }
    guard isDriving else { return }
    loop.poll()
    driver.withLock { driver in
      switch driver {
      case .host(let attachment):
        guard isQuiescent else { return }
        attachment.detach()
        driver = .nobody
      // A run of the loop inside this turn gave it back to nobody, and what came after it made work.
      case .nobody: if !isQuiescent { driver = .host(attach(self)) }
      case .thread, .ended: break
      }
    }
  }

  /// The host is gone for ever: what is live on the loop fails, here.
  package func hostEnded() {
    driver.withLock { driver in
      if case .host(let attachment) = driver { attachment.detach() }
      driver = .ended
    }
    loop.shutDown()
  }

  private var isQuiescent: Bool {
    loop.isIdle && LoopClient.isQuiescent(loop)
  }

  /// The thread runs its loop itself: the host need not be woken for it meanwhile.
  private func threadTakesOver() {
    driver.withLock { driver in
      switch driver {
      case .nobody: driver = .thread(runs: 1)
      case .host(let attachment):
        attachment.detach()
        driver = .thread(runs: 1)
      case .thread(let runs): driver = .thread(runs: runs + 1)
      case .ended: break
      }
    }
  }

  private func threadGivesBack() {
    driver.withLock { driver in
      switch driver {
      case .thread(runs: 1): driver = isQuiescent ? .nobody : .host(attach(self))
      case .thread(let runs): driver = .thread(runs: runs - 1)
      // Hosted since the run began.
      case .nobody: if !isQuiescent { driver = .host(attach(self)) }
      case .host, .ended: break
      }
    }
  }
}
