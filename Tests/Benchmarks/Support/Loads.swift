package import FoundationEssentials
package import Gannet

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Keeps `width` loads going until all are done: the delegate of each.
package final class Loads: URLConnectionDataDelegate {
  private let plan: Plan
  private let begin: (URLRequest, Loads) -> Void
  private let ended: (Measurement) -> Void
  private var measurement: Measurement
  private var started = 0
  private var finished = 0
  private var output: CInt = -1

  /// - Parameters:
  ///   - begin: makes one connection with this delegate and starts it on the host that is measured.
  ///   - ended: told once, when the last load is done.
  package init(
    _ plan: Plan, begin: @escaping (URLRequest, Loads) -> Void, ended: @escaping (Measurement) -> Void
  ) {
    self.plan = plan
    self.begin = begin
    self.ended = ended
    measurement = Measurement(mode: plan.mode, count: plan.count)
  }

  package func start() {
    measurement.restart()
    while started < min(plan.width, total) { startNext() }
  }

  private var total: Int { plan.warmUp + plan.count }

  private func startNext() {
    started += 1
    begin(plan.request, self)
  }

  package func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    guard let status = (response as? HTTPURLResponse)?.statusCode, status == 200 else {
      quit("the server answered \(response)")
    }
    guard let file = plan.file else { return }
    output = unsafe open(file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0o644)
    if output < 0 { quit("cannot write to \(file)") }
  }

  package func connection(_ connection: URLConnection, didReceive data: Data) {
    measurement.bytes += data.count
    if output >= 0 { write(data) }
  }

  package func connectionDidFinishLoading(_ connection: URLConnection) {
    if output >= 0 {
      close(output)
      output = -1
    }
    finished += 1
    if finished == plan.warmUp { measurement.restart() }
    if finished == total {
      measurement.stop()
      ended(measurement)
    } else if started < total {
      startNext()
    }
  }

  package func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    quit("\(error)")
  }

  private func write(_ data: Data) {
    unsafe data.withUnsafeBytes { bytes in
      var done = 0
      while done < bytes.count, let base = bytes.baseAddress {
        let written = unsafe Glibc.write(output, base + done, bytes.count - done)
        if written <= 0 { quit("cannot write, errno \(errno)") }
        done += written
      }
    }
  }
}
