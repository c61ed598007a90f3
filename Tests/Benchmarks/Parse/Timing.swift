#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Nanoseconds of this thread's own time that `body` takes.
func nanoseconds(_ body: () throws -> Void) rethrows -> Double {
  let begun = threadTime()
  try body()
  return threadTime() - begun
}

private func threadTime() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
  return Double(time.tv_sec) * 1e9 + Double(time.tv_nsec)
}

/// Figures of one thing, measured several times.
struct Sample {
  private let sorted: [Double]

  /// At least one figure.
  init(_ values: [Double]) { sorted = values.sorted() }

  /// Measures several times, after once for nothing.
  init(_ count: Int, _ measure: () throws -> Double) rethrows {
    _ = try measure()
    var values: [Double] = []
    for _ in 0..<count { values.append(try measure()) }
    self.init(values)
  }

  var median: Double {
    let middle = sorted.count / 2
    return sorted.count % 2 == 1 ? sorted[middle] : (sorted[middle - 1] + sorted[middle]) / 2
  }

  /// What a quarter of the figures lie below, and what a quarter lie above: a busy machine makes the outermost useless.
  var quartiles: (low: Double, high: Double) { (sorted[sorted.count / 4], sorted[sorted.count * 3 / 4]) }
}

/// A line of JSON.
struct Line {
  private var text: String

  init(_ test: String) { text = "{\"test\":\"\(test)\"" }

  mutating func add(_ name: String, _ value: String) { text += ",\"\(name)\":\"\(value)\"" }

  mutating func add(_ name: String, _ value: Double) {
    text += ",\"\(name)\":\(Double(Int(value * 100 + 0.5)) / 100)"
  }

  mutating func add(_ name: String, _ value: Int) { text += ",\"\(name)\":\(value)" }

  /// A median with its quartiles.
  mutating func add(_ name: String, _ sample: Sample) {
    add(name, sample.median)
    add(name + "_low", sample.quartiles.low)
    add(name + "_high", sample.quartiles.high)
  }

  /// Says whether a figure is at least its target, and prints the line.
  mutating func print(_ figure: Double? = nil, atLeast target: Double = 0) {
    if let figure {
      add("target", target)
      text += ",\"met\":\(figure >= target)"
    }
    Swift.print(text + "}")
  }
}
