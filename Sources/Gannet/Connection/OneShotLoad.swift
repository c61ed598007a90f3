import GannetSockets

/// One load behind one continuation, which is resumed exactly once: by the load's end or by cancelling.
final class OneShotLoad<Output: Sendable>: Sendable {
  typealias Outcome = Result<Output, ConnectionError>
  /// Takes what makes the outcome; it is called only where that outcome is the one.
  typealias Completion = (() -> Outcome) -> Void

  private enum State {
    case created
    case loading(CheckedContinuation<Outcome, Never>, URLConnection?)
    case ended
  }

  private let request: URLRequest
  private let configuration: URLConnection.Configuration
  private let makeDelegate: @Sendable (@escaping Completion) -> any URLConnectionDelegate
  private let onCancel: @Sendable () -> Void
  private let state = Guarded(State.created)

  /// - Parameters:
  ///   - makeDelegate: makes the delegate, which completes once.
  ///   - onCancel: called when the load is cancelled, before the caller is told.
  init(
    _ request: URLRequest, _ configuration: URLConnection.Configuration,
    makeDelegate: @escaping @Sendable (@escaping Completion) -> any URLConnectionDelegate,
    onCancel: @escaping @Sendable () -> Void = {}
  ) {
    self.request = request
    self.configuration = configuration
    self.makeDelegate = makeDelegate
    self.onCancel = onCancel
  }

  /// Loads, and waits for the end. Asked for once.
  var value: Output {
    get async throws(ConnectionError) {
      let outcome = await withTaskCancellationHandler {
        await withCheckedContinuation { start($0) }
      } onCancel: {
        cancel()
      }
      return try outcome.get()
    }
  }

  private func start(_ continuation: CheckedContinuation<Outcome, Never>) {
    let connection = URLConnection(
      request: request, delegate: makeDelegate { outcome in self.take { _ in outcome() } },
      startImmediately: false, configuration: configuration, on: URLConnection.asyncHost)
    let isStarted = state.withLock { state in
      guard case .created = state else { return false }
      state = .loading(continuation, connection)
      return true
    }
    guard isStarted else {
      onCancel()
      return continuation.resume(returning: .failure(.cancellation(of: request)))
    }
    connection?.start()
  }

  private func cancel() {
    take { connection in
      connection?.cancel()
      onCancel()
      return .failure(.cancellation(of: request))
    }
  }

  private func take(_ outcome: (URLConnection?) -> Outcome) {
    let before = state.withLock { state in
      let before = state
      state = .ended
      return before
    }
    guard case .loading(let continuation, let connection) = before else { return }
    continuation.resume(returning: outcome(connection))
  }
}

extension ConnectionError {
  /// The task that waited for a load was cancelled.
  static func cancellation(of request: URLRequest) -> ConnectionError {
    ConnectionError(
      .cancelled, phase: .preparing, url: request.safeURLString, reason: "the task was cancelled")
  }
}
