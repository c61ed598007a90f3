import GannetSockets
import TestSupport
import Testing

@Suite("TimerHeap", .longWork) struct TimerHeapTests {
  static func at(_ milliseconds: Int) -> LoopTime { LoopTime(nanoseconds: Int64(milliseconds) * 1_000_000) }

  /// The slots that are due, in the order they come.
  static func due(_ heap: inout TimerHeap, at milliseconds: Int) -> [Int] {
    var slots: [Int] = []
    while let slot = heap.popDue(at: at(milliseconds)) { slots.append(slot) }
    return slots
  }

  @Test func timersComeInOrderOfTheirDeadlines() {
    var heap = TimerHeap()
    let slots = (0..<5).map { _ in heap.insert() }
    for (slot, time) in zip(slots, [50, 10, 40, 20, 30]) { heap.arm(slot, at: Self.at(time)) }
    #expect(heap.nextCheck == Self.at(10))
    #expect(Self.due(&heap, at: 9) == [])
    #expect(Self.due(&heap, at: 30) == [slots[1], slots[3], slots[4]])
    #expect(Self.due(&heap, at: 100) == [slots[2], slots[0]])
    #expect(heap.nextCheck == nil && heap.count == 0)
  }

  @Test func armingLaterLeavesTheEntryUntilItComesUp() {
    var heap = TimerHeap()
    let slot = heap.insert()
    heap.arm(slot, at: Self.at(10))
    for time in 11...1000 { heap.arm(slot, at: Self.at(time)) }
    #expect(heap.count == 1)
    // Too early, never too late.
    #expect(heap.nextCheck == Self.at(10))
    #expect(Self.due(&heap, at: 10) == [])
    #expect(heap.nextCheck == Self.at(1000))
    #expect(Self.due(&heap, at: 1000) == [slot])
  }

  @Test func armingEarlierRaisesTheEntry() {
    var heap = TimerHeap()
    let (first, second) = (heap.insert(), heap.insert())
    heap.arm(first, at: Self.at(10))
    heap.arm(second, at: Self.at(20))
    heap.arm(second, at: Self.at(5))
    #expect(heap.nextCheck == Self.at(5))
    #expect(Self.due(&heap, at: 20) == [second, first])
  }

  @Test func postponedTimersKeepTheirOrder() {
    var heap = TimerHeap()
    let slots = (0..<3).map { _ in heap.insert() }
    for slot in slots { heap.arm(slot, at: Self.at(1)) }
    heap.arm(slots[0], at: Self.at(30))
    heap.arm(slots[1], at: Self.at(10))
    heap.arm(slots[2], at: Self.at(20))
    #expect(Self.due(&heap, at: 100) == [slots[1], slots[2], slots[0]])
  }

  @Test func aDisarmedTimerDoesNotFireAndMayBeArmedAgain() {
    var heap = TimerHeap()
    let slot = heap.insert()
    heap.arm(slot, at: Self.at(10))
    heap.disarm(slot)
    #expect(heap.deadline(of: slot) == nil)
    #expect(Self.due(&heap, at: 50) == [])
    heap.arm(slot, at: Self.at(60))
    #expect(Self.due(&heap, at: 60) == [slot])
    #expect(Self.due(&heap, at: 61) == [])
  }

  @Test func aRemovedSlotIsUsedAgainWithoutItsPast() {
    var heap = TimerHeap()
    let first = heap.insert()
    heap.arm(first, at: Self.at(10))
    heap.remove(first)
    heap.remove(first)
    let second = heap.insert()
    #expect(second == first)
    #expect(heap.insert() != second)
    #expect(Self.due(&heap, at: 100) == [])
    heap.arm(second, at: Self.at(200))
    #expect(heap.nextCheck == Self.at(200))
  }

  /// Against a list that is searched: thousands of random steps, every answer the same.
  @Test(arguments: [1, 2, 3, 4] as [UInt64]) func agreesWithAPlainList(_ seed: UInt64) {
    var random = SplitMix(state: seed)
    var heap = TimerHeap()
    var model: [Int: Int?] = [:]
    var now = 0
    for _ in 0..<5000 {
      switch Int.random(in: 0..<10, using: &random) {
      case 0:
        let slot = heap.insert()
        #expect(model[slot] == nil)
        model[slot] = .some(nil)
      case 1...5:
        guard let slot = model.keys.sorted().randomElement(using: &random) else { continue }
        let time = now + Int.random(in: -5...100, using: &random)
        heap.arm(slot, at: Self.at(time))
        model[slot] = .some(time)
      case 6:
        guard let slot = model.keys.sorted().randomElement(using: &random) else { continue }
        heap.disarm(slot)
        model[slot] = .some(nil)
      case 7:
        guard model.count > 20, let slot = model.keys.sorted().randomElement(using: &random) else { continue }
        heap.remove(slot)
        model[slot] = nil
      default:
        now += Int.random(in: 0...20, using: &random)
        let expected = model.compactMap { slot, time in time.flatMap { $0 <= now ? ($0, slot) : nil } }
          .sorted { $0 < $1 }
        let earliest = model.values.compactMap { $0 }.min()
        if let earliest, let next = heap.nextCheck { #expect(next <= Self.at(earliest)) }
        #expect((heap.nextCheck == nil) == (earliest == nil) || earliest == nil)
        let popped = Self.due(&heap, at: now)
        #expect(popped.sorted() == expected.map(\.1).sorted())
        #expect(popped.map { model[$0] ?? nil } == expected.map(\.0))
        for slot in popped { model[slot] = .some(nil) }
      }
    }
  }
}

/// Random numbers that are the same on each run.
struct SplitMix: RandomNumberGenerator {
  var state: UInt64
  mutating func next() -> UInt64 {
    state &+= 0x9e37_79b9_7f4a_7c15
    var mixed = state
    mixed = (mixed ^ (mixed >> 30)) &* 0xbf58_476d_1ce4_e5b9
    mixed = (mixed ^ (mixed >> 27)) &* 0x94d0_49bb_1331_11eb
    return mixed ^ (mixed >> 31)
  }
}
