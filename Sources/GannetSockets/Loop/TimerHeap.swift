/// The deadlines of many timers: a binary heap that is touched as little as possible.
///
/// A timer has one slot for its whole life. Arming it for a later time, and disarming it, only change the slot: its
/// heap entry stays where it is, too early, and sinks to its place when it comes to the top. So the common case of a
/// time-out that is pushed on with every byte and never fires costs one store.
///
/// Pure: the time is an argument.
package struct TimerHeap: Sendable {
  /// A timer's place in the table.
  package typealias Slot = Int

  private struct Timer: Sendable {
    /// When it fires; nil when it isn't armed.
    var deadline: LoopTime?
    /// Where its entry is in `entries`; nil when it has none.
    var position: Int?
    var isFree = false
  }

  private struct Entry: Sendable {
    /// Never later than the deadline of its timer.
    var time: LoopTime
    var slot: Slot
  }

  private var timers: [Timer] = []
  private var freeSlots: [Slot] = []
  private var entries: [Entry] = []

  package init() {}

  /// Entries, armed or not yet taken out.
  package var count: Int { entries.count }

  /// Makes a timer, not armed.
  package mutating func insert() -> Slot {
    if let slot = freeSlots.popLast() {
      timers[slot].isFree = false
      return slot
    }
    timers.append(Timer())
    return timers.count - 1
  }

  /// Forgets a timer. Its slot is given out again once its entry is gone.
  package mutating func remove(_ slot: Slot) {
    guard !timers[slot].isFree else { return }
    timers[slot].deadline = nil
    timers[slot].isFree = true
    if let position = timers[slot].position { removeEntry(at: position) }
    freeSlots.append(slot)
  }

  /// Sets when the timer fires. O(1) when it already has an entry that isn't later.
  package mutating func arm(_ slot: Slot, at deadline: LoopTime) {
    timers[slot].deadline = deadline
    guard let position = timers[slot].position else {
      entries.append(Entry(time: deadline, slot: slot))
      timers[slot].position = entries.count - 1
      raise(entries.count - 1)
      return
    }
    if deadline < entries[position].time {
      entries[position].time = deadline
      raise(position)
    }
  }

  /// The timer doesn't fire until it is armed again. O(1).
  package mutating func disarm(_ slot: Slot) {
    timers[slot].deadline = nil
  }

  /// When a timer fires; nil when it isn't armed.
  package func deadline(of slot: Slot) -> LoopTime? { timers[slot].deadline }

  /// The earliest time at which a timer can be due: right, or too early, never too late. O(1).
  package var nextCheck: LoopTime? { entries.first?.time }

  /// Takes the earliest timer that is due, disarmed; nil when none is.
  package mutating func popDue(at now: LoopTime) -> Slot? {
    while let first = entries.first, first.time <= now {
      guard let deadline = timers[first.slot].deadline else {
        removeEntry(at: 0)
        continue
      }
      guard deadline <= now else {
        entries[0].time = deadline
        sink(0)
        continue
      }
      if deadline > first.time, entries.count > 1 {
        // Due too, but another one may be due before it.
        entries[0].time = deadline
        sink(0)
        guard entries[0].slot == first.slot else { continue }
      }
      timers[first.slot].deadline = nil
      removeEntry(at: 0)
      return first.slot
    }
    return nil
  }

  private mutating func removeEntry(at position: Int) {
    timers[entries[position].slot].position = nil
    let last = entries.removeLast()
    guard position < entries.count else { return }
    entries[position] = last
    timers[last.slot].position = position
    raise(position)
    sink(timers[last.slot].position ?? position)
  }

  private mutating func raise(_ start: Int) {
    var position = start
    while position > 0 {
      let parent = (position - 1) / 2
      guard entries[position].time < entries[parent].time else { break }
      swapEntries(position, parent)
      position = parent
    }
  }

  private mutating func sink(_ start: Int) {
    var position = start
    while true {
      var smallest = position
      for child in [2 * position + 1, 2 * position + 2] where child < entries.count {
        if entries[child].time < entries[smallest].time { smallest = child }
      }
      guard smallest != position else { return }
      swapEntries(position, smallest)
      position = smallest
    }
  }

  private mutating func swapEntries(_ a: Int, _ b: Int) {
    entries.swapAt(a, b)
    timers[entries[a].slot].position = a
    timers[entries[b].slot].position = b
  }
}
