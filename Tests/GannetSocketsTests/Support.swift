import GannetSockets

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What happened, in order, from any thread.
final class Log: Sendable {
  private let lines = Guarded<[String]>([])
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

/// Holds threads until it is opened.
final class Gate: Sendable {
  private let reading: CInt
  private let writing: CInt

  init() {
    var ends: [CInt] = [-1, -1]
    precondition(unsafe pipe(&ends) == 0)
    (reading, writing) = (ends[0], ends[1])
  }

  deinit { _ = close(reading) }

  /// Once.
  func open() { _ = close(writing) }

  func wait() {
    var byte: UInt8 = 0
    while unsafe read(reading, &byte, 1) != 0 {}
  }
}

/// How many are inside at a time.
final class Counter: Sendable {
  private let state = Guarded((now: 0, most: 0))
  var now: Int { state.withLock { $0.now } }
  var most: Int { state.withLock { $0.most } }

  func enter() {
    state.withLock { state in
      state.now += 1
      state.most = max(state.most, state.now)
    }
  }

  func leave() { state.withLock { $0.now -= 1 } }
}

/// A loop on its way from the thread that ends to the one that hosts it.
// UNCHECKED: only one of the two threads holds it at a time.
struct Parcel: @unchecked Sendable {
  let loop: EventLoop
}

enum Kept {
  private static let parcel = Guarded<Parcel?>(nil)
  static func put(_ new: Parcel) { parcel.withLock { $0 = new } }
  static func take() -> Parcel? { parcel.withLock { $0.take() } }
}

/// How many descriptors the process has open.
func openDescriptors() -> Int {
  guard let directory = unsafe opendir("/proc/self/fd") else { return -1 }
  defer { unsafe closedir(directory) }
  var count = 0
  while unsafe readdir(directory) != nil { count += 1 }
  return count
}
