import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Starts a detached thread of ours, with every signal blocked, so that the process's handlers run on its own threads.
///
/// - Throws: what `pthread_create` returned, when there are no resources for one more thread.
package func startBackgroundThread(
  stackBytes: Int, _ body: @escaping @Sendable () -> Void
) throws(SystemError) {
  // SAFETY: the attributes and the signal sets live for the calls that they are lent to.
  var attributes = pthread_attr_t()
  unsafe pthread_attr_init(&attributes)
  defer { unsafe pthread_attr_destroy(&attributes) }
  unsafe pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
  unsafe pthread_attr_setstacksize(&attributes, stackBytes)
  var all = sigset_t()
  var previous = sigset_t()
  unsafe sigfillset(&all)
  unsafe pthread_sigmask(SIG_BLOCK, &all, &previous)
  defer { unsafe pthread_sigmask(SIG_SETMASK, &previous, nil) }
  #if canImport(Musl)
    var thread: pthread_t?
  #else
    var thread = pthread_t()
  #endif
  // SAFETY: the box is handed to the new thread, which empties and frees it; when no thread starts, we do.
  let box = UnsafeMutablePointer<@Sendable () -> Void>.allocate(capacity: 1)
  unsafe box.initialize(to: body)
  let status = unsafe pthread_create(&thread, &attributes, { unsafe runBox($0) }, box)
  guard status == 0 else {
    unsafe box.deinitialize(count: 1)
    unsafe box.deallocate()
    throw SystemError(errno: status, call: "pthread_create")
  }
}

/// The first function of a thread.
private func runBox(_ context: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
  // SAFETY: the context is the box that `startBackgroundThread` filled, and now this thread's alone.
  guard let box = unsafe context?.assumingMemoryBound(to: (@Sendable () -> Void).self) else { return nil }
  let body = unsafe box.move()
  unsafe box.deallocate()
  body()
  return nil
}
