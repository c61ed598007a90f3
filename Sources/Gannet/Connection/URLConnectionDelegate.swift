public import FoundationEssentials
public import GannetHTTP

/// What every delegate of a connection may answer. Each method has a default, and each is called on the host the
/// connection is scheduled on and nowhere else (Apple's `NSURLConnectionDelegate`).
///
/// Not `Sendable`, so a class of the main actor can conform; it then belongs on a host of the main thread.
public protocol URLConnectionDelegate: AnyObject {
  /// The load failed. Nothing comes after it.
  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError)

  /// Whether credentials are looked for in `URLCredentialStorage` before the delegate is asked. Default true.
  func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool

  /// The engine calls this one for every challenge. By default it asks `canAuthenticateAgainst` and then calls
  /// `didReceive challenge`, or handles the challenge as without a delegate.
  func connection(_ connection: URLConnection, willSendRequestFor challenge: URLAuthenticationChallenge)

  /// Whether the delegate can answer for this protection space. Default true for HTTP authentication.
  func connection(_ connection: URLConnection, canAuthenticateAgainst protectionSpace: URLProtectionSpace)
    -> Bool

  /// A challenge to answer by its sender, now or later. By default the load goes on without a credential.
  func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge)

  /// The challenge was cancelled; `didFailWithError` follows.
  func connection(_ connection: URLConnection, didCancel challenge: URLAuthenticationChallenge)
}

/// What a delegate that takes the data may answer besides (Apple's `NSURLConnectionDataDelegate`).
///
/// The order: any number of `willSend request` and challenges, then `didReceive response`, then `didReceive data`,
/// any number; then one of `connectionDidFinishLoading` and `didFailWithError`. `didReceive response` may come again:
/// what came before is then replaced.
public protocol URLConnectionDataDelegate: URLConnectionDelegate {
  /// The request is about to change: to its canonical form (`redirectResponse` is nil) or by a redirect. Return the
  /// request given to go on, another one to load that, or nil to refuse: a refused redirect is then delivered itself,
  /// or fails where the configuration says so, and a refused canonical step fails. `cancel()` may be called here.
  func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest?

  /// An interim response (1xx) came. Not in Cocoa.
  func connection(_ connection: URLConnection, didReceiveInformational response: HTTPURLResponse)

  /// A response's head came, or that of the next part of a `multipart/x-mixed-replace` stream.
  func connection(_ connection: URLConnection, didReceive response: URLResponse)

  /// More of the body came, decoded.
  func connection(_ connection: URLConnection, didReceive data: Data)

  /// The current part of a multipart stream is known to be complete: with its last byte where its length can be believed
  /// or it is a JPEG picture, else with its delimiter. Told once for each complete part. More data of the part may
  /// follow: what some servers send after a picture's end. Not in Cocoa.
  func connectionDidFinishPart(_ connection: URLConnection)

  /// Trailer fields came after a chunked body (RFC 9110 section 6.5). Not in Cocoa.
  func connection(_ connection: URLConnection, didReceiveTrailers trailers: FieldList)

  /// The whole response is here and is about to be stored in the configuration's cache; the end of the load follows.
  /// Return the response given, another one (with other `userInfo`, say) to store that, or nil to store nothing. Not
  /// called for a response that would not be stored: HTTP forbids it, it is of no use later, or it is too large.
  func connection(
    _ connection: URLConnection, willCacheResponse cachedResponse: CachedURLResponse
  ) -> CachedURLResponse?

  /// The request's body is a stream, has been sent before, at least in part, and has to be sent again: after a
  /// challenge, a redirect that keeps it, a connection that was found dead, or a refused expectation. Return the body
  /// to send, or nil to fail the load with `requestBodyStreamExhausted`. Bodies that are data or files are not asked
  /// about. (Cocoa's method of this name returns an `NSInputStream`.)
  func connection(_ connection: URLConnection, needNewBodyStream request: URLRequest) -> URLRequest.Body?

  /// Bytes of the request's body were handed to the system: how many now, how many in all, how many there are, or -1
  /// when that is not known. A body that is sent again is counted anew.
  func connection(
    _ connection: URLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
    totalBytesExpectedToWrite: Int)

  /// What the load did on the network, just before its terminal callback; when `Configuration.collectsMetrics` says so.
  /// Not in Cocoa's `NSURLConnection`.
  func connection(_ connection: URLConnection, didFinishCollecting metrics: URLConnectionMetrics)

  /// The load is complete. Nothing comes after it.
  func connectionDidFinishLoading(_ connection: URLConnection)
}

extension URLConnectionDelegate {
  /// Of a delegate without this method: nothing.
  public func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {}
  /// Of a delegate without this method: true.
  public func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool { true }
  /// Of a delegate without this method: the two methods it stands for are called; a space that is not taken gets
  /// default handling.
  public func connection(
    _ connection: URLConnection, willSendRequestFor challenge: URLAuthenticationChallenge
  ) {
    if self.connection(connection, canAuthenticateAgainst: challenge.protectionSpace) {
      self.connection(connection, didReceive: challenge)
    } else {
      challenge.sender?.performDefaultHandling(for: challenge)
    }
  }
  /// Of a delegate without this method: true.
  public func connection(
    _ connection: URLConnection, canAuthenticateAgainst protectionSpace: URLProtectionSpace
  ) -> Bool { true }
  /// Of a delegate without this method: the load goes on without a credential.
  public func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
    challenge.sender?.continueWithoutCredential(for: challenge)
  }
  /// Of a delegate without this method: nothing.
  public func connection(_ connection: URLConnection, didCancel challenge: URLAuthenticationChallenge) {}
}

extension URLConnectionDataDelegate {
  /// Of a delegate without this method: every change is made, every redirect followed.
  public func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? { request }
  /// Of a delegate without this method: nothing.
  public func connection(_ connection: URLConnection, didReceiveInformational response: HTTPURLResponse) {}
  /// Of a delegate without this method: nothing.
  public func connection(_ connection: URLConnection, didReceive response: URLResponse) {}
  /// Of a delegate without this method: nothing.
  public func connection(_ connection: URLConnection, didReceive data: Data) {}
  /// Of a delegate without this method: nothing.
  public func connectionDidFinishPart(_ connection: URLConnection) {}
  /// Of a delegate without this method: nothing.
  public func connection(_ connection: URLConnection, didReceiveTrailers trailers: FieldList) {}
  /// Of a delegate without this method: the response is stored.
  public func connection(
    _ connection: URLConnection, willCacheResponse cachedResponse: CachedURLResponse
  ) -> CachedURLResponse? { cachedResponse }
  /// Of a delegate without this method: the request's own body, whose stream is made anew.
  public func connection(
    _ connection: URLConnection, needNewBodyStream request: URLRequest
  ) -> URLRequest.Body? { request.body }
  /// Of a delegate without this method: nothing.
  public func connection(
    _ connection: URLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
    totalBytesExpectedToWrite: Int
  ) {}
  /// Of a delegate without this method: nothing.
  public func connection(_ connection: URLConnection, didFinishCollecting metrics: URLConnectionMetrics) {}
  /// Of a delegate without this method: nothing.
  public func connectionDidFinishLoading(_ connection: URLConnection) {}
}
