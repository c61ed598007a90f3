import Foundation

/// How the time of some work grows with its size.
public enum Growth {
  /// How many times longer `work` takes for 4 × `count` than for `count`: 4 when it is linear, 16 when it is
  /// quadratic. Both are run in turn, the processor's time on this thread is measured, and the shortest of each
  /// counts; as soon as the ratio is at most 8 it is given, so that a busy machine costs time, not truth.
  public static func fourfold(of count: Int, attempts: Int = 8, _ work: (Int) throws -> Void) rethrows
    -> Double
  {
    var small = Double.infinity
    var large = Double.infinity
    for attempt in 0..<attempts {
      small = min(small, try secondsOfThread { try work(count) })
      large = min(large, try secondsOfThread { try work(4 * count) })
      if attempt > 0, large <= 8 * small { break }
    }
    return large / small
  }

  private static func secondsOfThread(_ work: () throws -> Void) rethrows -> Double {
    let begun = threadSeconds
    try work()
    return threadSeconds - begun
  }

  private static var threadSeconds: Double {
    var time = timespec()
    // SAFETY: `time` is a local that outlives the call.
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
  }
}
