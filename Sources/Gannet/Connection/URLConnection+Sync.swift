public import FoundationEssentials
import GannetSockets

extension URLConnection {
  /// Loads a request on the calling thread, which waits, and returns its whole body and its response, whatever its
  /// status. From any thread, that of a loop and inside a callback too: it runs a loop of its own, and no delegate's host
  /// has to turn; what does turn there waits meanwhile. Not from async code.
  ///
  /// - Throws: `unsupportedURL` or `badURL` when the request cannot be loaded, else what `didFailWithError` would
  ///   have said.
  @available(*, noasync)
  public static func sendSynchronousRequest(
    _ request: URLRequest, configuration: Configuration = .default
  ) throws(ConnectionError) -> (Data, HTTPURLResponse) {
    _ = try request.target(configuration)
    let loop: EventLoop
    do throws(SystemError) { loop = try EventLoop() } catch {
      throw ConnectionError(noHost: error, for: request)
    }
    var outcome: Result<(Data, HTTPURLResponse), ConnectionError>?
    let connection = URLConnection(
      request: request, delegate: BodyCollector { outcome = $0.asHTTP }, configuration: configuration,
      on: .loop(loop.handle))
    loop.run()
    loop.shutDown()
    guard let connection else { throw ConnectionError(unloadable: request, configuration) }
    guard let outcome else {
      throw ConnectionError(
        .unknown, phase: .preparing, url: request.safeURLString, reason: "the load ended without an outcome")
    }
    let (data, response) = try withExtendedLifetime(connection) { () throws(ConnectionError) in
      try outcome.get()
    }
    return (data, response)
  }
}
