import GannetSockets
import Testing

@Suite("LoopTime") struct LoopTimeTests {
  @Test func instantsAndTimesAreOfOneClock() {
    let before = ContinuousClock.now
    let time = LoopTime.current
    let after = ContinuousClock.now
    // One is reckoned from the other by a moment at which both were read, one after the other.
    #expect(time.instant >= before - .milliseconds(50) && time.instant <= after + .milliseconds(50))
    #expect(LoopTime(time.instant) == time)
  }

  @Test(
    arguments: [
      (.zero, 0), (.nanoseconds(1), 1), (.seconds(2), 2_000_000_000), (.milliseconds(-3), -3_000_000),
      // Rounded up, so that nothing wakes too early.
      (Duration(secondsComponent: 0, attosecondsComponent: 1), 1),
      (Duration(secondsComponent: 1, attosecondsComponent: 999), 1_000_000_001),
    ] as [(Duration, Int64)])
  func durationsAreAdded(_ duration: Duration, _ nanoseconds: Int64) {
    #expect(LoopTime(nanoseconds: 5).advanced(by: duration) == LoopTime(nanoseconds: 5 + nanoseconds))
  }

  /// The longest durations end at the end of time, not in a trap.
  @Test func whatIsTooFarIsTheEndOfTime() {
    let longest = Duration(secondsComponent: .max, attosecondsComponent: 0)
    #expect(LoopTime(nanoseconds: 1).advanced(by: longest) == LoopTime(nanoseconds: .max))
    #expect(LoopTime(nanoseconds: -1).advanced(by: .zero - longest) == LoopTime(nanoseconds: .min))
    #expect(LoopTime(nanoseconds: .max).advanced(by: .seconds(1)) == LoopTime(nanoseconds: .max))
    _ = LoopTime(nanoseconds: .max).instant
    _ = LoopTime(nanoseconds: .min).instant
  }
}
