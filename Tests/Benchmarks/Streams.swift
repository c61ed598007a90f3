import BenchmarkSupport
import FoundationEssentials
import Gannet

/// Reads one `multipart/x-mixed-replace` stream to its end, and how late each part was known to be complete.
final class StreamClock: URLConnectionDataDelegate {
  private var measurement = Measurement(mode: "mjpeg", count: 1)
  private var stamp: Int64?
  private var frames = 0
  private var microseconds: [Double] = []
  private(set) var line: String?

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    stamp = (response as? HTTPURLResponse)?.value(forHTTPHeaderField: "X-Timestamp-Ns").flatMap { Int64($0) }
  }

  func connection(_ connection: URLConnection, didReceive data: Data) { measurement.bytes += data.count }

  func connectionDidFinishPart(_ connection: URLConnection) {
    frames += 1
    if let stamp { microseconds.append(Double(monotonicNanoseconds() - stamp) / 1e3) }
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    measurement.stop()
    microseconds.sort()
    measurement.add("frames", frames)
    measurement.add("lat_p50_us", latency(0.5))
    measurement.add("lat_p99_us", latency(0.99))
    measurement.add("lat_max_us", latency(1))
    line = measurement.line()
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) { quit("\(error)") }

  private func latency(_ share: Double) -> Double {
    microseconds.isEmpty ? -1 : microseconds[Int(share * Double(microseconds.count - 1))]
  }
}

/// Counts the bytes of streams that are held open.
final class StreamCounter: URLConnectionDataDelegate {
  private let goal: Int
  private let reached: () -> Void
  private(set) var bytes = 0

  init(goal: Int, reached: @escaping () -> Void) {
    self.goal = goal
    self.reached = reached
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    let before = bytes
    bytes += data.count
    if before < goal, bytes >= goal { reached() }
  }

  func connectionDidFinishLoading(_ connection: URLConnection) { quit("a stream ended") }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) { quit("\(error)") }
}

/// One stream to its end.
func runStream(_ plan: Plan) {
  let loop = EventLoop.current
  let clock = StreamClock()
  _ = URLConnection(
    request: plan.request, delegate: clock, configuration: plan.configuration, on: .loop(loop.handle))
  loop.run()
  if let line = clock.line { print(line) }
}

/// `streams` at once, held open once each has delivered its first part.
func runIdle(_ plan: Plan, streams: Int) {
  let loop = EventLoop.current
  var measurement = Measurement(mode: plan.mode, count: plan.count)
  let before = ProcessUsage.residentKiB
  var connections: [URLConnection] = []
  let counter = StreamCounter(goal: 1000 * streams) { loop.stop() }
  for _ in 0..<streams {
    guard
      let connection = URLConnection(
        request: plan.request, delegate: counter, configuration: plan.configuration, on: .loop(loop.handle))
    else { quit("cannot load \(plan.request)") }
    connections.append(connection)
  }
  loop.run()

  let seconds = environment("IDLE_SECONDS").flatMap { Double($0) } ?? 0.2
  let used = ProcessUsage.now
  loop.run(until: .now + .seconds(seconds))
  let after = ProcessUsage.now
  let resident = ProcessUsage.residentKiB
  measurement.stop()
  measurement.bytes = counter.bytes
  measurement.add("rss0", before)
  measurement.add("rss1", resident)
  measurement.add("kb_per_conn", Double(resident - before) / Double(streams))
  measurement.add("idle_secs", seconds)
  measurement.add("idle_cpu_ms", (after.cpuSeconds - used.cpuSeconds) * 1000)
  measurement.add("idle_sleeps", after.sleeps - used.sleeps)
  print(measurement.line())
  for connection in connections { connection.cancel() }
}
