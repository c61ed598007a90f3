import FoundationEssentials
import GannetHTTP
import GannetPolicy
import GannetSockets

// How a load asks for credentials, keeps those that were accepted, and answers with them. What is decided is the
// machine's.
extension LoadDriver {
  func askStorage(_ space: AuthenticationPolicy.Space) {
    var found: URLCredential?
    if delegate?.connectionShouldUseCredentialStorage(connection) ?? true {
      found = connection.configuration.credentialStorage.defaultCredential(for: URLProtectionSpace(space))
    }
    guard !isCancelled else { return }
    feed { $0.foundStoredCredential(found.flatMap { $0.withPassword }, into: &$1) }
  }

  func askChallenge(_ space: AuthenticationPolicy.Space, proposed: PasswordCredential?, failures: Int) {
    let challenge = URLAuthenticationChallenge(
      protectionSpace: URLProtectionSpace(space),
      proposedCredential: proposed.map {
        URLCredential(user: $0.user, password: $0.password, persistence: .none)
      },
      previousFailureCount: failures, failureResponse: response, error: nil,
      sender: ChallengeAnswerer(connection, host: client.loop.handle))
    self.challenge = challenge
    guard let delegate else {
      challenge.sender?.performDefaultHandling(for: challenge)
      return
    }
    delegate.connection(connection, willSendRequestFor: challenge)
  }

  /// The delegate, or someone it passed the challenge to, has answered.
  func answered(_ answer: LoadMachine.ChallengeAnswer, credential: URLCredential?) {
    guard !isCancelled else { return }
    let answered = challenge
    answeredCredential = credential
    touched()
    feed { $0.answeredChallenge(answer, into: &$1) }
    // The answer may have led to another challenge.
    if answer != .cancel, challenge === answered { challenge = nil }
  }

  func keepCredential(_ space: AuthenticationPolicy.Space) {
    guard let answeredCredential, answeredCredential.persistence != .none else { return }
    connection.configuration.credentialStorage.keep(answeredCredential, for: URLProtectionSpace(space))
  }

  // MARK: Digest

  /// Looks whether a login is known that can be sent with the current request without being asked: one that this origin
  /// has accepted, of the URL's credential, or of the stored one where the delegate lets that be used.
  func recallLogin() {
    guard client.digests.hasLogins, machine.mayRecall else { return }
    let url = machine.request.url
    let logins = client.digests.logins(of: url.origin)
    guard !logins.isEmpty else { return }
    if let credential = url.credential {
      if let login = logins.first(where: { $0.credential == credential }) { machine.recalled(login) }
      return
    }
    guard delegate?.connectionShouldUseCredentialStorage(connection) ?? true, !isCancelled else { return }
    let storage = connection.configuration.credentialStorage
    let login = logins.first {
      storage.defaultCredential(for: URLProtectionSpace($0))?.withPassword == $0.credential
    }
    if let login { machine.recalled(login) }
  }

  /// Remembers a login for later loads; not the password of a credential that was for this load only.
  func keepLogin(_ login: DigestLogin) {
    if let answeredCredential, answeredCredential.persistence == .none,
      answeredCredential.withPassword == login.credential
    {
      return
    }
    client.digests.keep(login)
  }

  /// The value of `Authorization` that answers a challenge. A Digest's is made for this one request: what it counts is
  /// counted now.
  func authorizationField(_ answer: AuthenticationPolicy.Answer?) throws(ConnectionError) -> [UInt8]? {
    switch answer {
    case nil: return nil
    case .basic(let value): return Array(value.utf8)
    case .digest(let login):
      var target = RequestComposer.target(of: request, machine.request.url)
      if connection.configuration.digestOmitsQuery { target = String(target.prefix { $0 != "?" }) }
      var body = Data()
      if machine.request.body == .data, let data = request.httpBody { body = data }
      let value = client.digests.answer(
        login, method: machine.request.method, target: target, body: body.span)
      guard let value else {
        throw ConnectionError(
          .unknown, phase: .preparing, url: safeURL,
          reason: "the challenge cannot be answered: OpenSSL has failed to hash")
      }
      return value
    }
  }
}

extension URLProtectionSpace {
  init(_ space: AuthenticationPolicy.Space) {
    let method: AuthenticationMethod =
      switch space.scheme {
      case .basic: .httpBasic
      case .digest: .httpDigest
      }
    self.init(
      host: space.origin.host, port: Int(space.origin.port), protocol: space.origin.scheme,
      realm: space.realm, authenticationMethod: method)
  }

  fileprivate init(_ login: DigestLogin) {
    self.init(AuthenticationPolicy.Space(login))
  }
}
