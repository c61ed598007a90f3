public import FoundationEssentials
import GannetSockets

extension URLConnection {
  /// Loads a request and returns its whole body and its response, whatever its status.
  ///
  /// Of a `multipart/x-mixed-replace` response it is the last part's. Runs on the loop whose turn this is called in,
  /// else on the shared loop. Cancelling the task cancels the load.
  ///
  /// - Throws: `unsupportedURL` or `badURL` when the request cannot be loaded, `cancelled` when the task was
  ///   cancelled, else what `didFailWithError` would have said.
  public static func data(
    for request: URLRequest, configuration: Configuration = .default
  ) async throws(ConnectionError) -> (Data, HTTPURLResponse) {
    _ = try request.loadableAddress()
    let load = OneShotLoad(request, configuration)
    let result = await withTaskCancellationHandler {
      await withCheckedContinuation { load.start($0) }
    } onCancel: {
      load.cancel()
    }
    return try result.get()
  }

  /// Where async loads run: on the loop whose turn this is, else, since no host was chosen for callbacks, on the shared
  /// one.
  static var asyncHost: Host { EventLoop.running == nil ? .shared : .automatic }
}

/// One load behind one continuation, which is resumed exactly once: by the load's end or by cancelling.
private final class OneShotLoad: Sendable {
  typealias Outcome = Result<(Data, HTTPURLResponse), ConnectionError>

  private enum State {
    case created
    case loading(CheckedContinuation<Outcome, Never>, URLConnection?)
    case ended
  }

  private let request: URLRequest
  private let configuration: URLConnection.Configuration
  private let state = Guarded(State.created)

  init(_ request: URLRequest, _ configuration: URLConnection.Configuration) {
    self.request = request
    self.configuration = configuration
  }

  func start(_ continuation: CheckedContinuation<Outcome, Never>) {
    let connection = URLConnection(
      request: request, delegate: BodyCollector { self.end($0) }, startImmediately: false,
      configuration: configuration, on: URLConnection.asyncHost)
    let isStarted = state.withLock { state in
      guard case .created = state else { return false }
      state = .loading(continuation, connection)
      return true
    }
    guard isStarted else { return continuation.resume(returning: .failure(cancellation)) }
    connection?.start()
  }

  func cancel() {
    take { connection in
      connection?.cancel()
      return .failure(cancellation)
    }
  }

  private func end(_ outcome: Outcome) { take { _ in outcome } }

  private func take(_ outcome: (URLConnection?) -> Outcome) {
    let before = state.withLock { state in
      let before = state
      state = .ended
      return before
    }
    guard case .loading(let continuation, let connection) = before else { return }
    continuation.resume(returning: outcome(connection))
  }

  private var cancellation: ConnectionError { .cancellation(of: request) }
}

extension ConnectionError {
  /// The task that waited for a load was cancelled.
  static func cancellation(of request: URLRequest) -> ConnectionError {
    ConnectionError(
      .cancelled, phase: .preparing, url: request.safeURLString, reason: "the task was cancelled")
  }
}
