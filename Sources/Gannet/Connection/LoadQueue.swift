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
    /// The one being loaded, or that was last.
    var request: URLRequest
    var connection: URLConnection?
    var isStarted = false
    /// The end is on its way from the host.
    var isCancelled = false
    var waiting: Waiting
    var isPaused = false
    /// More than one only where the tasks that take share a sequence.
    var waiters: [Waiter] = []
    var end: Result<Element?, ConnectionError>?

    /// All who wait, with the end that each of them is told. Whoever asks later is told the same: of tasks that share a
    /// sequence none is to take a body that was cut short for a whole one.
    mutating func takeWaiters() -> (waiters: [Waiter], end: Result<Element?, ConnectionError>)? {
      guard !waiters.isEmpty, let end else { return nil }
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
    state = Guarded(State(request: request, waiting: waiting))
  }

  func next() async throws(ConnectionError) -> Element? {
    if Task.isCancelled { cancel() }
    start()
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { wait($0) }
    } onCancel: {
      cancel()
    }
    return try result.get()
  }

  /// As `next()`, for one iterator: it is told the end once, and gets nothing after it.
  func next(until isOver: inout Bool) async throws(ConnectionError) -> Element? {
    guard !isOver else { return nil }
    do throws(ConnectionError) {
      let element = try await next()
      if case nil = element { isOver = true }
      return element
    } catch {
      isOver = true
      throw error
    }
  }

  /// Ends the load and lets go of what has not been taken; whoever waits is told.
  func cancel() {
    var asked: URLConnection?
    tell { state in
      guard !state.isCancelled else { return }
      if let connection = state.connection {
        (asked, state.connection, state.isCancelled) = (connection, nil, true)
      } else if state.end == nil {
        state.end = .failure(ConnectionError(cancelled: state.request, in: .preparing))
      } else if !state.waiting.isEmpty {
        state.end = .failure(ConnectionError(cancelled: state.request, in: .receiving))
      }
      state.waiting.removeAll()
    }
    asked?.cancel { [self] error in tell { $0.end = .failure(error) } }
  }

  /// Begins the load, unless that was done; whoever waits is told where it cannot be.
  private func start() {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && state.end == nil
    }
    guard isFirst else { return }
    do throws(ConnectionError) { _ = try request.target(configuration) } catch {
      return end(.failure(error))
    }
    guard
      let connection = URLConnection(
        request: request, delegate: makeDelegate(self), startImmediately: false, configuration: configuration,
        on: URLConnection.asyncHost)
    else {
      return end(.failure(ConnectionError(unloadable: request, configuration)))
    }
    let isWanted = state.withLock { state in
      guard state.end == nil else { return false }
      state.connection = connection
      return true
    }
    if isWanted { connection.start() }
  }

  private func wait(_ continuation: Waiter) {
    let ready = state.withLock { state -> Result<Element?, ConnectionError>? in
      guard let element = state.waiting.popFirst() else {
        if state.end == nil { state.waiters.append(continuation) }
        return state.end
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
      guard state.end == nil, !state.isCancelled else { return nil }
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

  /// The load has ended. What a cancelled one says is not heard: its host tells what it was doing.
  func end(_ end: Result<Element?, ConnectionError>) {
    tell { state in
      guard !state.isCancelled else { return }
      if state.end == nil { state.end = end }
      if let connection = state.connection { state.request = connection.currentRequest }
      state.connection = nil
    }
  }

  private func tell(_ noteEnd: (inout State) -> Void) {
    let ended = state.withLock { state in
      noteEnd(&state)
      return state.takeWaiters()
    }
    if let ended { for waiter in ended.waiters { waiter.resume(returning: ended.end) } }
  }
}
