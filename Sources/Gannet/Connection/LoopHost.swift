package import GannetSockets
import Synchronization

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
  private let driver = Guarded(Driver.nobody)
  /// Posts that have made sure of a driver and not delivered their job yet: it must not leave.
  private let posts = Atomic<Int>(0)

  /// Who runs the loop's turns.
  private enum Driver {
    case nobody
    case host(any LoopAttachment)
    /// The loop's own thread, in `EventLoop.run()`.
    case thread
  }

  /// A host for this loop. Throws when there is no descriptor left for its timers.
  package init(
    _ loop: EventLoop, attach: @escaping @Sendable (LoopHost) -> any LoopAttachment
  ) throws(SystemError) {
    self.loop = loop
    self.attach = attach
    try loop.beginHosting()
    loop.willRun = { [weak self] in self?.threadTakesOver() }
    loop.didRun = { [weak self] in self?.threadGivesBack() }
  }

  /// Runs a job in one of the host's turns. From any thread.
  package func post(_ job: sending @escaping (EventLoop) -> Void) {
    posts.add(1, ordering: .acquiringAndReleasing)
    driver.withLock { driver in
      if case .nobody = driver { driver = .host(attach(self)) }
    }
    loop.handle.post(job)
    posts.subtract(1, ordering: .acquiringAndReleasing)
  }

  /// One turn of the loop, in the host.
  package func turn() {
    loop.poll()
    driver.withLock { driver in
      guard case .host(let attachment) = driver, isQuiescent else { return }
      attachment.detach()
      driver = .nobody
    }
  }

  /// The host is gone for ever: what is live on the loop fails, here.
  package func hostEnded() {
    driver.withLock { driver in
      if case .host(let attachment) = driver { attachment.detach() }
      driver = .thread
    }
    loop.shutDown()
  }

  private var isQuiescent: Bool {
    posts.load(ordering: .acquiring) == 0 && loop.isIdle && LoopClient.isQuiescent(loop)
  }

  /// The thread runs its loop itself: the host need not be woken for it meanwhile.
  private func threadTakesOver() {
    driver.withLock { driver in
      if case .host(let attachment) = driver { attachment.detach() }
      driver = .thread
    }
  }

  private func threadGivesBack() {
    driver.withLock { driver in driver = isQuiescent ? .nobody : .host(attach(self)) }
  }
}
