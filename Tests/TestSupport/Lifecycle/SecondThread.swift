import Dispatch
import GannetSockets
import Synchronization

/// A thread that does what it is told while the caller waits: another thread's doing, at a known moment.
package final class SecondThread: Sendable {
  /// One for the process.
  package static let shared = SecondThread()

  private let job = Guarded<(@Sendable () -> Void)?>(nil)
  private let (isThere, isDone) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
  private let turn = DispatchSemaphore(value: 1)

  private init() {
    do {
      try startBackgroundThread(stackBytes: 1 << 20) { [self] in
        while true {
          isThere.wait()
          perform()
          isDone.signal()
        }
      }
    } catch {
      // UNCHECKED: without a thread no test can run.
      preconditionFailure("\(error)")
    }
  }

  /// What it was told is let go with this call.
  private func perform() {
    let job = job.withLock { job in
      defer { job = nil }
      return job
    }
    job?()
  }

  /// Does this there, and returns when it is done.
  package func run(_ body: @escaping @Sendable () -> Void) {
    turn.wait()
    job.withLock { $0 = body }
    isThere.signal()
    isDone.wait()
    turn.signal()
  }
}
