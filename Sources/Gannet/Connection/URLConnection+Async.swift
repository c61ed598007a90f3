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
    _ = try request.target(configuration)
    let load = OneShotLoad<(Data, HTTPURLResponse)>(request, configuration) { end in
      BodyCollector { outcome in end { outcome.asHTTP } }
    }
    return try await load.value
  }

  /// Sends these bytes as the request's body, in place of the one it has, and returns the whole body of the response
  /// and the response, whatever its status. The method is the request's: `GET` unless it was set.
  ///
  /// - Throws: as `data(for:)`.
  public static func upload(
    for request: URLRequest, from bytes: Data, configuration: Configuration = .default
  ) async throws(ConnectionError) -> (Data, HTTPURLResponse) {
    var request = request
    request.body = .data(bytes)
    return try await data(for: request, configuration: configuration)
  }

  /// Sends a file as the request's body, piece by piece (`URLRequest.Body.file`), in place of the one it has, and returns
  /// the whole body of the response and the response, whatever its status. The method is the request's: `GET` unless it
  /// was set.
  ///
  /// - Throws: `fileDoesNotExist`, `fileIsDirectory`, `noPermissionsToReadFile` or `cannotOpenFile` before anything is
  ///   sent, the last one also for a URL that is no file's; else as `data(for:)`.
  public static func upload(
    for request: URLRequest, fromFile file: URL, configuration: Configuration = .default
  ) async throws(ConnectionError) -> (Data, HTTPURLResponse) {
    guard file.isFileURL else {
      throw ConnectionError(
        .cannotOpenFile, phase: .preparing, url: request.safeURLString,
        reason: "what is to be sent, \(file.absoluteString), is no file")
    }
    var request = request
    request.body = .file(file.path(percentEncoded: false))
    return try await data(for: request, configuration: configuration)
  }

  /// Where async loads run: on the loop whose turn this is, else, since no host was chosen for callbacks, on the shared
  /// one.
  static var asyncHost: Host { EventLoop.running == nil ? .shared : .automatic }
}
