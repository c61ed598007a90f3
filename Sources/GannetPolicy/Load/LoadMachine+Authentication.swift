import GannetHTTP

extension LoadMachine {
  /// Takes in what a final response says about the credentials. True when it is a challenge that is being answered:
  /// by the URL's credential, the stored one, or the delegate's, in this order.
  mutating func challenged(by head: ResponseHead, into actions: inout [Action]) -> Bool {
    guard head.status == 401 || authorization != nil else { return false }
    let decision = authentication.receivedResponse(
      status: head.status, fields: head.fields, isAnswered: authorization != nil, url: request.url,
      bodyIsAtHand: bodyIsAtHand)
    if let authorization { answered(authorization, status: head.status, into: &actions) }
    switch decision {
    case .notAChallenge:
      keepsCredential = false
      return false
    case .sendAgain:
      sendAgain(with: authentication.answer, into: &actions)
      return true
    case .challenge(let space, let failures):
      self.failures = failures
      keepsCredential = false
      begin(on: space, into: &actions)
      return true
    }
  }

  /// A login is known that the server of the current request has accepted in another load, with a credential that this
  /// load may use unasked: it is sent at once. Not with a question about what is stored, since that was the answer to a
  /// request without it.
  package mutating func recalled(_ login: DigestLogin) {
    guard mayRecall, login.origin == request.url.origin,
      login.challenge.canAnswer(bodyIsAtHand: bodyIsAtHand), let answer = authentication.recalled(login)
    else { return }
    authorization = answer
    lastTried = login.credential
  }

  /// Whether a login of another load would be sent with the current request.
  package var mayRecall: Bool {
    state == .connecting && authorization == nil && conditions == nil
      && !request.fields.contains("Authorization")
  }

  /// The storage was asked: it has this credential, or none.
  package mutating func foundStoredCredential(
    _ stored: PasswordCredential?, into actions: inout [Action]
  ) {
    guard case .askingStorage = state, let space else { return }
    if let (credential, _) = authentication.automaticCredential(url: request.url, stored: stored),
      attempt(credential, into: &actions)
    {
      return
    }
    state = .askingDelegate
    actions.append(.askChallenge(space, proposed: lastTried ?? stored, previousFailures: failures))
  }

  /// The delegate answered the challenge.
  package mutating func answeredChallenge(_ answer: ChallengeAnswer, into actions: inout [Action]) {
    guard case .askingDelegate = state else { return }
    switch answer {
    case .use(let credential):
      keepsCredential = true
      if !attempt(credential, into: &actions) { deliver(into: &actions) }
    case .withoutCredential: deliver(into: &actions)
    case .rejectSpace:
      guard let next = authentication.passedOver() else { return deliver(into: &actions) }
      begin(on: next, into: &actions)
    case .cancel:
      actions += [.tellChallengeCancelled, .discard]
      fail(.cancelledAuthentication, into: &actions)
    }
  }

  private var bodyIsAtHand: Bool { request.body == .none || request.body == .data }

  /// What a response says of the answer that its request carried.
  private mutating func answered(
    _ answer: AuthenticationPolicy.Answer, status: Int, into actions: inout [Action]
  ) {
    guard status != 401 else {
      if let login = answer.login { actions.append(.dropLogin(login)) }
      return
    }
    if keepsCredential, let space { actions.append(.keepCredential(space)) }
    guard let old = answer.login, let new = authentication.answer?.login else { return }
    authorization = authentication.answer
    if new.challenge.nonce != old.challenge.nonce {
      actions.append(.renewSession(old, nonce: new.challenge.nonce))
    }
    // A failure may mean that the server did not even look.
    if status < 400 { actions.append(.keepLogin(new)) }
  }

  /// Answers for this space by the URL's credential, or asks for another.
  private mutating func begin(on space: AuthenticationPolicy.Space, into actions: inout [Action]) {
    self.space = space
    if let (credential, _) = authentication.automaticCredential(url: request.url, stored: nil),
      attempt(credential, into: &actions)
    {
      return
    }
    state = .askingStorage
    actions.append(.askStorage(space))
  }

  /// Sends the request again with this credential; false when the challenge's scheme cannot send it.
  private mutating func attempt(_ credential: PasswordCredential, into actions: inout [Action]) -> Bool {
    guard let answer = try? authentication.answer(with: credential) else { return false }
    lastTried = credential
    sendAgain(with: answer, into: &actions)
    return true
  }

  private mutating func sendAgain(
    with answer: AuthenticationPolicy.Answer?, into actions: inout [Action]
  ) {
    authorization = answer
    // What is stored was the answer to a request without it.
    conditions = nil
    actions.append(.discard)
    connect(fresh: false, into: &actions)
  }
}
