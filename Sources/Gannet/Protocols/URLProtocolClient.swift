public import FoundationEssentials

/// Whom a `URLProtocol` tells what comes (Apple's `URLProtocolClient`): the load. Every method may be called from any
/// thread and returns at once; what is told comes to the delegate on the load's host, in the order of the calls.
public protocol URLProtocolClient: AnyObject, Sendable {
  /// The answer is to be had by another request. The delegate is asked (`willSend`), and what it answers begins again:
  /// with a protocol class, or on the network; never with a `file` or `data` URL, unless a class of yours takes it. This
  /// protocol is stopped. Where the delegate refuses, the redirect's response is delivered without a body, or the load
  /// fails, as `Configuration.refusedRedirect` says.
  func urlProtocol(
    _ urlProtocol: URLProtocol, wasRedirectedTo request: URLRequest, redirectResponse: URLResponse)

  /// A response. One that follows another replaces it.
  func urlProtocol(_ urlProtocol: URLProtocol, didReceive response: URLResponse)

  /// More of the body, as the delegate is to have it: it is not decoded.
  func urlProtocol(_ urlProtocol: URLProtocol, didLoad data: Data)

  /// The answer is complete.
  func urlProtocolDidFinishLoading(_ urlProtocol: URLProtocol)

  /// The load fails. A `ConnectionError` is told as it is, an error of `NSURLErrorDomain` with its code, any other as
  /// `unknown` with its words.
  func urlProtocol(_ urlProtocol: URLProtocol, didFailWithError error: any Error)

  /// A challenge for the delegate (`willSendRequestFor challenge`), which answers the challenge's own `sender`. Without a
  /// delegate it gets default handling.
  func urlProtocol(_ urlProtocol: URLProtocol, didReceive challenge: URLAuthenticationChallenge)

  /// The challenge was cancelled. The protocol then says how the load goes on.
  func urlProtocol(_ urlProtocol: URLProtocol, didCancel challenge: URLAuthenticationChallenge)
}
