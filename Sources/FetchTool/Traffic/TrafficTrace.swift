import Gannet
import GannetSockets
import Synchronization

/// Shows on standard error what goes over the connections, for `-v`.
final class TrafficTrace: TrafficObserver {
  private struct State: Sendable {
    /// What is shown of each open connection, with its number.
    var tracers: [UInt64: (number: Int, heads: HeadTracer)] = [:]
    var count = 0
  }

  private let state = Mutex(State())
  private let marksLines: Bool

  /// `marksLines`: each line of a head tells its connection, since several are open at once.
  init(marksLines: Bool) { self.marksLines = marksLines }

  func opened(_ connection: ConnectionDescription) {
    let number = state.withLock { state in
      state.count += 1
      state.tracers[connection.id] = (state.count, HeadTracer())
      return state.count
    }
    let address = connection.address.map { " (\($0))" } ?? ""
    OutputFile.complain("* Connected to \(connection.origin)\(address), connection \(number)")
    if let security = connection.security { OutputFile.complain("* \(security)") }
  }

  func sent(_ bytes: Span<UInt8>, on connection: UInt64) {
    state.withLock { state in
      let mark = mark(state.tracers[connection]?.number)
      state.tracers[connection]?.heads.sent(bytes) { OutputFile.complain(mark + $0) }
    }
  }

  func received(_ bytes: Span<UInt8>, on connection: UInt64) {
    state.withLock { state in
      let mark = mark(state.tracers[connection]?.number)
      state.tracers[connection]?.heads.received(bytes) { OutputFile.complain(mark + $0) }
    }
  }

  private func mark(_ number: Int?) -> String {
    guard marksLines, let number else { return "" }
    return "(\(number)) "
  }

  /// What follows of it is told when the connection closes.
  func ended(_ connection: UInt64, reset: Bool) {}

  func kept(_ connection: UInt64) {
    guard let number = state.withLock({ $0.tracers[connection]?.number }) else { return }
    OutputFile.complain("* Connection \(number) is kept")
  }

  func closed(_ connection: UInt64, _ reason: ConnectionCloseReason) {
    guard let number = state.withLock({ $0.tracers.removeValue(forKey: connection)?.number }) else { return }
    OutputFile.complain("* Connection \(number) is closed: \(reason)")
  }
}

/// Passes traffic on to several observers.
final class TrafficObservers: TrafficObserver {
  private let observers: [any TrafficObserver]

  init(_ observers: [any TrafficObserver]) { self.observers = observers }

  func opened(_ connection: ConnectionDescription) {
    for observer in observers { observer.opened(connection) }
  }

  func sent(_ bytes: Span<UInt8>, on connection: UInt64) {
    for observer in observers { observer.sent(bytes, on: connection) }
  }

  func received(_ bytes: Span<UInt8>, on connection: UInt64) {
    for observer in observers { observer.received(bytes, on: connection) }
  }

  func ended(_ connection: UInt64, reset: Bool) {
    for observer in observers { observer.ended(connection, reset: reset) }
  }

  func kept(_ connection: UInt64) { for observer in observers { observer.kept(connection) } }

  func closed(_ connection: UInt64, _ reason: ConnectionCloseReason) {
    for observer in observers { observer.closed(connection, reason) }
  }
}
