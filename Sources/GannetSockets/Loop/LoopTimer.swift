import CLinux

/// A timer of one loop. Letting it go cancels it.
///
/// Made once and armed many times: `schedule` for a later time than before is one store. The closure that it fires
/// is kept by the loop until the timer goes, so capture the timer's owner weakly.
package final class LoopTimer {
  private let table: TimerTable
  private let slot: TimerHeap.Slot

  fileprivate init(table: TimerTable, slot: TimerHeap.Slot) {
    self.table = table
    self.slot = slot
  }

  deinit {
    table.remove(slot)
  }

  /// Sets, or changes, when the timer fires: in the first turn that begins at that time or later. On the loop's
  /// thread.
  package func schedule(at deadline: LoopTime) {
    table.schedule(slot, at: deadline)
  }

  /// As above, at an instant.
  package func schedule(at deadline: ContinuousClock.Instant) {
    schedule(at: LoopTime(deadline))
  }

  /// The timer doesn't fire until it is scheduled again.
  package func cancel() {
    table.heap.disarm(slot)
  }

  /// When the timer fires; nil when it isn't scheduled.
  package var deadline: LoopTime? { table.heap.deadline(of: slot) }
}

/// The timers of one loop, and the timerfd that makes a hosted loop's descriptor readable when one is due.
final class TimerTable {
  fileprivate(set) var heap = TimerHeap()
  private var actions: [((EventLoop) -> Void)?] = []
  private var alarm: FileDescriptor?
  /// What the timerfd is set for; nil when it isn't set.
  private var alarmTime: LoopTime?
  /// Nanoseconds that the loop's clock is ahead of the system's.
  private var lead: Int64 = 0

  /// The time at this moment.
  var now: LoopTime { LoopTime(nanoseconds: LoopTime.current.nanoseconds &+ lead) }

  /// Lets time pass; the alarm is set anew at the end of the turn.
  func advance(by duration: Duration) {
    lead = now.advanced(by: duration).nanoseconds &- LoopTime.current.nanoseconds
    alarmTime = nil
  }

  func makeTimer(_ fire: @escaping (EventLoop) -> Void) -> LoopTimer {
    let slot = heap.insert()
    if slot == actions.count { actions.append(fire) } else { actions[slot] = fire }
    return LoopTimer(table: self, slot: slot)
  }

  fileprivate func remove(_ slot: TimerHeap.Slot) {
    heap.remove(slot)
    // Taken out first: letting go of what the closure holds may remove other timers.
    let action = actions[slot]
    actions[slot] = nil
    _ = action
  }

  fileprivate func schedule(_ slot: TimerHeap.Slot, at deadline: LoopTime) {
    heap.arm(slot, at: deadline)
    if alarm != nil, alarmTime.map({ deadline < $0 }) ?? true { setAlarm(for: deadline) }
  }

  /// Takes the action of the earliest timer that is due.
  func popDue(at now: LoopTime) -> ((EventLoop) -> Void)? {
    while let slot = heap.popDue(at: now) {
      if let action = actions[slot] { return action }
    }
    return nil
  }

  /// Lets go of what the timers would fire: the loop has ended.
  func removeAllActions() {
    let held = actions
    actions = Array(repeating: nil, count: held.count)
    _ = held
  }

  // MARK: - The alarm of a hosted loop

  /// Makes the timerfd, registers it, and sets it for the earliest timer.
  func startAlarm(in poller: Poller) throws(SystemError) {
    guard alarm == nil else { return }
    let descriptor = try FileDescriptor(
      checking: timerfd_create(CLOCK_MONOTONIC, CInt(TFD_CLOEXEC | TFD_NONBLOCK)),
      "timerfd_create")
    try poller.control(EPOLL_CTL_ADD, descriptor.number, .alarm, gannet_epoll_in | gannet_epoll_edge)
    alarm = consume descriptor
    renewAlarm()
  }

  func stopAlarm() {
    alarm = nil
    alarmTime = nil
  }

  func alarmFired() {
    alarmTime = nil
  }

  /// Sets the alarm for the earliest timer, if it isn't set. At the end of a turn.
  func renewAlarm() {
    guard alarm != nil, alarmTime == nil, let next = heap.nextCheck else { return }
    setAlarm(for: next)
  }

  private func setAlarm(for time: LoopTime) {
    guard let number = alarm?.number else { return }
    let now = self.now
    setTimer(number, after: time > now ? .nanoseconds(time.nanoseconds - now.nanoseconds) : .zero)
    alarmTime = time
  }
}
