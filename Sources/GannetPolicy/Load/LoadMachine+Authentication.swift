import GannetHTTP

extension LoadMachine {
  /// Takes in what a final response says about the credentials. True when it is a challenge that is being answered:
  /// by the URL's credential, the stored one, or the delegate's, in this order.
  mutating func challenged(by head: ResponseHead, into actions: inout [Action]) -> Bool {
    guard head.status == 401 || authorization != nil else { return false }
    var sent = request.fields
    if let authorization { sent.set(authorization, for: "Authorization") }
    let decision = authentication.receivedResponse(
      status: head.status, fields: head.fields, to: sent, url: request.url)
    guard case .challenge(let space, let failures) = decision else {
      if keepsCredential { actions.append(.keepCredential(realm: realm)) }
      keepsCredential = false
      return false
    }
    realm = space.realm
    self.failures = failures
    keepsCredential = false
    if let (credential, _) = authentication.automaticCredential(url: request.url, stored: nil),
      attempt(credential, into: &actions)
    {
      return true
    }
    state = .askingStorage
    actions.append(.askStorage(realm: realm))
    return true
  }

  /// The storage was asked: it has this credential, or none.
  package mutating func foundStoredCredential(_ stored: BasicCredential?, into actions: inout [Action]) {
    guard case .askingStorage = state else { return }
    if let (credential, _) = authentication.automaticCredential(url: request.url, stored: stored),
      attempt(credential, into: &actions)
    {
      return
    }
    state = .askingDelegate
    actions.append(
      .askChallenge(realm: realm, proposed: lastTried ?? stored, previousFailures: failures))
  }

  /// The delegate answered the challenge.
  package mutating func answeredChallenge(_ answer: ChallengeAnswer, into actions: inout [Action]) {
    guard case .askingDelegate = state else { return }
    switch answer {
    case .use(let credential):
      keepsCredential = true
      if !attempt(credential, into: &actions) { deliver(into: &actions) }
    case .withoutCredential, .rejectSpace:
      deliver(into: &actions)
    case .cancel:
      actions += [.tellChallengeCancelled, .discard]
      fail(.cancelledAuthentication, into: &actions)
    }
  }

  /// Sends the request again with this credential; false when the Basic scheme cannot send it.
  private mutating func attempt(_ credential: BasicCredential, into actions: inout [Action]) -> Bool {
    guard let field = try? authentication.answer(with: credential) else { return false }
    lastTried = credential
    authorization = field
    actions.append(.discard)
    connect(fresh: false, into: &actions)
    return true
  }
}
