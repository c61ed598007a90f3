import Synchronization

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What happened, in order, from any thread.
final class Log: Sendable {
  private let lines = Mutex<[String]>([])
  var entries: [String] { lines.withLock { $0 } }
  func add(_ line: String) { lines.withLock { $0.append(line) } }
}

/// Threads without Foundation.
enum Thread {
  static var identity: UInt { UInt(bitPattern: pthread_self().hashValue) }

  static func detach(_ body: @escaping @Sendable () -> Void) {
    let box = UnsafeMutablePointer<@Sendable () -> Void>.allocate(capacity: 1)
    unsafe box.initialize(to: body)
    var thread = pthread_t()
    let status = unsafe pthread_create(
      &thread, nil,
      { context in
        guard let box = unsafe context?.assumingMemoryBound(to: (@Sendable () -> Void).self) else {
          return nil
        }
        let body = unsafe box.move()
        unsafe box.deallocate()
        body()
        return nil
      }, box)
    precondition(status == 0)
    pthread_detach(thread)
  }

  /// What the body returns, on a thread that has ended, or is about to.
  static func run<Result: Sendable>(_ body: @escaping @Sendable () -> Result) async -> Result {
    await withCheckedContinuation { continuation in
      detach { continuation.resume(returning: body()) }
    }
  }
}
