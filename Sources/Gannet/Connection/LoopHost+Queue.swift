import Dispatch
import GannetSockets

extension LoopHost {
  private struct Weak: Sendable { weak var host: LoopHost? }
  private static let ofQueues = Guarded<[ObjectIdentifier: Weak]>([:])

  /// The host in this Dispatch queue: the one there is, or a new one. The main queue's loop is the main thread's.
  static func of(_ queue: DispatchQueue) throws(SystemError) -> LoopHost {
    let result = ofQueues.withLock { hosts -> Result<LoopHost, SystemError> in
      if let host = hosts[ObjectIdentifier(queue)]?.host { return .success(host) }
      hosts = hosts.filter { $0.value.host != nil }
      return Result { () throws(SystemError) in
        let loop = try queue === DispatchQueue.main ? EventLoop.forMainQueue() : EventLoop()
        return try LoopHost(loop) { QueueAttachment($0, queue) }
      }.map { host in
        hosts[ObjectIdentifier(queue)] = Weak(host: host)
        return host
      }
    }
    return try result.get()
  }
}

/// A read source on the loop's descriptor. It holds its host, and so the descriptor, until Dispatch has let go of it.
// UNCHECKED: Dispatch's objects are thread-safe, and its module does not say so on Linux.
private struct QueueAttachment: LoopAttachment, @unchecked Sendable {
  private let source: any DispatchSourceRead

  init(_ host: LoopHost, _ queue: DispatchQueue) {
    source = DispatchSource.makeReadSource(fileDescriptor: host.loop.descriptor, queue: queue)
    source.setEventHandler { host.turn() }
    source.setCancelHandler { withExtendedLifetime(host) {} }
    source.resume()
  }

  func detach() { source.cancel() }
}
