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
      // UNCHECKED: the API cannot fail, and a program without descriptors can do nothing with a loop.
      preconditionFailure("no event loop: \(error)")
    }
  }

  /// This thread's loop, if it ever asked for one.
  package static var existing: EventLoop? { ThreadSlot.own }

  /// Whether a task runs on this thread now: then the thread is lent, and its loop is not the task's.
  package static var isInTask: Bool { ThreadSlot.isInTask }

  /// The loop whose turn runs on this thread now.
  package static var running: EventLoop? { ThreadSlot.running }

  /// Whether this is the process's main thread.
  package static var isMainThread: Bool { ThreadSlot.isMain }

  /// The loop of the main thread's own, for the main queue to host; made here when the main thread has none yet, and
  /// then it is the main thread's `current`.
  ///
  /// Asked for on another thread it is a new loop, which only the main queue drives.
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
          // UNCHECKED: as below; the thread's handle is given out already.
          preconditionFailure("no shared event loop: \(error)")
        }
      }
      return handle
    } catch {
      // UNCHECKED: as for `current`: it cannot fail, and without descriptors there is nothing to go on with.
      preconditionFailure("no shared event loop: \(error)")
    }
  }()
}
