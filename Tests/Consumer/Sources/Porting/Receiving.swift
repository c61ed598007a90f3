import Foundation
import Gannet

/// Listings 1 to 5: a client that gathers what it receives.
class Receiving: URLConnectionDataDelegate {
  var receivedData = Data()

  /// Listing 1. Nil, as from `initWithRequest:delegate:`, when the request cannot be loaded.
  @discardableResult
  func load(_ text: String) -> URLConnection? {
    guard let url = URL(string: text) else { return nil }
    let request = URLRequest(url: url, cachePolicy: .useProtocolCachePolicy, timeoutInterval: 60)
    return URLConnection(request: request, delegate: self)
  }

  /// Listing 2. It may come more than once: what was received before is then replaced.
  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    receivedData.removeAll()
  }

  /// Listing 3.
  func connection(_ connection: URLConnection, didReceive data: Data) {
    receivedData.append(data)
  }

  /// Listing 4. Nothing is to be released: the connection lets go of itself and of its delegate.
  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    let error = error as NSError
    let url = error.userInfo["NSErrorFailingURLStringKey"] ?? "?"
    print("Connection failed! Error - \(error.localizedDescription) \(url)")
  }

  /// Listing 5.
  func connectionDidFinishLoading(_ connection: URLConnection) {
    print("Succeeded! Received \(receivedData.count) bytes of data")
  }

  // A method that only a subclass has is not called (docs/PORTING.md): so those that the listings add stand here, as
  // the defaults they are, to be overridden.

  func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? { request }

  func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
    challenge.sender?.continueWithoutCredential(for: challenge)
  }

  func connection(
    _ connection: URLConnection, willCacheResponse cachedResponse: CachedURLResponse
  ) -> CachedURLResponse? { cachedResponse }
}
