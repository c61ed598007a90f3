import Dispatch
import GannetSockets
import Synchronization

/// An event loop that lives in a Dispatch queue: a read source on its epoll descriptor runs one turn an event.
///
/// The source is there only while there is work, so that an idle queue costs nothing and can be let go.
// UNCHECKED: `loop` is touched in the queue's turns alone, which the source makes serial; who drives has a Mutex.
final class QueueHost: @unchecked Sendable {
  private struct Weak: Sendable { weak var host: QueueHost? }
  private static let hosts = Mutex<[ObjectIdentifier: Weak]>([:])

  private let queue: DispatchQueue
  private let loop: EventLoop
  private let handle: EventLoop.Handle
  private let driver = Mutex(Driver.nobody)
  /// Posts that have made sure of a driver and not delivered their job yet: it must not leave.
  private let posts = Atomic<Int>(0)

  /// Who runs the loop's turns.
  private enum Driver {
    case nobody
    case queue(any DispatchSourceRead)
    /// The loop's thread, in `EventLoop.run()`.
    case thread
  }

  private init(_ queue: DispatchQueue) throws(SystemError) {
    self.queue = queue
    loop = try queue === DispatchQueue.main ? EventLoop.forMainQueue() : EventLoop()
    handle = loop.handle
    try loop.beginHosting()
    loop.willRun = { [weak self] in self?.threadTakesOver() }
    loop.didRun = { [weak self] in self?.threadGivesBack() }
  }

  /// The host of this queue: the one there is, or a new one. The main queue's loop is the main thread's.
  static func of(_ queue: DispatchQueue) -> QueueHost {
    hosts.withLock { hosts in
      if let host = hosts[ObjectIdentifier(queue)]?.host { return host }
      hosts = hosts.filter { $0.value.host != nil }
      do throws(SystemError) {
        let host = try QueueHost(queue)
        hosts[ObjectIdentifier(queue)] = Weak(host: host)
        return host
      } catch {
        preconditionFailure("no event loop for a queue: \(error)")
      }
    }
  }

  /// Runs a job in a turn on the queue.
  func post(_ job: sending @escaping (EventLoop) -> Void) {
    posts.add(1, ordering: .acquiringAndReleasing)
    driver.withLock { driver in
      if case .nobody = driver { driver = .queue(attach()) }
    }
    handle.post(job)
    posts.subtract(1, ordering: .acquiringAndReleasing)
  }

  private func attach() -> any DispatchSourceRead {
    let source = DispatchSource.makeReadSource(fileDescriptor: loop.descriptor, queue: queue)
    source.setEventHandler { self.turn() }
    // Holds the descriptor open until Dispatch has stopped watching it.
    source.setCancelHandler { withExtendedLifetime(self) {} }
    source.resume()
    return source
  }

  private func turn() {
    loop.poll()
    driver.withLock { driver in
      guard case .queue(let source) = driver, isQuiescent else { return }
      source.cancel()
      driver = .nobody
    }
  }

  private var isQuiescent: Bool {
    posts.load(ordering: .acquiring) == 0 && loop.isIdle && LoopClient.isQuiescent(loop)
  }

  /// The main thread runs its loop itself: the queue need not be woken for it meanwhile.
  private func threadTakesOver() {
    driver.withLock { driver in
      if case .queue(let source) = driver { source.cancel() }
      driver = .thread
    }
  }

  private func threadGivesBack() {
    driver.withLock { driver in driver = isQuiescent ? .nobody : .queue(attach()) }
  }
}
