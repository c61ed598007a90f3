public import FoundationEssentials
public import GannetHTTP

extension URLConnection {
  /// What a load reports, in order: for `for try await`.
  public enum Event: Sendable {
    /// More of the request's body was handed to the system: how many bytes in all, of how many; -1 when that is not
    /// known. Of several that nobody took in time, the last.
    case sentBody(total: Int, expected: Int)
    /// An informational response (1xx) before the final one.
    case informational(HTTPURLResponse)
    /// A response's head, or that of the next part of a `multipart/x-mixed-replace` stream: what came before is
    /// replaced.
    case response(HTTPURLResponse)
    /// More of the body, decoded.
    case data(Data)
    /// The current part is complete.
    case partFinished
    /// Trailer fields after a chunked body.
    case trailers(FieldList)
    /// What the load did on the network, before its end; when `Configuration.collectsMetrics` says so.
    case metrics(URLConnectionMetrics)
  }

  /// The events of a load, with backpressure: while the consumer is slow, reading stops.
  ///
  /// Each iterator makes a load of its own, which begins with the first `next()` and is cancelled when the iterator
  /// is let go or its task is cancelled.
  public struct Events: AsyncSequence, Sendable {
    /// What a load reports.
    public typealias Element = Event
    /// Why a load failed.
    public typealias Failure = ConnectionError

    let request: URLRequest
    let configuration: Configuration

    /// Makes an iterator; the load begins with its first `next()`.
    public func makeAsyncIterator() -> Iterator {
      Iterator(EventQueue(request, configuration, EventBacklog()) { EventDelegate($0) })
    }

    /// Takes the events of one load.
    public struct Iterator: AsyncIteratorProtocol {
      /// What a load reports.
      public typealias Element = Event
      private let owner: Owner
      private var isOver = false

      init(_ queue: EventQueue) { owner = Owner(queue) }

      /// The next event; nil when the load is complete.
      public mutating func next() async throws(ConnectionError) -> Event? {
        try await next(isolation: nil)
      }

      /// The next event; nil when the load is complete.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ConnectionError) -> Event? {
        try await owner.queue.next(until: &isOver)
      }
    }

    /// Cancels the load when the iterator is let go.
    private final class Owner {
      let queue: EventQueue
      init(_ queue: EventQueue) { self.queue = queue }
      deinit { queue.cancel() }
    }
  }

  /// The events of a load of this request. Throws `unsupportedURL` or `badURL` at the first `next()` when it cannot
  /// be loaded, `cancelled` when the task was cancelled, else what `didFailWithError` would have said.
  public static func events(for request: URLRequest, configuration: Configuration = .default) -> Events {
    Events(request: request, configuration: configuration)
  }
}
