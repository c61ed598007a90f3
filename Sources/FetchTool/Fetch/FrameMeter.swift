/// What a person wants to know of a stream's frames besides their number and rate: how large they are, how evenly they
/// come, and how late where the server stamps them. Time is an argument.
package struct FrameMeter: Sendable {
  /// Frames that are complete.
  package private(set) var count = 0
  /// Bytes of the newest one.
  private var size = 0
  private var newest: Double?
  private var interval: Double?
  /// How much an interval differs from the one before, in seconds, smoothed as RFC 3550 section 6.4.1 does.
  private var jitter: Double?
  private var latency: Double?

  /// Begins at zero.
  package init() {}

  /// A frame of so many bytes is complete `seconds` after the start, `latency` seconds after the server's stamp.
  package mutating func completed(_ bytes: Int, at seconds: Double, latency: Double?) {
    count += 1
    size = bytes
    self.latency = latency
    if let newest {
      let passed = seconds - newest
      if let interval {
        let difference = abs(passed - interval)
        jitter = jitter.map { $0 + (difference - $0) / 16 } ?? difference
      }
      interval = passed
    }
    newest = seconds
  }

  /// What there is to say, from the most to the least telling.
  package var columns: [String] {
    guard count > 0 else { return [] }
    var columns = [ProgressMeter.amount(Double(size)) + " each"]
    if let jitter { columns.append("jitter \(Self.milliseconds(jitter))") }
    if let latency { columns.append("latency \(Self.milliseconds(latency))") }
    return columns
  }

  private static func milliseconds(_ seconds: Double) -> String {
    ProgressMeter.decimal(seconds * 1000) + " ms"
  }

  /// The moment in a part's `X-Timestamp`, as ustreamer and mjpg-streamer write it: seconds since 1970 with a fraction.
  /// - Returns: how long before `now` (in seconds since 1970) that was; nil when there is none, or when the server's
  ///   clock is so far from this one's that it tells nothing.
  package static func latency(stamp: String?, now: Double) -> Double? {
    guard let stamp = stamp.flatMap(Double.init), stamp.isFinite else { return nil }
    let latency = now - stamp
    return latency >= 0 && latency < 60 ? latency : nil
  }
}
