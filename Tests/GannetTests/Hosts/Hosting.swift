import Dispatch
import Gannet
import GannetSockets
import TestSupport

/// What the tests of hosts share.
enum Hosting {
  /// A server whose paths say what they give.
  static func server() throws -> PathServer {
    try PathServer { path in
      switch path {
      case "/stall": .silence
      case "/closing": .closing("hello")
      default: .ok("hello")
      }
    }
  }

  static func request(_ server: PathServer, _ path: String) -> URLRequest {
    URLRequest(string: server.url(path))
  }

  /// The kinds of queue that differ to a load.
  static let queueKinds = ["serial", "concurrent", "main"]

  static func queue(_ kind: String) -> DispatchQueue {
    switch kind {
    case "serial": DispatchQueue(label: "serial")
    case "concurrent": DispatchQueue(label: "concurrent", attributes: .concurrent)
    default: DispatchQueue.main
    }
  }

  /// The calls of a load of a short body.
  static let calls = ["response 200", "data", "finish"]
}

/// Says when the last reference to it is gone.
final class Farewell: Sendable {
  private let arrival: Arrival<Bool>
  init(_ arrival: Arrival<Bool>) { self.arrival = arrival }
  deinit { arrival.arrive(true) }

  /// Tells when this queue's loop is gone: nothing keeps the queue's host any more.
  static func ofLoop(in queue: DispatchQueue) throws -> Arrival<Bool> {
    let arrival = Arrival<Bool>()
    _ = try LoopHost.of(queue).post { loop in
      loop.attachments[ObjectIdentifier(Farewell.self)] = Farewell(arrival)
    }
    return arrival
  }
}

/// Holds something that is made in one place and used in another.
final class Kept<Value: Sendable>: Sendable {
  private let state = Guarded<Value?>(nil)
  func put(_ value: Value) { state.withLock { $0 = value } }
  func take() -> Value? {
    state.withLock { state in
      defer { state = nil }
      return state
    }
  }
  var value: Value? { state.withLock { $0 } }
}
