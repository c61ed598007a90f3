/// What a download's delegate may answer (Apple's `NSURLDownloadDelegate`). Each method has a default, and each is called
/// on the host of the download and nowhere else.
///
/// The order: `downloadDidBegin`; any number of `willSend request` and challenges; `didReceive response`;
/// `decideDestinationWithSuggestedFilename`, unless the destination is known; `didCreateDestination`;
/// `didReceiveDataOfLength`, any number; then one of `downloadDidFinish` and `didFailWithError`.
public protocol URLDownloadDelegate: AnyObject {
  /// The download has begun.
  func downloadDidBegin(_ download: URLDownload)

  /// The request is about to change, as of `URLConnectionDataDelegate`: return it, another one, or nil to refuse.
  func download(_ download: URLDownload, willSend request: URLRequest, redirectResponse: URLResponse?)
    -> URLRequest?

  /// Whether credentials are looked for in `URLCredentialStorage` before the delegate is asked. Default true.
  func downloadShouldUseCredentialStorage(_ download: URLDownload) -> Bool

  /// Whether the delegate can answer for this protection space. Default true.
  func download(_ download: URLDownload, canAuthenticateAgainst protectionSpace: URLProtectionSpace) -> Bool

  /// A challenge to answer by its sender, now or later. By default the load goes on without a credential.
  func download(_ download: URLDownload, didReceive challenge: URLAuthenticationChallenge)

  /// The challenge was cancelled; `didFailWithError` follows.
  func download(_ download: URLDownload, didCancel challenge: URLAuthenticationChallenge)

  /// The response's head came.
  func download(_ download: URLDownload, didReceive response: URLResponse)

  /// The file is about to be created, and nobody has said where: call `setDestination(_:allowOverwrite:)`, now or never.
  /// The name is what the response suggests: never empty, and without a `/`, a control character, or a dot or combining
  /// mark at its start.
  func download(_ download: URLDownload, decideDestinationWithSuggestedFilename filename: String)

  /// The file was created; this is the path that it has once it is whole, a number in its name if one had to be added.
  func download(_ download: URLDownload, didCreateDestination path: String)

  /// So many bytes more are in the file.
  func download(_ download: URLDownload, didReceiveDataOfLength length: Int)

  /// Whether the body's content coding is undone: `application/x-gzip` or `application/x-deflate` for the codings of these
  /// names, else the coding's own name after `application/`. Not called for a body without one, or with one that Gannet
  /// cannot undo. Default true.
  func download(_ download: URLDownload, shouldDecodeSourceDataOfMIMEType encodingType: String) -> Bool

  /// The file is whole, and where it belongs. Nothing comes after it.
  func downloadDidFinish(_ download: URLDownload)

  /// The download failed. Nothing comes after it.
  func download(_ download: URLDownload, didFailWithError error: ConnectionError)
}

extension URLDownloadDelegate {
  /// Of a delegate without this method: nothing.
  public func downloadDidBegin(_ download: URLDownload) {}
  /// Of a delegate without this method: every change is made, every redirect followed.
  public func download(
    _ download: URLDownload, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? { request }
  /// Of a delegate without this method: true.
  public func downloadShouldUseCredentialStorage(_ download: URLDownload) -> Bool { true }
  /// Of a delegate without this method: true.
  public func download(
    _ download: URLDownload, canAuthenticateAgainst protectionSpace: URLProtectionSpace
  ) -> Bool { true }
  /// Of a delegate without this method: the load goes on without a credential.
  public func download(_ download: URLDownload, didReceive challenge: URLAuthenticationChallenge) {
    challenge.sender?.continueWithoutCredential(for: challenge)
  }
  /// Of a delegate without this method: nothing.
  public func download(_ download: URLDownload, didCancel challenge: URLAuthenticationChallenge) {}
  /// Of a delegate without this method: nothing.
  public func download(_ download: URLDownload, didReceive response: URLResponse) {}
  /// Of a delegate without this method: the file is one for temporary files.
  public func download(_ download: URLDownload, decideDestinationWithSuggestedFilename filename: String) {}
  /// Of a delegate without this method: nothing.
  public func download(_ download: URLDownload, didCreateDestination path: String) {}
  /// Of a delegate without this method: nothing.
  public func download(_ download: URLDownload, didReceiveDataOfLength length: Int) {}
  /// Of a delegate without this method: true.
  public func download(
    _ download: URLDownload, shouldDecodeSourceDataOfMIMEType encodingType: String
  ) -> Bool { true }
  /// Of a delegate without this method: nothing.
  public func downloadDidFinish(_ download: URLDownload) {}
  /// Of a delegate without this method: nothing.
  public func download(_ download: URLDownload, didFailWithError error: ConnectionError) {}
}
