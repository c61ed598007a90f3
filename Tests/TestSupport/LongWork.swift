import Dispatch
import GannetSockets
package import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Runs a test on threads that are there for long work alone.
///
/// All tests start at once on the few threads of Swift's concurrency, which Dispatch shares. A test that computes for
/// seconds there keeps those waiting that only wait for a socket: under a sanitizer past their time limits.
package struct LongWork: TestTrait, SuiteTrait, TestScoping {
  package var isRecursive: Bool { true }

  package func provideScope(
    for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
  ) async throws {
    try await withTaskExecutorPreference(LongWorkThreads.shared) { try await function() }
  }
}

extension Trait where Self == LongWork {
  /// This test, or each of this suite, computes for long and waits for nothing.
  package static var longWork: Self { Self() }
}

/// As many threads as fit two processors, each taking what has waited longest.
private final class LongWorkThreads: TaskExecutor {
  static let shared = LongWorkThreads()

  private let jobs = Guarded<[UnownedJob]>([])
  private let areThere = DispatchSemaphore(value: 0)

  private init() {
    for _ in 0..<2 {
      do {
        try startBackgroundThread(stackBytes: 8 << 20) { [self] in
          // Of this thread alone, on Linux: what waits for a socket goes first, or many such tests together would wait
          // past their limits.
          _ = nice(15)
          while true {
            areThere.wait()
            guard let job = jobs.withLock({ $0.isEmpty ? nil : $0.removeFirst() }) else { continue }
            // SAFETY: each job is taken once.
            unsafe job.runSynchronously(on: asUnownedTaskExecutor())
          }
        }
      } catch {
        // UNCHECKED: without a thread no test can run.
        preconditionFailure("\(error)")
      }
    }
  }

  func enqueue(_ job: consuming ExecutorJob) {
    let job = UnownedJob(job)
    jobs.withLock { $0.append(job) }
    areThere.signal()
  }
}
