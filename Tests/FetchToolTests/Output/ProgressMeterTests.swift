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
    for _ in 1...10 { meter.finishedFrame() }
    meter.received(2048)
    #expect(meter.line(label: "", at: 2, columns: 80) == "10 frames  5.0 frames/s  2.0 KiB  1.0 KiB/s")
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
}
