public import FoundationEssentials

extension URLConnection {
  /// A complete part of a `multipart/x-mixed-replace` stream: a picture of a camera, say.
  public struct Part: Sendable {
    /// The part's head, with its own fields; its `partIndex` counts the stream's parts from 0, and its `outerResponse`
    /// is the stream's response.
    public let response: HTTPURLResponse
    /// All of the part's data.
    public let data: Data
  }

  /// The complete parts of a stream, each as soon as its last byte is here (`connectionDidFinishPart` says when that
  /// is known). Bytes that a server sends after the end of a picture are left out, and so is a part that the end of the
  /// stream cuts short.
  ///
  /// Each iterator makes a load of its own, which begins with the first `next()` and is cancelled when the iterator is
  /// let go or its task is cancelled. It ends with the stream; a response that is no stream of parts is an error.
  public struct Parts: AsyncSequence, Sendable {
    /// A complete part.
    public typealias Element = Part
    /// Why a load failed.
    public typealias Failure = ConnectionError

    /// What becomes of parts that come faster than they are taken.
    public enum Keeping: Hashable, Sendable {
      /// Each is kept: once 256 KiB wait, nothing is read, and the server has to wait too.
      case every
      /// Only the newest is kept, for consumers that want the present: reading never stops.
      case newest
    }

    let request: URLRequest
    let keeping: Keeping
    let configuration: Configuration

    /// Makes an iterator; the load begins with its first `next()`.
    public func makeAsyncIterator() -> Iterator {
      Iterator(PartQueue(request, configuration, PartBacklog(keeping)) { PartGatherer($0) })
    }

    /// Takes the parts of one load.
    public struct Iterator: AsyncIteratorProtocol {
      /// A complete part.
      public typealias Element = Part
      private let owner: Owner
      private var isOver = false

      init(_ queue: PartQueue) { owner = Owner(queue) }

      /// The next part; nil when the stream has ended.
      public mutating func next() async throws(ConnectionError) -> Part? {
        try await next(isolation: nil)
      }

      /// The next part; nil when the stream has ended.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ConnectionError) -> Part? {
        try await owner.queue.next(until: &isOver)
      }
    }

    /// Cancels the load when the iterator is let go.
    private final class Owner {
      let queue: PartQueue
      init(_ queue: PartQueue) { self.queue = queue }
      deinit { queue.cancel() }
    }
  }

  /// The complete parts of a `multipart/x-mixed-replace` stream.
  ///
  /// One part at a time is gathered, up to `configuration.maximumGatheredBytes`; a longer one fails with
  /// `dataLengthExceedsMaximum`. Of a part that is longer than it promised, or goes on after its picture, only what made
  /// it complete is given.
  ///
  /// - Parameters:
  ///   - request: what to load.
  ///   - keeping: what becomes of parts that come faster than they are taken.
  ///   - configuration: how.
  /// - Returns: the sequence, whose `next()` throws `badServerResponse` when the response is no stream of parts,
  ///   `unsupportedURL` or `badURL` when the request cannot be loaded, `cancelled` when the task was cancelled, else
  ///   what `didFailWithError` would have said.
  public static func parts(
    for request: URLRequest, keeping: Parts.Keeping = .every, configuration: Configuration = .default
  ) -> Parts {
    Parts(request: request, keeping: keeping, configuration: configuration)
  }
}
