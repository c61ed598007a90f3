public import Dispatch
public import FoundationEssentials
import GannetSockets

extension URLConnection {
  /// Loads a request and calls the handler on the queue, once, with what came: the response and the whole body, or the
  /// error (Apple's `sendAsynchronousRequest(_:queue:completionHandler:)`, which takes an `OperationQueue`:
  /// `GannetFoundation` has that). Where both are there, `.main` is the operation queue.
  ///
  /// The load runs on the shared loop, so a queue that is busy does not hold it up. The response is given whatever its
  /// status. A request that cannot be loaded is told to the handler as well (`unsupportedURL`, `badURL`), never from
  /// inside this call.
  @_disfavoredOverload
  public static func sendAsynchronousRequest(
    _ request: URLRequest, queue: DispatchQueue, configuration: Configuration = .default,
    completionHandler: @escaping @Sendable (URLResponse?, Data?, ConnectionError?) -> Void
  ) {
    load(request, configuration) { outcome in
      queue.async { outcome.tell(completionHandler) }
    }
  }

  /// Loads a request on the shared loop, which calls the completion once.
  package static func load(
    _ request: URLRequest, _ configuration: Configuration,
    _ completion: @escaping @Sendable (LoadOutcome) -> Void
  ) {
    do throws(ConnectionError) { _ = try request.target(configuration) } catch {
      return completion(.failure(error))
    }
    let connection = URLConnection(
      request: request, delegate: BodyCollector(completion), configuration: configuration, on: .shared)
    // A protocol class may have gone meanwhile.
    if connection == nil { completion(.failure(ConnectionError(unloadable: request, configuration))) }
  }
}

extension LoadOutcome {
  /// Calls a handler in Cocoa's manner, with what there is.
  package func tell(_ handler: (URLResponse?, Data?, ConnectionError?) -> Void) {
    switch self {
    case .success((let data, let response)): handler(response, data, nil)
    case .failure(let error): handler(nil, nil, error)
    }
  }
}
