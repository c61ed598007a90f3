import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

// The calls around epoll, eventfd and timerfd that take pointers.

/// Adds, changes or removes (`EPOLL_CTL_…`) what epoll says about a descriptor, with the number that it says it by.
func controlEpoll(
  _ epoll: CInt, _ operation: CInt, _ descriptor: CInt, number: UInt64, events: UInt32
) throws(SystemError) {
  // SAFETY: epoll_ctl copies the event, which lives for the call.
  var event = unsafe epoll_event()
  unsafe event.events = events
  unsafe event.data.u64 = number
  guard unsafe epoll_ctl(epoll, operation, descriptor, &event) == 0 else {
    throw SystemError.last("epoll_ctl")
  }
}

/// Waits for at most `capacity` events, or the time; -1 waits for ever. A signal ends the wait without events. Returns
/// whether there were so many that more may be there.
///
/// - Parameters:
///   - woken: called when the wait is over, before the events.
///   - take: called with each event's number, what it says, and whether it is the only one.
func waitForEvents(
  _ epoll: CInt, capacity: Int, milliseconds: CInt, woken: () -> Void, take: (UInt64, UInt32, Bool) -> Void
) -> Bool {
  // SAFETY: the buffer lives for this call, on this thread; epoll_wait initialises the first `count` events, and only
  // those are read. It is on the stack so that a wait inside `take` has one of its own.
  unsafe withUnsafeTemporaryAllocation(of: epoll_event.self, capacity: capacity) { buffer in
    let count = unsafe epoll_wait(epoll, buffer.baseAddress, CInt(capacity), milliseconds)
    woken()
    guard count > 0 else { return false }
    for index in 0..<Int(count) {
      unsafe take(buffer[index].data.u64, buffer[index].events, count == 1)
    }
    return Int(count) == capacity
  }
}

/// Makes an eventfd readable.
func signalEvent(_ descriptor: CInt) {
  var one: UInt64 = 1
  // The counter cannot overflow in practice, and it being full would mean that a wake-up is there already.
  // SAFETY: reads the eight bytes of `one`.
  unsafe _ = write(descriptor, &one, MemoryLayout<UInt64>.size)
}

/// Makes a timerfd readable once, after this time.
func setTimer(_ descriptor: CInt, after wait: Duration) {
  // A zero would disarm it.
  let (seconds, attoseconds) = max(wait, .nanoseconds(1)).components
  var setting = itimerspec()
  setting.it_value.tv_sec = time_t(seconds)
  setting.it_value.tv_nsec = Int(attoseconds / 1_000_000_000)
  // Fails for a bad argument only.
  // SAFETY: timerfd_settime reads the setting, which lives for the call, and writes nothing.
  unsafe timerfd_settime(descriptor, 0, &setting, nil)
}
