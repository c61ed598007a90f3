import Foundation
import Gannet
import GannetSockets
import Synchronization

/// The event loops that live in operation queues: one for each queue.
enum OperationQueueHosts {
  private struct Weak: Sendable { weak var host: LoopHost? }

  /// A host keeps its queue, so a queue's identity is its own for as long as its host is there.
  private static let hosts = Guarded<[ObjectIdentifier: Weak]>([:])

  /// The host in this queue: the one there is, or a new one.
  static func host(in queue: OperationQueue) throws(SystemError) -> LoopHost {
    let result = hosts.withLock { hosts -> Result<LoopHost, SystemError> in
      if let host = hosts[ObjectIdentifier(queue)]?.host { return .success(host) }
      return Result { () throws(SystemError) in
        let host = try LoopHost(EventLoop(), isOfMainThread: queue === OperationQueue.main) {
          OperationQueueAttachment($0, queue)
        }
        hosts = hosts.filter { $0.value.host != nil }
        hosts[ObjectIdentifier(queue)] = Weak(host: host)
        return host
      }
    }
    return try result.get()
  }
}

/// Gives a loop its turns as operations of a queue: one at a time, so that callbacks are serial on a concurrent queue too,
/// and none before the queue has run the last, so that a queue that is slow or suspended stops the reading.
// UNCHECKED: Dispatch's objects are thread-safe, and its module does not say so on Linux.
private final class OperationQueueAttachment: LoopAttachment, @unchecked Sendable {
  private let source: any DispatchSourceRead

  init(_ host: LoopHost, _ queue: OperationQueue) {
    source = DispatchSource.makeReadSource(fileDescriptor: host.loop.descriptor)
    source.setEventHandler { [weak self] in
      guard let self else { return }
      let pending = PendingTurn(source)
      queue.addOperation {
        host.turn()
        // Not left to its deinit alone: somebody may keep the operation.
        pending.end()
      }
    }
    source.setCancelHandler { withExtendedLifetime(host) {} }
    source.resume()
  }

  func detach() { source.cancel() }
}

/// Keeps a loop's source quiet while a turn of it stands in the queue. It goes on when the turn has been taken, or was
/// dropped, as `cancelAllOperations()` does: then another one is asked for.
// UNCHECKED: as above.
private final class PendingTurn: @unchecked Sendable {
  private let source: any DispatchSourceRead
  private let hasEnded = Atomic(false)

  init(_ source: any DispatchSourceRead) {
    self.source = source
    source.suspend()
  }

  deinit { end() }

  func end() {
    if !hasEnded.exchange(true, ordering: .acquiringAndReleasing) { source.resume() }
  }
}
