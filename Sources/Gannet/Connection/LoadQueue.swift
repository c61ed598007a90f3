import GannetSockets

/// What waits between a load's loop and the task that takes it, in order.
protocol Backlog: Sendable {
  associatedtype Element: Sendable
  /// What all that waits takes of the memory allowed before reading stops.
  var bytes: Int { get }
  var isEmpty: Bool { get }
  mutating func append(_ element: Element)
  mutating func popFirst() -> Element?
  mutating func removeAll()
}

/// What a load gives on its way from its loop to the task that takes it.
final class LoadQueue<Waiting: Backlog>: Sendable {
  typealias Element = Waiting.Element
  private typealias Waiter = CheckedContinuation<Result<Element?, ConnectionError>, Never>

  /// Bytes that may wait before reading stops, and how few they are when it goes on.
  private static var highBytes: Int { 256 * 1024 }
  private static var lowBytes: Int { 64 * 1024 }

  private struct State {
    var connection: URLConnection?
    var isStarted = false
    var waiting: Waiting
    var isPaused = false
    /// More than one only where the tasks that take share a sequence.
    var waiters: [Waiter] = []
    var end: Result<Element?, ConnectionError>?

    /// An end is told once; after it there is nothing.
    mutating func takeEnd() -> Result<Element?, ConnectionError>? {
      guard let end else { return nil }
      self.end = .success(nil)
      return end
    }

    /// All who wait, with the end that each of them is told.
    mutating func takeWaiters() -> (waiters: [Waiter], end: Result<Element?, ConnectionError>)? {
      guard !waiters.isEmpty, let end = takeEnd() else { return nil }
      defer { waiters = [] }
      return (waiters, end)
    }
  }

  private let request: URLRequest
  private let configuration: URLConnection.Configuration
  private let state: Guarded<State>
  private let makeDelegate: @Sendable (LoadQueue) -> any URLConnectionDelegate

  /// A queue of one load, which begins with the first `next()`; what `makeDelegate` makes is its delegate, and appends
  /// to the queue. `waiting` is empty.
  init(
    _ request: URLRequest, _ configuration: URLConnection.Configuration, _ waiting: Waiting,
    _ makeDelegate: @escaping @Sendable (LoadQueue) -> any URLConnectionDelegate
  ) {
    self.request = request
    self.configuration = configuration
    self.makeDelegate = makeDelegate
    state = Guarded(State(waiting: waiting))
  }

  func next() async throws(ConnectionError) -> Element? {
    if Task.isCancelled { cancel() }
    try start()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { wait($0) }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// Ends the load and lets go of what has not been taken; whoever waits is told.
  func cancel() {
    let (connection, ended) = state.withLock { state in
      if state.end == nil || !state.waiting.isEmpty { state.end = .failure(.cancellation(of: request)) }
      state.waiting.removeAll()
      let connection = state.connection
      state.connection = nil
      return (connection, state.takeWaiters())
    }
    connection?.cancel()
    if let ended { for waiter in ended.waiters { waiter.resume(returning: ended.end) } }
  }

  private func start() throws(ConnectionError) {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && state.end == nil
    }
    guard isFirst else { return }
    do throws(ConnectionError) { _ = try request.target(configuration) } catch {
      state.withLock { $0.end = .success(nil) }
      throw error
    }
    let connection = URLConnection(
      request: request, delegate: makeDelegate(self), startImmediately: false, configuration: configuration,
      on: URLConnection.asyncHost)
    let isWanted = state.withLock { state in
      guard state.end == nil else { return false }
      state.connection = connection
      return true
    }
    if isWanted { connection?.start() }
  }

  private func wait(_ continuation: Waiter) {
    let ready = state.withLock { state -> Result<Element?, ConnectionError>? in
      guard let element = state.waiting.popFirst() else {
        if state.end == nil { state.waiters.append(continuation) }
        return state.takeEnd()
      }
      if state.isPaused, state.waiting.bytes <= LoadQueue.lowBytes {
        state.isPaused = false
        // Under the lock, as `pause()` is, so that the two keep their order; neither waits.
        state.connection?.resume()
      }
      return .success(element)
    }
    if let ready { continuation.resume(returning: ready) }
  }

  func append(_ element: Element) {
    let waiter = state.withLock { state -> Waiter? in
      guard state.end == nil else { return nil }
      if !state.waiters.isEmpty { return state.waiters.removeFirst() }
      state.waiting.append(element)
      if state.waiting.bytes >= LoadQueue.highBytes, !state.isPaused {
        state.isPaused = true
        state.connection?.pause()
      }
      return nil
    }
    waiter?.resume(returning: .success(element))
  }

  func end(_ end: Result<Element?, ConnectionError>) {
    let ended = state.withLock { state in
      if state.end == nil { state.end = end }
      state.connection = nil
      return state.takeWaiters()
    }
    if let ended { for waiter in ended.waiters { waiter.resume(returning: ended.end) } }
  }
}
