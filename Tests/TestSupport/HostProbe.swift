package import Gannet
import GannetSockets
import Synchronization

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A delegate that notes on which threads it is called, and whether two callbacks overlap.
package final class HostProbe: URLConnectionDataDelegate, Sendable {
  /// What has been seen.
  package struct Report: Sendable {
    /// The callbacks, adjacent data once.
    package var calls: [String] = []
    /// The threads they came on.
    package var threads: Set<Int> = []
    /// Callbacks that began while another was running.
    package var overlaps = 0
    /// The body.
    package var body: [UInt8] = []
    /// The error it ended with, if it did.
    package var error: ConnectionError?
    /// Terminal callbacks.
    package var ends = 0
  }

  /// Comes with the last of the terminal callbacks that are waited for.
  package let end = Arrival<Report>()
  private let state = Guarded(Report())
  private let isInside = Atomic<Bool>(false)
  private let expectedEnds: Int
  private let check: @Sendable (String, URLConnection) -> Void

  /// `check` runs in each callback, with its name. The end is that of so many loads.
  package init(ends: Int = 1, check: @escaping @Sendable (String, URLConnection) -> Void = { _, _ in }) {
    expectedEnds = ends
    self.check = check
  }

  /// What has been seen so far.
  package var report: Report { state.withLock { $0 } }

  private func note(
    _ call: String, _ connection: URLConnection, _ change: @Sendable (inout Report) -> Void = { _ in }
  ) {
    let overlaps = isInside.exchange(true, ordering: .acquiringAndReleasing)
    state.withLock { report in
      if overlaps { report.overlaps += 1 }
      if call != "data" || report.calls.last != "data" { report.calls.append(call) }
      report.threads.insert(TestThread.current)
      change(&report)
    }
    check(call, connection)
    isInside.store(false, ordering: .releasing)
    let report = report
    if call == "finish" || call == "fail", report.ends == expectedEnds { end.arrive(report) }
  }

  package func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    note("response \((response as? HTTPURLResponse)?.statusCode ?? 0)", connection)
  }

  package func connection(_ connection: URLConnection, didReceive data: Data) {
    note("data", connection) { $0.body += data }
  }

  package func connectionDidFinishLoading(_ connection: URLConnection) {
    note("finish", connection) { $0.ends += 1 }
  }

  package func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    note("fail", connection) { report in
      report.error = error
      report.ends += 1
    }
  }
}

/// What runs on a thread of its own.
package enum TestThread {
  /// This thread, among those that live.
  package static var current: Int { pthread_self().hashValue }

  /// Runs the body on a new thread; what it returns is there when the body has ended, not the thread.
  package static func run<Result: Sendable>(_ body: @escaping @Sendable () throws -> Result) async throws
    -> Result
  {
    try await withCheckedThrowingContinuation { continuation in
      do throws(SystemError) {
        try startBackgroundThread(stackBytes: 1 << 20) {
          continuation.resume(with: Swift.Result { try body() })
        }
      } catch {
        continuation.resume(throwing: error)
      }
    }
  }

  /// The CPU time that this thread has taken.
  package static var cpuTime: Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }

  /// How many event loops the process has open.
  package static var openLoops: Int {
    guard let directory = unsafe opendir("/proc/self/fd") else { return -1 }
    defer { unsafe closedir(directory) }
    var count = 0
    while let entry = unsafe readdir(directory) {
      let name = unsafe withUnsafePointer(to: &entry.pointee.d_name) {
        unsafe $0.withMemoryRebound(to: CChar.self, capacity: 256) { unsafe String(cString: $0) }
      }
      var target = [CChar](repeating: 0, count: 64)
      let length = unsafe readlink("/proc/self/fd/" + name, &target, target.count)
      let text = String(decoding: target.prefix(max(0, length)).map { UInt8(bitPattern: $0) }, as: UTF8.self)
      if text.contains("eventpoll") { count += 1 }
    }
    return count
  }
}
