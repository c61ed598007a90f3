import FetchTool
import Testing

@Suite("Output: progress")
struct ProgressMeterTests {
  @Test func showsShareRateAndTimeLeft() {
    var meter = ProgressMeter()
    meter.expected = 4096
    #expect(meter.line(label: "", at: 0, columns: 80).hasPrefix("[····"))
    meter.received(1024)
    let line = meter.line(label: "[a] ", at: 2, columns: 80)
    #expect(line.hasPrefix("[a] [######········"))
    #expect(line.hasSuffix("]  25%  1.0 KiB of 4.0 KiB  512 B/s  0:06 left"))
    meter.received(3072)
    #expect(meter.line(label: "", at: 3, columns: 30).count <= 29)
    #expect(meter.line(label: "", at: 4, columns: 80).contains("100%"))
  }

  @Test func countsWhatIsSentUntilTheAnswerIsThere() {
    var meter = ProgressMeter()
    meter.sent(1024, of: 4096)
    #expect(
      meter.line(label: "", at: 2, columns: 80).hasSuffix(
        "]  25%  sent 1.0 KiB of 4.0 KiB  512 B/s  0:06 left"))
    meter.sent(2048, of: -1)
    #expect(meter.line(label: "", at: 4, columns: 80) == "sent 2.0 KiB  512 B/s")
    meter.received(512)
    #expect(meter.line(label: "", at: 6, columns: 80).hasPrefix("512 B  256 B/s"))
    meter.sent(4096, of: 4096)
    #expect(meter.line(label: "", at: 7, columns: 80).hasPrefix("512 B  "))
  }

  @Test func anEndedLoadHasNoTimeLeft() {
    var meter = ProgressMeter()
    meter.expected = 4096
    meter.received(1024)
    #expect(meter.line(label: "", at: 1, columns: 80).hasSuffix("0:03 left"))
    #expect(meter.line(label: "", at: 2, columns: 80, .failed).hasSuffix("/s  failed"))
    #expect(meter.line(label: "", at: 3, columns: 80, .failed).count < 80)
    #expect(!meter.line(label: "", at: 2, columns: 80, .finished).contains("left"))
  }

  @Test(arguments: [
    ("/tmp/a.zip", "a.zip"), ("http://h/x/", "x"), ("b", "b"), ("/", "/"),
    ("a-name-that-is-longer-than-it-may-be", "a-name-that-is-longer-t…"), ("a\u{1B}b", "a\\u{1B}b"),
  ])
  func namesAreShort(_ path: String, _ name: String) { #expect(ProgressMeter.shortName(path) == name) }

  @Test func countsTheFramesOfAStream() {
    var meter = ProgressMeter()
    meter.isStream = true
    _ = meter.line(label: "", at: 0, columns: 80)
    for frame in 1...10 { meter.finishedFrame(205, at: Double(frame) / 5) }
    meter.received(2048)
    let line = "10 frames  5.0 frames/s  2.0 KiB  8.2 kbit/s"
    #expect(meter.line(label: "", at: 2, columns: 50) == line)
    #expect(meter.line(label: "", at: 2, columns: 80) == line + "  205 B each  jitter 0.0 ms")
    for second in 3...20 { _ = meter.line(label: "", at: Double(second), columns: 80) }
    #expect(meter.line(label: "", at: 21, columns: 80).contains("0.0 frames/s"))
  }

  @Test(arguments: [
    (0, "0 B"), (1023, "1023 B"), (1024, "1.0 KiB"), (10_189, "10 KiB"), (1_048_000, "1023 KiB"),
    (1_048_300, "1.0 MiB"), (5e15, "4547 TiB"),
  ])
  func amounts(_ bytes: Double, _ text: String) { #expect(ProgressMeter.amount(bytes) == text) }

  @Test(arguments: [
    (0.2, "0:01"), (59.5, "1:00"), (3599, "59:59"), (3723, "1:02:03"), (.infinity, "more than 100 hours"),
  ])
  func clocks(_ seconds: Double, _ text: String) { #expect(ProgressMeter.clock(seconds) == text) }

  @Test("frames: size, jitter, and latency where there is a stamp")
  func frames() {
    var meter = FrameMeter()
    #expect(meter.columns == [])
    meter.completed(2048, at: 1, latency: nil)
    #expect(meter.columns == ["2.0 KiB each"])
    meter.completed(2048, at: 1.1, latency: 0.0123)
    #expect(meter.columns == ["2.0 KiB each", "latency 12 ms"])
    // The third interval is 16 ms longer than the second.
    meter.completed(1024, at: 1.216, latency: nil)
    #expect(meter.columns == ["1.0 KiB each", "jitter 16 ms"])
    // It fades by a sixteenth with each even interval.
    meter.completed(1024, at: 1.332, latency: nil)
    #expect(meter.columns == ["1.0 KiB each", "jitter 15 ms"])
  }

  @Test(
    arguments: [
      ("1700000000.250", 0.75), ("1700000001", 0), ("1700000001.5", nil), ("1600000000.0", nil), ("now", nil),
      ("nan", nil),
      ("", nil), (nil, nil),
    ] as [(String?, Double?)])
  func stamps(_ stamp: String?, _ latency: Double?) {
    #expect(FrameMeter.latency(stamp: stamp, now: 1_700_000_001) == latency)
  }
}
