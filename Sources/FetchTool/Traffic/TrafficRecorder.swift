import Gannet
import GannetHTTP
import GannetSockets

/// Writes what goes over the connections of one load to a `.wire` file, as it goes.
final class TrafficRecorder: TrafficObserver {
  private struct State: Sendable {
    var writer: RecordingWriter
    /// The numbers in the file of the connections that have not ended, by the library's.
    var numbers: [UInt64: Int] = [:]
    var count = 0
    var failure: SystemError?
  }

  private let state: Guarded<State>
  private let file: OutputFile
  private let start = ContinuousClock.now
  private let via: String?

  /// Begins the file.
  init(_ load: Recording.Load, to file: OutputFile, via: String?, keepsSecrets: Bool) throws(SystemError) {
    let comments = ["made by gannet \(GannetVersion.current)"]
    var writer = RecordingWriter(load, comments: comments, keepsSecrets: keepsSecrets)
    let head = writer.takeOutput()
    try file.write(head.span)
    self.file = file
    self.via = via
    state = Guarded(State(writer: writer))
  }

  func opened(_ connection: ConnectionDescription) {
    change { state, _ in
      state.count += 1
      state.numbers[connection.id] = state.count
      let origin = connection.origin
      state.writer.opened(
        Recording.Connection(
          number: state.count, scheme: origin.scheme, host: origin.host, port: Int(origin.port), via: via))
    }
  }

  func sent(_ bytes: Span<UInt8>, on connection: UInt64) {
    change { state, now in
      guard let number = state.numbers[connection] else { return }
      state.writer.sent(bytes, on: number, at: now)
    }
  }

  func received(_ bytes: Span<UInt8>, on connection: UInt64) {
    change { state, now in
      guard let number = state.numbers[connection] else { return }
      state.writer.received(bytes, on: number, at: now)
    }
  }

  func ended(_ connection: UInt64, reset: Bool) {
    change { state, now in
      guard let number = state.numbers.removeValue(forKey: connection) else { return }
      state.writer.ended(byReset: reset, on: number, at: now)
    }
  }

  /// Writes what is left. Throws the first failure to write there was.
  func finish() throws(SystemError) {
    change { state, _ in state.writer.finish() }
    if let failure = state.withLock({ $0.failure }) { throw failure }
  }

  private func change(_ step: (inout State, Int64) -> Void) {
    let elapsed = (ContinuousClock.now - start).components
    let now = elapsed.seconds * 1_000_000 + elapsed.attoseconds / 1_000_000_000_000
    state.withLock { state in
      step(&state, now)
      let output = state.writer.takeOutput()
      guard state.failure == nil, !output.isEmpty else { return }
      do throws(SystemError) { try file.write(output.span) } catch { state.failure = error }
    }
  }
}
