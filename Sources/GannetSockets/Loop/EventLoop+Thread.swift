internal import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension EventLoop {
  /// This thread's loop, made at first use.
  ///
  /// It lives as long as the thread: when the thread ends, loads that are still live fail there. Not from async code,
  /// which may be on a different thread after each `await`: use `URLConnection`'s async API, or a handle.
  ///
  /// Ends the program when there are no descriptors left to make one.
  @available(*, noasync)
  public static var current: EventLoop {
    if let loop = existing { return loop }
    do {
      let loop = try EventLoop()
      ThreadSlot.setOwn(loop)
      return loop
    } catch {
      preconditionFailure("no event loop: \(error)")
    }
  }

  /// This thread's loop, if it ever asked for one.
  package static var existing: EventLoop? { ThreadSlot.own }

  /// The loop whose turn runs on this thread now.
  package static var running: EventLoop? { ThreadSlot.running }

  /// Whether this is the process's main thread.
  package static var isMainThread: Bool { ThreadSlot.isMain }

  /// The loop of the main thread's own, for the main queue to host; made here when the main thread has none yet, and
  /// then it is the main thread's `current`.
  ///
  /// Asked for on another thread it is a loop that only the main queue drives.
  ///
  /// - Throws: when there are no descriptors left.
  package static func forMainQueue() throws(SystemError) -> EventLoop {
    guard isMainThread else { return try EventLoop() }
    if let existing { return existing }
    let loop = try EventLoop()
    ThreadSlot.setOwn(loop)
    return loop
  }

  /// Whether this loop's turn is the one that runs on this thread: the innermost, when loops nest.
  package var isCurrent: Bool { EventLoop.running === self }

  /// The loop of a handle, if it can be touched from here: in its turn, or on the thread it belongs to.
  static func onThisThread(with handle: Handle) -> EventLoop? {
    if let running, running.handle === handle { return running }
    // A hosted loop may be polled on any of its host's threads.
    if let existing, existing.handle === handle, !existing.isHosted { return existing }
    return nil
  }

  /// The loop of a background thread of ours, made at first use; it runs for ever.
  package static let shared: Handle = {
    do {
      let handle = try Handle()
      try startBackgroundThread(stackBytes: 1 << 20) {
        do {
          let loop = try EventLoop(handle: handle)
          ThreadSlot.setOwn(loop)
          while true { loop.runForever() }
        } catch {
          preconditionFailure("no shared event loop: \(error)")
        }
      }
      return handle
    } catch {
      preconditionFailure("no shared event loop: \(error)")
    }
  }()
}

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

  // SAFETY (all of the below): the slot is allocated by and for one thread, reached only through that thread's value
  // of the key, and freed by the key's destructor on that thread.

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
    let status = unsafe pthread_key_create(&key) { value in
      let value: UnsafeMutableRawPointer? = unsafe value
      unsafe ThreadSlot.threadEnds(value)
    }
    precondition(status == 0, "no key for thread-local data: \(SystemError.words(for: status))")
    return key
  }()

  private static func threadEnds(_ value: UnsafeMutableRawPointer?) {
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
