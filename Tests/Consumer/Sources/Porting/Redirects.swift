import Gannet

/// Listing 6 (in the later document, listing 1): allows canonical changes and denies every redirect of the server, whose
/// answer is then received itself.
final class DenyingRedirects: Receiving {
  override func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? {
    redirectResponse == nil ? request : nil
  }
}
