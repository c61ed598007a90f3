#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A moment of the clock that loops go by, as one number.
///
/// `ContinuousClock.Instant` is opaque: each copy and comparison goes through tables of another library, which are
/// cold when a socket wakes the loop. So a loop counts in these, and gives out instants where it is asked for them.
package struct LoopTime: Comparable, Hashable, Sendable {
  /// Nanoseconds since the system began.
  package var nanoseconds: Int64

  package init(nanoseconds: Int64) { self.nanoseconds = nanoseconds }

  package static func < (left: LoopTime, right: LoopTime) -> Bool { left.nanoseconds < right.nanoseconds }

  /// The time now, of the clock that `ContinuousClock` reads.
  package static var current: LoopTime {
    var time = timespec()
    // Fails for an unknown clock only.
    // SAFETY: clock_gettime writes the one value, which lives for the call.
    _ = unsafe clock_gettime(CLOCK_BOOTTIME, &time)
    return LoopTime(nanoseconds: Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec))
  }

  /// This much later; the end of time where that is further than can be counted.
  package func advanced(by duration: Duration) -> LoopTime {
    let (sum, isOver) = nanoseconds.addingReportingOverflow(LoopTime.nanoseconds(of: duration))
    return LoopTime(nanoseconds: isOver ? (duration < .zero ? .min : .max) : sum)
  }

  /// Rounded up, so that what waits for it never wakes too early.
  private static func nanoseconds(of duration: Duration) -> Int64 {
    let (seconds, attoseconds) = duration.components
    let (whole, isOver) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
    guard !isOver else { return seconds < 0 ? .min : .max }
    let partial = attoseconds > 0 ? (attoseconds + 999_999_999) / 1_000_000_000 : attoseconds / 1_000_000_000
    let (sum, isOverToo) = whole.addingReportingOverflow(partial)
    return isOverToo ? (whole < 0 ? .min : .max) : sum
  }

  // MARK: Instants

  /// One moment of both clocks, to reckon others from: of a few readings the one that least came between.
  private static let anchor = {
    let readings = (0..<5).map { _ in
      let (begin, instant, end) = (LoopTime.current, ContinuousClock.now, LoopTime.current)
      return (gap: end.nanoseconds - begin.nanoseconds, instant: instant, time: begin)
    }
    let best = readings.min { $0.gap < $1.gap } ?? readings[0]
    return (instant: best.instant, time: best.time)
  }()

  /// The moment of an instant.
  package init(_ instant: ContinuousClock.Instant) {
    let anchor = LoopTime.anchor
    self = anchor.time.advanced(by: instant - anchor.instant)
  }

  /// The instant of this moment.
  package var instant: ContinuousClock.Instant {
    let anchor = LoopTime.anchor
    let (distance, isOver) = nanoseconds.subtractingReportingOverflow(anchor.time.nanoseconds)
    return anchor.instant + .nanoseconds(isOver ? .max : distance)
  }
}
