/// A server asks for a credential. Answer it by its `sender`, from any thread, now or later; the load waits, its
/// inactivity timer stopped. The first answer counts.
public final class URLAuthenticationChallenge: Sendable {
  /// What the credential is for.
  public let protectionSpace: URLProtectionSpace
  /// The credential tried last in this space, or one to suggest; nil when there is none.
  public let proposedCredential: URLCredential?
  /// How many credentials of this load have been refused here.
  public let previousFailureCount: Int
  /// The response that asked.
  public let failureResponse: URLResponse?
  /// Why the last attempt failed, where an error says it.
  public let error: ConnectionError?
  /// Who takes the answer.
  public let sender: (any URLAuthenticationChallengeSender)?

  /// Makes a challenge.
  public init(
    protectionSpace: URLProtectionSpace, proposedCredential: URLCredential?, previousFailureCount: Int,
    failureResponse: URLResponse?, error: ConnectionError?, sender: (any URLAuthenticationChallengeSender)?
  ) {
    self.protectionSpace = protectionSpace
    self.proposedCredential = proposedCredential
    self.previousFailureCount = previousFailureCount
    self.failureResponse = failureResponse
    self.error = error
    self.sender = sender
  }
}

/// Takes the answer to a challenge. Every method may be called from any thread and returns at once.
public protocol URLAuthenticationChallengeSender: AnyObject, Sendable {
  /// Try this credential; nil is the same as `continueWithoutCredential(for:)`.
  func use(_ credential: URLCredential?, for challenge: URLAuthenticationChallenge)
  /// Go on without one: the response that asked is delivered as it is.
  func continueWithoutCredential(for challenge: URLAuthenticationChallenge)
  /// Give up: `didCancel challenge`, then `didFailWithError` with `userCancelledAuthentication`.
  func cancel(_ challenge: URLAuthenticationChallenge)
  /// Do what happens without a delegate: go on without a credential.
  func performDefaultHandling(for challenge: URLAuthenticationChallenge)
  /// Pass over this protection space and try the next one the server offers; without one, go on without a
  /// credential.
  func rejectProtectionSpaceAndContinue(with challenge: URLAuthenticationChallenge)
}
