import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What a thread knows of its loops.
///
/// Kept in memory of its own behind a pthread key, whose destructor is how we hear that the thread ends.
struct ThreadSlot {
  /// `EventLoop.current`, once used.
  private var own: EventLoop?
  /// The loop whose turn runs.
  private var running: EventLoop?
  /// Whether the thread is the process's first.
  private let isMain = gettid() == getpid()

  /// Whether a task runs on this thread now.
  static var isInTask: Bool {
    // SAFETY: the task is looked at within the call alone.
    unsafe withUnsafeCurrentTask { unsafe $0 != nil }
  }

  // SAFETY: here and below, the slot is made by and for one thread, is reached only through that thread's value of the
  // key, and is freed by the key's destructor on that thread.
  static var own: EventLoop? { unsafe existing?.pointee.own }
  static var running: EventLoop? { unsafe existing?.pointee.running }
  static var isMain: Bool { unsafe made.pointee.isMain }

  static func setOwn(_ loop: EventLoop) {
    unsafe made.pointee.own = loop
  }

  /// Notes the loop whose turn begins, and returns the one whose turn it interrupts.
  static func exchangeRunning(_ loop: EventLoop?) -> EventLoop? {
    let slot = unsafe made
    let outer = unsafe slot.pointee.running
    unsafe slot.pointee.running = loop
    return outer
  }

  // SAFETY: as above; what the key holds is a slot or nil.
  private static var existing: UnsafeMutablePointer<ThreadSlot>? {
    unsafe pthread_getspecific(key)?.assumingMemoryBound(to: ThreadSlot.self)
  }

  private static var made: UnsafeMutablePointer<ThreadSlot> {
    if let slot = unsafe existing { return unsafe slot }
    let slot = UnsafeMutablePointer<ThreadSlot>.allocate(capacity: 1)
    unsafe slot.initialize(to: ThreadSlot())
    unsafe pthread_setspecific(key, slot)
    return unsafe slot
  }

  private static let key: pthread_key_t = {
    var key = pthread_key_t()
    // SAFETY: the destructor gets the value that the ending thread had for the key.
    let status = unsafe pthread_key_create(&key) { value in
      let value: UnsafeMutableRawPointer? = unsafe value
      unsafe ThreadSlot.threadEnds(value)
    }
    precondition(status == 0, "no key for thread-local data: \(SystemError.words(for: status))")
    return key
  }()

  private static func threadEnds(_ value: UnsafeMutableRawPointer?) {
    // SAFETY: the value is this thread's slot, and nobody has it after this.
    guard let slot = unsafe value?.assumingMemoryBound(to: ThreadSlot.self) else { return }
    // The key reads nil by now, but what is failed here may ask for `current`.
    unsafe pthread_setspecific(key, slot)
    // A hosted loop goes on elsewhere: `dispatchMain()` ends the main thread, not the main queue.
    if let loop = unsafe slot.pointee.own, !loop.isHosted { loop.shutDown() }
    pthread_setspecific(key, nil)
    let last = unsafe slot.move()
    unsafe slot.deallocate()
    _ = last
  }
}
