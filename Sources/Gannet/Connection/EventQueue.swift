import FoundationEssentials
import GannetHTTP
import GannetSockets

/// Events on their way from a load's loop to the task that takes them.
final class EventQueue: Sendable {
  typealias Event = URLConnection.Event
  private typealias Waiter = CheckedContinuation<Result<Event?, ConnectionError>, Never>

  /// Bytes that may wait before reading stops, and how few they are when it goes on.
  static let (highBytes, lowBytes) = (256 * 1024, 64 * 1024)

  private struct State {
    var connection: URLConnection?
    var isStarted = false
    var events = Backlog()
    var isPaused = false
    var waiter: Waiter?
    var end: Result<Event?, ConnectionError>?

    /// An end is told once; after it there is nothing.
    mutating func takeEnd() -> Result<Event?, ConnectionError>? {
      guard let end else { return nil }
      self.end = .success(nil)
      return end
    }

    mutating func takeWaiter() -> Waiter? {
      defer { waiter = nil }
      return waiter
    }
  }

  private let request: URLRequest
  private let configuration: URLConnection.Configuration
  private let state = Guarded(State())

  init(_ request: URLRequest, _ configuration: URLConnection.Configuration) {
    self.request = request
    self.configuration = configuration
  }

  func next() async throws(ConnectionError) -> Event? {
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
    let (connection, waiter, end) = state.withLock { state in
      if state.end == nil || !state.events.isEmpty { state.end = .failure(.cancellation(of: request)) }
      state.events = Backlog()
      let connection = state.connection
      state.connection = nil
      let waiter = state.takeWaiter()
      return (connection, waiter, waiter == nil ? nil : state.takeEnd())
    }
    connection?.cancel()
    if let end { waiter?.resume(returning: end) }
  }

  private func start() throws(ConnectionError) {
    let isFirst = state.withLock { state in
      defer { state.isStarted = true }
      return !state.isStarted && state.end == nil
    }
    guard isFirst else { return }
    do throws(ConnectionError) { _ = try request.loadableAddress() } catch {
      state.withLock { $0.end = .success(nil) }
      throw error
    }
    let connection = URLConnection(
      request: request, delegate: EventDelegate(self), startImmediately: false, configuration: configuration,
      on: URLConnection.asyncHost)
    let isWanted = state.withLock { state in
      guard state.end == nil else { return false }
      state.connection = connection
      return true
    }
    if isWanted { connection?.start() }
  }

  private func wait(_ continuation: Waiter) {
    let ready = state.withLock { state -> Result<Event?, ConnectionError>? in
      guard let event = state.events.popFirst() else {
        if state.end == nil { state.waiter = continuation }
        return state.takeEnd()
      }
      if state.isPaused, state.events.bytes <= EventQueue.lowBytes {
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
      guard state.end == nil else { return nil }
      if let waiter = state.takeWaiter() { return waiter }
      state.events.append(event)
      if state.events.bytes >= EventQueue.highBytes, !state.isPaused {
        state.isPaused = true
        state.connection?.pause()
      }
      return nil
    }
    waiter?.resume(returning: .success(event))
  }

  fileprivate func end(_ end: Result<Event?, ConnectionError>) {
    let (waiter, end) = state.withLock { state in
      if state.end == nil { state.end = end }
      state.connection = nil
      let waiter = state.takeWaiter()
      return (waiter, waiter == nil ? nil : state.takeEnd())
    }
    if let end { waiter?.resume(returning: end) }
  }
}

/// Events that wait, in order, and what they take of the memory allowed.
struct Backlog: Sendable {
  private var events: [URLConnection.Event?] = []
  private var next = 0
  /// The cost of all that wait.
  private(set) var bytes = 0

  var isEmpty: Bool { next == events.count }

  mutating func append(_ event: URLConnection.Event) {
    events.append(event)
    bytes += Backlog.cost(of: event)
  }

  mutating func popFirst() -> URLConnection.Event? {
    guard !isEmpty, let event = events[next] else { return nil }
    events[next] = nil
    next += 1
    bytes -= Backlog.cost(of: event)
    // The slots of what was taken go too, when they are half of all.
    if next * 2 >= events.count {
      events.removeFirst(next)
      next = 0
    }
    return event
  }

  /// An event without data costs something too, so that an endless stream of empty parts is stopped as well.
  private static func cost(of event: URLConnection.Event) -> Int {
    switch event {
    case .data(let data): 64 + data.count
    case .response(let response): 512 + response.fields.byteCount
    case .trailers(let fields): 256 + fields.byteCount
    case .partFinished: 64
    }
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
