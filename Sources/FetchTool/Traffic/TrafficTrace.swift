import Gannet
import GannetSockets
import Synchronization

/// Shows on standard error what goes over the connections, for `-v`.
final class TrafficTrace: TrafficObserver {
  private let tracers = Mutex<[UInt64: HeadTracer]>([:])

  func opened(_ connection: ConnectionDescription) {
    let address = connection.address.map { " (\($0))" } ?? ""
    OutputFile.complain("* Connected to \(connection.origin)\(address), connection \(connection.id)")
    if let security = connection.security { OutputFile.complain("* \(security)") }
  }

  func sent(_ bytes: Span<UInt8>, on connection: UInt64) {
    tracers.withLock { $0[connection, default: HeadTracer()].sent(bytes) { OutputFile.complain($0) } }
  }

  func received(_ bytes: Span<UInt8>, on connection: UInt64) {
    tracers.withLock { $0[connection, default: HeadTracer()].received(bytes) { OutputFile.complain($0) } }
  }

  func ended(_ connection: UInt64, reset: Bool) {
    OutputFile.complain("* The server \(reset ? "reset" : "closed") connection \(connection)")
    tracers.withLock { $0[connection] = nil }
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
}
