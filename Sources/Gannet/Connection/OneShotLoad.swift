import GannetSockets

/// One load behind one continuation, which is resumed exactly once: by the load's end or by cancelling.
final class OneShotLoad<Output: Sendable>: Sendable {
  typealias Outcome = Result<Output, ConnectionError>
  /// Takes what makes the outcome; it is called only where that outcome is the one.
  typealias Completion = (() -> Outcome) -> Void

  private enum State {
    case created
    case loading(CheckedContinuation<Outcome, Never>, URLConnection)
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
    guard
      let connection = URLConnection(
        request: request, delegate: makeDelegate { outcome in self.end(outcome) },
        startImmediately: false, configuration: configuration, on: URLConnection.asyncHost)
    else {
      onCancel()
      return continuation.resume(returning: .failure(ConnectionError(unloadable: request, configuration)))
    }
    let isStarted = state.withLock { state in
      guard case .created = state else { return false }
      state = .loading(continuation, connection)
      return true
    }
    guard isStarted else {
      onCancel()
      return continuation.resume(returning: .failure(ConnectionError(cancelled: request, in: .preparing)))
    }
    connection.start()
  }

  private func end(_ outcome: () -> Outcome) {
    if let (continuation, _) = take() { continuation.resume(returning: outcome()) }
  }

  private func cancel() {
    guard let (continuation, connection) = take() else { return }
    connection.cancel { [onCancel] error in
      onCancel()
      continuation.resume(returning: .failure(error))
    }
  }

  private func take() -> (CheckedContinuation<Outcome, Never>, URLConnection)? {
    state.withLock { state in
      let before = state
      state = .ended
      guard case .loading(let continuation, let connection) = before else { return nil }
      return (continuation, connection)
    }
  }
}

extension ConnectionError {
  /// The task that waited for a load was cancelled.
  init(cancelled request: URLRequest, in phase: Phase) {
    self.init(.cancelled, phase: phase, url: request.safeURLString, reason: "the task was cancelled")
  }

  /// What a request could be loaded with has gone since it was looked at: a protocol class was unregistered.
  init(unloadable request: URLRequest, _ configuration: URLConnection.Configuration) {
    do throws(ConnectionError) { _ = try request.target(configuration) } catch {
      self = error
      return
    }
    self.init(
      .unsupportedURL, phase: .preparing, url: request.safeURLString,
      reason: "the protocol class that took the request was unregistered")
  }
}
