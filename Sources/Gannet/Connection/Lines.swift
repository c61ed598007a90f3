extension URLConnection {
  /// The lines of a response's body, each as soon as its ending is here.
  ///
  /// A line ends with LF, CR LF or CR, which is left out, as in `text/event-stream`; a CR ends it at once, whether or
  /// not an LF follows. Empty lines are lines. What stands after the last ending is a line too, when there is anything
  /// and the body is complete. The text is read as UTF-8: a byte order mark at its beginning is left out, and what is
  /// not UTF-8 is U+FFFD.
  ///
  /// There is one load behind it, which is cancelled as that of `Bytes` is; while lines are not taken the server has
  /// to wait.
  public struct Lines: AsyncSequence, Sendable {
    /// A line, without its ending.
    public typealias Element = String
    /// Why a load failed.
    public typealias Failure = ConnectionError

    let source: BodySource
    let maximumBytes: Int

    /// Makes an iterator.
    public func makeAsyncIterator() -> Iterator { Iterator(source, maximumBytes: maximumBytes) }

    /// Takes lines.
    public struct Iterator: AsyncIteratorProtocol {
      /// A line, without its ending.
      public typealias Element = String

      private let source: BodySource
      private var splitter: LineSplitter
      private var chunk: [UInt8] = []
      private var position = 0
      private var isOver = false

      init(_ source: BodySource, maximumBytes: Int) {
        self.source = source
        splitter = LineSplitter(maximumBytes: maximumBytes)
      }

      /// The next line; nil when the body is complete. Throws `dataLengthExceedsMaximum`, and cancels the load, at a line
      /// longer than `configuration.maximumLineBytes`.
      public mutating func next() async throws(ConnectionError) -> String? {
        try await next(isolation: nil)
      }

      /// The next line; nil when the body is complete.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ConnectionError) -> String? {
        while !isOver {
          if let line = try lineOfChunk() { return line }
          guard let data = try await source.data(until: &isOver) else { return try lastLine() }
          chunk = [UInt8](data)
          position = 0
        }
        return nil
      }

      private mutating func lineOfChunk() throws(ConnectionError) -> String? {
        // One reference more, not a copy.
        let chunk = chunk
        do throws(LineSplitter.TooLong) {
          while position < chunk.count {
            let (consumed, line) = try splitter.step(chunk.span.extracting(position..<chunk.count))
            position += consumed
            if let line { return line }
          }
          return nil
        } catch { throw end(error) }
      }

      private mutating func lastLine() throws(ConnectionError) -> String? {
        isOver = true
        do throws(LineSplitter.TooLong) { return try splitter.finish() } catch { throw end(error) }
      }

      private mutating func end(_ error: LineSplitter.TooLong) -> ConnectionError {
        isOver = true
        source.cancel()
        return ConnectionError(
          .dataLengthExceedsMaximum, phase: .receiving, url: source.safeURLString,
          cause: .limit("maximumLineBytes"), reason: "a line has more than \(error.maximum) bytes")
      }
    }
  }

  /// Loads a request, returns the lines of its body as they come, and its response as soon as its head is here,
  /// whatever its status. For `text/event-stream`, logs, JSON lines.
  ///
  /// - Throws: as `bytes(for:)`.
  public static func lines(
    for request: URLRequest, configuration: Configuration = .default
  ) async throws(ConnectionError) -> (Lines, HTTPURLResponse) {
    let (bytes, response) = try await bytes(for: request, configuration: configuration)
    return (bytes.lines, response)
  }
}
