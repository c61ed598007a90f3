public import FoundationEssentials
public import GannetHTTP

extension URLConnection {
  /// What a load reports, in order: for `for try await`.
  public enum Event: Sendable {
    /// A response's head, or that of the next part of a `multipart/x-mixed-replace` stream: what came before is
    /// replaced.
    case response(HTTPURLResponse)
    /// More of the body, decoded.
    case data(Data)
    /// The current part is complete.
    case partFinished
    /// Trailer fields after a chunked body.
    case trailers(FieldList)
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
    public func makeAsyncIterator() -> Iterator { Iterator(EventQueue(request, configuration)) }

    /// Takes the events of one load.
    public struct Iterator: AsyncIteratorProtocol {
      /// What a load reports.
      public typealias Element = Event
      private let owner: Owner

      init(_ queue: EventQueue) { owner = Owner(queue) }

      /// The next event; nil when the load is complete.
      public mutating func next() async throws(ConnectionError) -> Event? {
        try await next(isolation: nil)
      }

      /// The next event; nil when the load is complete.
      public mutating func next(
        isolation actor: isolated (any Actor)?
      ) async throws(ConnectionError) -> Event? {
        try await owner.queue.next()
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

/// Events on their way from a load's loop to the task that takes them.
final class EventQueue: Sendable {
  typealias Event = URLConnection.Event
  private typealias Waiter = CheckedContinuation<Result<Event?, ConnectionError>, Never>

  /// Bytes that may wait before reading stops, and how few they are when it goes on.
  private static let (highBytes, lowBytes) = (256 * 1024, 64 * 1024)

  private struct State {
    var connection: URLConnection?
    var isStarted = false
    var events: [Event] = []
    var next = 0
    var bytes = 0
    var isPaused = false
    var waiter: Waiter?
    var end: Result<Event?, ConnectionError>?
  }

  private let request: URLRequest
  private let configuration: URLConnection.Configuration
  private let state = Guarded(State())

  init(_ request: URLRequest, _ configuration: URLConnection.Configuration) {
    self.request = request
    self.configuration = configuration
  }

  func next() async throws(ConnectionError) -> Event? {
    try start()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { wait($0) }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Ends the load; whoever waits is told.
  func cancel() {
    let (connection, waiter) = state.withLock { state in
      if state.end == nil { state.end = .failure(.cancellation(of: request)) }
      let waiter = state.waiter
      state.waiter = nil
      return (state.connection, waiter)
    }
    connection?.cancel()
    waiter?.resume(returning: .failure(.cancellation(of: request)))
  }

  private func start() throws(ConnectionError) {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted
    }
    guard isFirst else { return }
    _ = try request.loadableAddress()
    let connection = URLConnection(
      request: request, delegate: EventDelegate(self), startImmediately: false, configuration: configuration,
      on: URLConnection.asyncHost)
    let isCancelled = state.withLock { state in
      state.connection = connection
      return state.end != nil
    }
    if !isCancelled { connection?.start() }
  }

  private func wait(_ continuation: Waiter) {
    let ready = state.withLock { state -> Result<Event?, ConnectionError>? in
      guard state.next < state.events.count else {
        if state.end == nil { state.waiter = continuation }
        return state.end
      }
      let event = state.events[state.next]
      state.next += 1
      if state.next == state.events.count {
        state.events.removeAll(keepingCapacity: true)
        state.next = 0
      }
      if case .data(let data) = event { state.bytes -= data.count }
      if state.isPaused, state.bytes <= EventQueue.lowBytes {
        state.isPaused = false
        // Under the lock, as `pause()` is, so that the two keep their order; neither waits.
        state.connection?.resume()
      }
      return .success(event)
    }
    if let ready { continuation.resume(returning: ready) }
  }

  fileprivate func append(_ event: Event) {
    let waiter = state.withLock { state -> Waiter? in
      if let waiter = state.waiter {
        state.waiter = nil
        return waiter
      }
      state.events.append(event)
      if case .data(let data) = event { state.bytes += data.count }
      if state.bytes >= EventQueue.highBytes, !state.isPaused {
        state.isPaused = true
        state.connection?.pause()
      }
      return nil
    }
    waiter?.resume(returning: .success(event))
  }

  fileprivate func end(_ end: Result<Event?, ConnectionError>) {
    let waiter = state.withLock { state in
      if state.end == nil { state.end = end }
      let waiter = state.waiter
      state.waiter = nil
      return waiter
    }
    waiter?.resume(returning: end)
  }
}

/// Puts a load's callbacks into a queue.
private final class EventDelegate: URLConnectionDataDelegate {
  private let queue: EventQueue
  init(_ queue: EventQueue) { self.queue = queue }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    if let response = response as? HTTPURLResponse { queue.append(.response(response)) }
  }
  func connection(_ connection: URLConnection, didReceive data: Data) { queue.append(.data(data)) }
  func connectionDidFinishPart(_ connection: URLConnection) { queue.append(.partFinished) }
  func connection(_ connection: URLConnection, didReceiveTrailers trailers: FieldList) {
    queue.append(.trailers(trailers))
  }
  func connectionDidFinishLoading(_ connection: URLConnection) { queue.end(.success(nil)) }
  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    queue.end(.failure(error))
  }
}
