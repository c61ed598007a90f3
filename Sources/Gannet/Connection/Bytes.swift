public import FoundationEssentials

extension URLConnection {
  /// The bytes of a response's body, decoded, as they come, with backpressure: once 256 KiB wait to be taken, nothing is
  /// read, and the server has to wait too.
  ///
  /// There is one load behind it, so its bytes are there once: whatever one iterator of it, of its `chunks` or of its
  /// `lines` has taken, no other gets. The load is cancelled when this and all of those are let go, and when a task
  /// that waits for more is cancelled.
  public struct Bytes: AsyncSequence, Sendable {
    /// A byte.
    public typealias Element = UInt8
    /// Why a load failed.
    public typealias Failure = ConnectionError

    let source: BodySource
    let maximumLineBytes: Int

    /// The same body, in the pieces that come: what is there at once, none of them empty.
    public var chunks: Chunks { Chunks(source: source) }

    /// The same body, line by line.
    public var lines: Lines { Lines(source: source, maximumBytes: maximumLineBytes) }

    /// Makes an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(source) }

    /// Takes bytes.
    public struct Iterator: AsyncIteratorProtocol {
      /// A byte.
      public typealias Element = UInt8

      private let source: BodySource
      /// The piece that is being handed out, and how much of it has been.
      @usableFromInline var chunk: [UInt8] = []
      @usableFromInline var position = 0
      private var isOver = false

      init(_ source: BodySource) { self.source = source }

      /// The next byte; nil when the body is complete. Waits for nothing while there is one of a piece that has come, so
      /// a task that was cancelled meanwhile is told once that piece has been handed out.
      @inlinable
      public mutating func next() async throws(ConnectionError) -> UInt8? {
        try await next(isolation: nil)
      }

      /// The next byte; nil when the body is complete.
      @inlinable
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ConnectionError) -> UInt8? {
        if position == chunk.count {
          guard try await refill(isolation: actor) else { return nil }
        }
        defer { position += 1 }
        return chunk[position]
      }

      /// Takes the next piece; false when there is none.
      @usableFromInline
      mutating func refill(
        isolation actor: isolated (any Actor)?
      ) async throws(ConnectionError) -> Bool {
        (chunk, position) = ([], 0)
        guard let data = try await source.data(until: &isOver) else { return false }
        chunk = [UInt8](data)
        return true
      }
    }
  }

  /// The pieces of a response's body, decoded, as they come: see `Bytes.chunks`.
  public struct Chunks: AsyncSequence, Sendable {
    /// A piece, not empty.
    public typealias Element = Data
    /// Why a load failed.
    public typealias Failure = ConnectionError

    let source: BodySource

    /// Makes an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(source: source) }

    /// Takes pieces.
    public struct Iterator: AsyncIteratorProtocol {
      /// A piece, not empty.
      public typealias Element = Data
      private let source: BodySource
      private var isOver = false

      init(source: BodySource) { self.source = source }

      /// The next piece; nil when the body is complete.
      public mutating func next() async throws(ConnectionError) -> Data? { try await next(isolation: nil) }

      /// The next piece; nil when the body is complete.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ConnectionError) -> Data? {
        try await source.data(until: &isOver)
      }
    }
  }

  /// Loads a request, returns its response as soon as its head is here, whatever its status, and the bytes of its body
  /// as they come.
  ///
  /// A body of parts (`multipart/x-mixed-replace`) comes as it is, its delimiters included; `parts(for:)` and
  /// `events(for:)` split it. Runs on the loop whose turn this is called in, else on the shared loop.
  ///
  /// - Throws: `unsupportedURL` or `badURL` when the request cannot be loaded, `cancelled` when the task was cancelled,
  ///   else what `didFailWithError` would have said; after the head, the sequence's `next()` throws it.
  public static func bytes(
    for request: URLRequest, configuration: Configuration = .default
  ) async throws(ConnectionError) -> (Bytes, HTTPURLResponse) {
    let source = BodySource(request, configuration)
    let response = try await source.response()
    return (Bytes(source: source, maximumLineBytes: configuration.maximumLineBytes), response)
  }
}
