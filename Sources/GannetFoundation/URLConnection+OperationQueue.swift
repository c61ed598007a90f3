public import Foundation
public import Gannet
import GannetSockets

extension URLConnection {
  /// Moves a connection that has not been started to an operation queue: all its callbacks come in operations of that
  /// queue, one after the other on a concurrent queue too, and while the queue is suspended none comes and nothing is
  /// read (Apple's `setDelegateQueue(_:)`). Nil takes it from the host it has: its `start()` then waits until it is
  /// scheduled again.
  ///
  /// - Throws: when the load has been started, the delegate belongs to an actor that this queue is not, or the system has
  ///   no descriptors left.
  public func setDelegateQueue(_ queue: OperationQueue?) throws(ConnectionError) {
    let host: LoopHost?
    do throws(SystemError) {
      host = try queue.map { (queue) throws(SystemError) in try OperationQueueHosts.host(in: queue) }
    } catch { throw ConnectionError(noHost: error, for: originalRequest) }
    try schedule { (_) throws(ConnectionError) in (host, true) }
  }

  /// Loads a request and calls the handler in an operation of the queue, once, with what came: the response and the
  /// whole body, or the error (Apple's `sendAsynchronousRequest(_:queue:completionHandler:)`).
  ///
  /// The load runs on the shared loop, so a queue that is busy does not hold it up; while it is suspended the handler is
  /// not called. The response is given whatever its status. A request that cannot be loaded is told to the handler
  /// as well (`unsupportedURL`, `badURL`), never from inside this call.
  public static func sendAsynchronousRequest(
    _ request: Gannet.URLRequest, queue: OperationQueue, configuration: Configuration = .default,
    completionHandler: @escaping @Sendable (Gannet.URLResponse?, Data?, ConnectionError?) -> Void
  ) {
    load(request, configuration) { outcome in
      queue.addOperation { outcome.tell(completionHandler) }
    }
  }
}
