import FoundationEssentials
import GannetHTTP
import GannetSockets

/// Brings the pieces of a body's sequence from the task that iterates it to the load, and stops the task while enough
/// of them wait.
///
/// The task prefers the load's loop as its executor: no thread is changed for a piece, and a caller that blocks a thread
/// of Swift's pool until its load has ended does not wait for that same thread.
///
/// The loop asks; when it finds nothing it is told, once, that there is something.
final class BodyPump: Sendable {
  /// Bytes that may wait before the sequence is not pulled any more. One piece may go past it.
  static let limitBytes = 256 * 1024

  /// How a sequence ended.
  enum End: Sendable {
    case complete(trailers: FieldList)
    /// It threw.
    case failed(RequestBodyError)
  }

  private struct State {
    var pieces: [Data] = []
    /// How much of the first piece has been taken.
    var taken = 0
    var bytes = 0
    var end: End?
    var isCancelled = false
    /// Whether the loop waits to be told.
    var isAwaited = false
    var waiter: CheckedContinuation<Void, Never>?
    var task: Task<Void, Never>?
    /// Whose body it is, while more is wanted: a sequence that never goes on keeps its task, and is not to keep the load.
    var connection: URLConnection?

    mutating func takeWaiter() -> CheckedContinuation<Void, Never>? {
      defer { waiter = nil }
      return waiter
    }
  }

  private let host: EventLoop.Handle
  private let priority: TaskPriority
  private let state: Guarded<State>

  /// A pump for a load; `host` is its loop's handle. Nothing is made yet.
  init(for connection: URLConnection, on host: EventLoop.Handle) {
    self.host = host
    priority = connection.bodyPriority
    state = Guarded(State(connection: connection))
  }

  /// Makes the stream's sequence and begins to iterate it, in a task of its own.
  func start(_ stream: BodyStream) {
    let task = Task(executorPreference: host, priority: priority) { [self] in
      do {
        try await stream.feed { await self.take($0) }
        let trailers = try await stream.computesTrailers?() ?? stream.trailers
        end(.complete(trailers: trailers))
      } catch let error as RequestBodyError {
        end(.failed(error))
      } catch {
        end(.failed(.failed("\(error)")))
      }
    }
    let isLate = state.withLock { state in
      state.task = task
      return state.isCancelled
    }
    if isLate { task.cancel() }
  }

  /// Nothing more is wanted: ends the task, and lets go of what waits.
  func cancel() {
    let (task, waiter, connection) = state.withLock { state in
      defer { state.connection = nil }
      state.isCancelled = true
      state.pieces = []
      state.bytes = 0
      state.isAwaited = false
      let task = state.task
      state.task = nil
      return (task, state.takeWaiter(), state.connection)
    }
    task?.cancel()
    waiter?.resume()
    withExtendedLifetime(connection) {}
  }

  // MARK: The task's side

  /// Takes a piece, and waits while enough of them are there; false when no more is wanted.
  private func take(_ piece: Data) async -> Bool {
    if !piece.isEmpty {
      let isAwaited = state.withLock { state in
        guard !state.isCancelled else { return false }
        state.pieces.append(piece)
        state.bytes += piece.count
        defer { state.isAwaited = false }
        return state.isAwaited
      }
      if isAwaited { tell() }
    }
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let mustWait = state.withLock { state in
        guard !state.isCancelled, state.bytes >= BodyPump.limitBytes else { return false }
        state.waiter = continuation
        return true
      }
      if !mustWait { continuation.resume() }
    }
    return state.withLock { !$0.isCancelled }
  }

  private func end(_ end: End) {
    let isAwaited = state.withLock { state in
      state.end = end
      state.task = nil
      defer { state.isAwaited = false }
      return state.isAwaited && !state.isCancelled
    }
    if isAwaited { tell() }
  }

  private func tell() {
    guard let connection = state.withLock({ $0.connection }) else { return }
    host.post { loop in LoopClient.of(loop).load(of: connection)?.bodyHasMore() }
  }

  // MARK: The loop's side

  /// What the loop finds.
  enum Finding: Sendable {
    /// So many bytes were appended.
    case bytes(Int)
    /// Nothing yet; the load is told when there is something.
    case nothingYet
    /// There was nothing more.
    case ended(End)
  }

  /// Appends what waits, at most so many bytes.
  func take(_ maximum: Int, appendingTo buffer: inout [UInt8]) -> Finding {
    // Taken out, so that bytes are copied without the lock.
    var (pieces, taken) = state.withLock { state in
      let pieces = state.pieces
      state.pieces = []
      return (pieces, state.taken)
    }
    var count = 0
    var used = 0
    while used < pieces.count, count < maximum {
      let piece = pieces[used]
      let part = min(piece.count - taken, maximum - count)
      buffer.append(copying: piece.span.extracting(taken..<taken + part))
      count += part
      taken += part
      guard taken == piece.count else { break }
      taken = 0
      used += 1
    }
    pieces.removeFirst(used)
    let (rest, offset, copied) = (pieces, taken, count)
    let (finding, waiter) = state.withLock { state -> (Finding, CheckedContinuation<Void, Never>?) in
      state.pieces = rest + state.pieces
      state.taken = offset
      state.bytes = max(0, state.bytes - copied)
      let waiter = state.bytes < BodyPump.limitBytes ? state.takeWaiter() : nil
      if copied > 0 { return (.bytes(copied), waiter) }
      // What came while the lock was open is for the next call.
      if !state.pieces.isEmpty { return (.bytes(0), waiter) }
      if let end = state.end { return (.ended(end), waiter) }
      state.isAwaited = true
      return (.nothingYet, waiter)
    }
    waiter?.resume()
    return finding
  }
}
