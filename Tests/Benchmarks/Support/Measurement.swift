#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// One line of JSON about one measurement: the machine interface of the benchmarks.
package struct Measurement {
  package let mode: String
  package let count: Int
  private var begun = ContinuousClock.now
  private var took: Duration?
  /// Bytes of bodies since the clock started.
  package var bytes = 0
  /// What a mode adds, as JSON.
  private var more = ""

  package init(mode: String, count: Int) {
    self.mode = mode
    self.count = count
  }

  /// Starts the clock (again), after warming up.
  package mutating func restart() {
    begun = .now
    bytes = 0
  }

  package mutating func stop() { took = begun.duration(to: .now) }

  package mutating func add(_ name: String, _ value: some LosslessStringConvertible) {
    more += ",\"\(name)\":\(value)"
  }

  /// The line, with what the process used so far.
  package func line() -> String {
    let used = ProcessUsage.now
    return """
      {"peer":"gannet","mode":"\(mode)","n":\(count),"secs":\((took ?? begun.duration(to: .now)).inSeconds),\
      "bytes":\(bytes),"user":\(used.userSeconds),"sys":\(used.systemSeconds),"maxrss":\(used.peakKiB)\(more)}
      """
  }
}

/// What the kernel says that this process used so far.
package struct ProcessUsage {
  package let userSeconds: Double
  package let systemSeconds: Double
  package let peakKiB: Int
  /// How often its threads went to sleep.
  package let sleeps: Int

  package var cpuSeconds: Double { userSeconds + systemSeconds }

  package static var now: ProcessUsage {
    var usage = rusage()
    unsafe getrusage(__rusage_who_t(RUSAGE_SELF.rawValue), &usage)
    return ProcessUsage(
      userSeconds: seconds(usage.ru_utime), systemSeconds: seconds(usage.ru_stime), peakKiB: usage.ru_maxrss,
      sleeps: usage.ru_nvcsw)
  }

  private static func seconds(_ time: timeval) -> Double { Double(time.tv_sec) + Double(time.tv_usec) / 1e6 }

  /// Resident memory now, in KiB.
  package static var residentKiB: Int {
    guard let file = unsafe fopen("/proc/self/statm", "r") else { return 0 }
    defer { unsafe fclose(file) }
    var pages = [CChar](repeating: 0, count: 256)
    guard unsafe fgets(&pages, 256, file) != nil else { return 0 }
    let fields = String(decoding: pages.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
      .split(separator: " ")
    return fields.count > 1 ? (Int(fields[1]) ?? 0) * Int(getpagesize()) / 1024 : 0
  }
}

extension Duration {
  package var inSeconds: Double { Double(components.seconds) + Double(components.attoseconds) / 1e18 }
}

/// `CLOCK_MONOTONIC` in nanoseconds, the clock of the servers' time stamps.
package func monotonicNanoseconds() -> Int64 {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
}

/// Ends the process with one sentence on standard error.
package func quit(_ reason: String, status: CInt = 2) -> Never {
  let name = CommandLine.arguments[0].split(separator: "/").last ?? "gannet-bench"
  let line = Array("\(name): \(reason)\n".utf8)
  _ = unsafe write(STDERR_FILENO, line, line.count)
  exit(status)
}

package func environment(_ name: String) -> String? { unsafe getenv(name).map { unsafe String(cString: $0) } }
