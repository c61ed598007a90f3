/// What a person wants to know of a running load: how much has come, or until then how much of a body was sent, how
/// fast, and how long it takes still. Time is an argument.
package struct ProgressMeter: Sendable {
  /// The rate is that of about so long.
  private static let windowSeconds = 3.0

  /// How far the load is.
  package enum Stage: Hashable, Sendable { case running, finished, failed }

  /// What is counted at one moment.
  private struct Sample {
    var seconds: Double
    var bytes: Int64
    var frames: Int
  }

  private var samples: [Sample] = []
  private var bytes: Int64 = 0
  private var frames = FrameMeter()

  /// Bytes the body will have in all; nil when that isn't known.
  package var expected: Int64?
  /// Whether it is a stream of frames, so that these are counted.
  package var isStream = false

  /// Whether what is counted is sent, and nothing has come.
  private var isSending = false

  /// Begins at zero.
  package init() {}

  /// So many bytes of the request's body were sent, of `expected`, or -1 when that isn't known.
  package mutating func sent(_ total: Int64, of expected: Int64) {
    guard isSending || bytes == 0 else { return }
    isSending = true
    bytes = total
    self.expected = expected > 0 ? expected : nil
  }

  /// More bytes came.
  package mutating func received(_ count: Int) {
    if isSending { endSending() }
    bytes += Int64(count)
  }

  /// The answer is there: what comes is counted from here on, and its rate is that since the line before.
  package mutating func endSending() {
    guard isSending else { return }
    samples = samples.suffix(1).map { Sample(seconds: $0.seconds, bytes: 0, frames: 0) }
    (isSending, bytes) = (false, 0)
  }

  /// A frame of so many bytes is complete `seconds` after the start, `latency` seconds after the server's stamp.
  package mutating func finishedFrame(_ bytes: Int, at seconds: Double, latency: Double? = nil) {
    frames.completed(bytes, at: seconds, latency: latency)
  }

  /// The line at `seconds` since the start, narrower than `columns`.
  package mutating func line(
    label: String, at seconds: Double, columns: Int, _ stage: Stage = .running
  ) -> String {
    samples.append(Sample(seconds: seconds, bytes: bytes, frames: frames.count))
    while samples.count > 2, samples[1].seconds <= seconds - Self.windowSeconds { samples.removeFirst() }
    let first = samples.count > 1 ? samples[0] : Sample(seconds: 0, bytes: 0, frames: 0)
    let span = seconds - first.seconds
    let rate = span > 0 ? Double(bytes - first.bytes) / span : 0
    var parts = [Self.amount(Double(bytes)), Self.amount(rate) + "/s"]
    if isSending { parts[0] = "sent " + parts[0] }
    if isStream {
      let perSecond = span > 0 ? Double(frames.count - first.frames) / span : 0
      parts = [
        "\(frames.count) frames", Self.decimal(perSecond) + " frames/s", parts[0], Self.bitRate(rate * 8),
      ]
      for column in frames.columns
      where (label + parts.joined(separator: "  ")).count + 2 + column.count < columns - 8 {
        parts.append(column)
      }
    } else if let expected, expected > 0 {
      parts[0] += " of " + Self.amount(Double(expected))
      if rate > 0, bytes < expected, stage == .running {
        parts.append(Self.clock(Double(expected - bytes) / rate) + " left")
      }
      let others = parts.joined(separator: "  ").count + (stage == .failed ? 8 : 0)
      let width = columns - label.count - others - 12
      parts.insert(Self.bar(Double(min(bytes, expected)) / Double(expected), width: min(24, width)), at: 0)
    }
    if stage == .failed { parts.append("failed") }
    return String((label + parts.joined(separator: "  ")).prefix(max(0, columns - 1)))
  }

  /// The last piece of a path or URL, cut where it is long.
  package static func shortName(_ path: String) -> String {
    let name = path.split(separator: "/").last.map(String.init)?.printable ?? path.printable
    return name.count > 24 ? name.prefix(23) + "…" : name
  }

  private static func bar(_ share: Double, width: Int) -> String {
    let percent = "\(Int(share * 100))%"
    let shown = String(repeating: " ", count: 4 - percent.count) + percent
    guard width >= 8 else { return shown }
    let filled = Int(share * Double(width))
    return "[" + String(repeating: "#", count: filled) + String(repeating: "·", count: width - filled) + "] "
      + shown
  }

  /// `999 kbit/s`, `1.5 Mbit/s`.
  package static func bitRate(_ bits: Double) -> String {
    bits < 999_500 ? decimal(bits / 1000) + " kbit/s" : decimal(bits / 1_000_000) + " Mbit/s"
  }

  /// `999 B`, `1.5 KiB`, `12 MiB`.
  package static func amount(_ bytes: Double) -> String {
    var value = bytes
    var unit = 0
    let units = ["B", "KiB", "MiB", "GiB", "TiB"]
    while value >= 1023.5, unit < units.count - 1 {
      value /= 1024
      unit += 1
    }
    return (unit == 0 ? String(Int(value)) : decimal(value)) + " " + units[unit]
  }

  /// One digit after the point below ten, none above.
  package static func decimal(_ value: Double) -> String {
    guard value < 9.95 else { return String(Int(value.rounded())) }
    let tenths = Int((value * 10).rounded())
    return "\(tenths / 10).\(tenths % 10)"
  }

  /// `0:05`, `12:34`, `1:02:03`.
  package static func clock(_ seconds: Double) -> String {
    guard seconds.isFinite, seconds < 360_000 else { return "more than 100 hours" }
    let whole = Int(seconds.rounded(.up))
    func two(_ number: Int) -> String { (number < 10 ? "0" : "") + String(number) }
    if whole < 3600 { return "\(whole / 60):\(two(whole % 60))" }
    return "\(whole / 3600):\(two(whole / 60 % 60)):\(two(whole % 60))"
  }
}
