package import Dispatch
package import GannetSockets

extension LoopHost {
  private struct Weak: Sendable { weak var host: LoopHost? }

  /// A queue keeps what is known of its host itself: on Linux `DispatchQueue.main` and `global()` are new objects each
  /// time, so that an object is no queue's identity.
  private static let hostKey = DispatchSpecificKey<Weak>()
  private static let mainKey = DispatchSpecificKey<Bool>()
  private static let markMainQueue: Void = DispatchQueue.main.setSpecific(key: mainKey, value: true)

  /// The main thread's own loop in the main queue, once the main thread has asked for it. Kept, since making it
  /// touches that loop. Its lock is also that of all making.
  private static let mainThreadHost = Guarded<LoopHost?>(nil)
  static var ofMainThread: LoopHost? { mainThreadHost.withLock { $0 } }

  /// The host in this Dispatch queue: the one there is, or a new one. In the main queue it is the main thread's own
  /// loop, unless another thread asks before the main thread has.
  package static func of(_ queue: DispatchQueue) throws(SystemError) -> LoopHost {
    _ = markMainQueue
    let isMain = queue.getSpecific(key: mainKey) == true
    let result = mainThreadHost.withLock { mainThreadHost -> Result<LoopHost, SystemError> in
      if isMain, let mainThreadHost { return .success(mainThreadHost) }
      let isFromMainThread = isMain && EventLoop.isMainThread
      if !isFromMainThread, let host = queue.getSpecific(key: hostKey)?.host { return .success(host) }
      return Result { () throws(SystemError) in
        let loop = try isFromMainThread ? EventLoop.forMainQueue() : EventLoop()
        return try LoopHost(loop, isOfMainThread: isMain) { QueueAttachment($0, queue) }
      }.map { host in
        if isFromMainThread { mainThreadHost = host }
        queue.setSpecific(key: hostKey, value: Weak(host: host))
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
