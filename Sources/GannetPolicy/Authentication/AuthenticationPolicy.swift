package import GannetHTTP

/// Decides about the challenges of one load: which of a response's challenges is answered, which credential
/// answers it without asking, and how often an answer was wrong.
///
/// Of several challenges the strongest that is known goes first: Digest with SHA-256, with SHA-512/256, with MD5, then
/// Basic. The next one is taken when the delegate passes over a protection space, and never because an answer was refused.
///
/// A credential that a server has refused is never sent again by itself, whatever realm the server names
/// then: cameras lock the account after a few wrong attempts. A delegate may answer as often as it likes. What is no
/// refusal: a Digest answer whose nonce the server calls stale, and one whose nonce is another now, where the credential
/// has been accepted before. The request is then sent again without a word, but not without end.
///
/// ```
/// response ─ receivedResponse ─ notAChallenge → deliver
///                             ├ sendAgain: answer → send again
///                             └ challenge ─ automaticCredential ─ one: answer → send again
///                                                                └ nil: ask, with previousFailureCount
/// ```
package struct AuthenticationPolicy: Sendable {
  /// The schemes that are known.
  package enum Scheme: Hashable, Sendable { case basic, digest }

  /// Where a challenge comes from: what its answer is for.
  package struct Space: Hashable, Sendable {
    package var origin: Origin
    /// Nil when the challenge names none.
    package var realm: String?
    package var scheme: Scheme

    package init(origin: Origin, realm: String?, scheme: Scheme = .basic) {
      self.origin = origin
      self.realm = realm
      self.scheme = scheme
    }

    /// That of a Digest login.
    package init(_ login: DigestLogin) {
      let realm = login.challenge.realm.map { String(fieldText: $0.span) }
      self.init(origin: login.origin, realm: realm, scheme: .digest)
    }
  }

  /// What a request is answered with.
  package enum Answer: Hashable, Sendable {
    /// The value of `Authorization`.
    case basic(String)
    /// Each request has an `Authorization` of its own, which is made when it is sent (`DigestSessions`). Apart, so that
    /// loads without one carry no room for it.
    indirect case digest(DigestLogin)

    /// The login of a Digest answer.
    package var login: DigestLogin? {
      if case .digest(let login) = self { login } else { nil }
    }
  }

  /// What a response is.
  package enum Decision: Hashable, Sendable {
    case notAChallenge(Reason)
    /// One of its challenges can be answered. So many answers were wrong before.
    case challenge(Space, previousFailureCount: Int)
    /// The credential may be right, its nonce was too old: `answer` has the new one.
    case sendAgain
  }

  /// Why a response is delivered as it is.
  package enum Reason: Hashable, Sendable {
    /// Its status is not 401. (407 asks for a proxy's credentials, and there is no proxy.)
    case status
    /// It has no challenge.
    case noChallenge
    /// It has challenges, of none of the known schemes, or that cannot be answered.
    case unknownSchemes
  }

  /// Where an automatic credential comes from.
  package enum Source: Hashable, Sendable { case url, storage }

  /// How often in a row a request is sent again since a nonce was too old.
  package static let maximumRenewals = 2

  /// How many challenges of one response count, the best ones: a delegate that passes over each is asked about each.
  package static let maximumOffers = 64

  private struct Refused: Hashable {
    let origin: Origin
    let credential: PasswordCredential
  }

  /// A challenge that can be answered.
  private struct Offer {
    let space: Space
    /// Nil for Basic.
    let digest: DigestChallenge?
  }

  /// The challenges of the last 401 that can be answered, best first. The first is the one that is asked about.
  private var offers: [Offer] = []
  /// Where the failures are counted for.
  private var space: Space?
  private var failures = 0
  /// Credentials that a server said no to in this load.
  private var refused: Set<Refused> = []
  /// The last answer, and what it was made of.
  package private(set) var answer: Answer?
  private var credential: PasswordCredential?
  private var answeredSpace: Space?
  /// Whether a request that carried the answer got through since the last challenge, or one of another load did.
  private var wasAccepted = false
  private var renewals = 0
  private let isSupported: @Sendable (HashFunction) -> Bool

  /// No challenge has come.
  ///
  /// - Parameter isSupported: whether there is this hash function; challenges with another one are passed over.
  package init(isSupported: @escaping @Sendable (HashFunction) -> Bool) { self.isSupported = isSupported }

  /// Takes in the head of a final response.
  /// - Parameters:
  ///   - isAnswered: whether the request carried `answer`.
  ///   - url: the URL that it was sent to.
  ///   - bodyIsAtHand: whether the request's body can be hashed: it is none, or bytes in memory.
  package mutating func receivedResponse(
    status: Int, fields: FieldList, isAnswered: Bool, url: HTTPURL, bodyIsAtHand: Bool
  ) -> Decision {
    guard status == 401 else {
      if isAnswered { accepted(fields) }
      return .notAChallenge(.status)
    }
    let challenges = AuthenticationChallengeParser.parse(fields)
    offers = offered(challenges, by: url.origin, bodyIsAtHand: bodyIsAtHand)
    if isAnswered, renew() { return .sendAgain }
    renewals = 0
    if isAnswered { refuse(at: url.origin) }
    guard let offer = offers.first else {
      return .notAChallenge(challenges.isEmpty ? .noChallenge : .unknownSchemes)
    }
    count(offer.space, isAnswered: isAnswered)
    return .challenge(offer.space, previousFailureCount: failures)
  }

  /// The delegate passes over the protection space that it was asked about: the next one the server offers, or nil.
  package mutating func passedOver() -> Space? {
    guard let passed = offers.first?.space else { return nil }
    offers.removeAll { $0.space == passed }
    return offers.first?.space
  }

  /// The credential that answers the challenge just received without asking: that of the URL, else the stored
  /// one, unless it was refused before or cannot be sent by the challenge's scheme.
  package func automaticCredential(
    url: HTTPURL, stored: PasswordCredential?
  ) -> (credential: PasswordCredential, source: Source)? {
    if let credential = url.credential, canSend(credential, to: url.origin) { return (credential, .url) }
    if let stored, canSend(stored, to: url.origin) { return (stored, .storage) }
    return nil
  }

  /// Answers the challenge: what to send the request again with.
  package mutating func answer(
    with credential: PasswordCredential
  ) throws(PasswordCredential.Refusal) -> Answer {
    guard let offer = offers.first else { throw .notAsked }
    let made: Answer
    if let digest = offer.digest {
      try credential.checkForDigest()
      made = .digest(DigestLogin(origin: offer.space.origin, credential: credential, challenge: digest))
    } else {
      made = .basic(try credential.basicAuthorization())
    }
    (answer, self.credential, answeredSpace) = (made, credential, offer.space)
    return made
  }

  /// A login that its server has accepted in another load: nil where this load has seen its credential refused.
  package mutating func recalled(_ login: DigestLogin) -> Answer? {
    guard !refused.contains(Refused(origin: login.origin, credential: login.credential)) else { return nil }
    let space = Space(login)
    (answer, credential, answeredSpace) = (.digest(login), login.credential, space)
    (self.space, failures, wasAccepted) = (space, 0, true)
    return answer
  }

  /// The challenges that can be answered, best first; of those that are equally good the first, and no more than count.
  private func offered(
    _ challenges: [AuthenticationChallenge], by origin: Origin, bodyIsAtHand: Bool
  ) -> [Offer] {
    var ranks: [[Offer]] = Array(repeating: [], count: 4)
    for challenge in challenges {
      if challenge.scheme == "basic" {
        ranks[3].append(Offer(space: Space(origin: origin, realm: challenge["realm"]), digest: nil))
      } else if let digest = DigestChallenge(challenge), isSupported(digest.function),
        digest.canAnswer(bodyIsAtHand: bodyIsAtHand)
      {
        let space = Space(origin: origin, realm: challenge["realm"], scheme: .digest)
        ranks[digest.rank].append(Offer(space: space, digest: digest))
      }
    }
    return Array(ranks.joined().prefix(Self.maximumOffers))
  }

  private mutating func accepted(_ fields: FieldList) {
    (wasAccepted, renewals) = (true, 0)
    guard var login = answer?.login, let nonce = fields.nextNonce else { return }
    login.challenge.nonce = nonce
    answer = .digest(login)
  }

  /// Takes over a new nonce for the same credential, where the old one alone may have been wrong. Never for a weaker
  /// function than the refused answer had.
  private mutating func renew() -> Bool {
    guard let login = answer?.login, let offer = offers.first, let digest = offer.digest,
      offer.space == answeredSpace, digest.function == login.challenge.function,
      renewals < Self.maximumRenewals
    else { return false }
    let isOnlyOld = wasAccepted && renewals == 0 && digest.nonce != login.challenge.nonce
    guard digest.isStale || isOnlyOld else { return false }
    renewals += 1
    answer = .digest(DigestLogin(origin: login.origin, credential: login.credential, challenge: digest))
    return true
  }

  /// The server said no to the answer. Not to its credential, where that was accepted by another realm: a Digest answer
  /// is good for its own alone.
  private mutating func refuse(at origin: Origin) {
    guard let credential, let answeredSpace else { return }
    let isForOtherRealm =
      wasAccepted && answeredSpace.scheme == .digest && offers.first?.space.realm != answeredSpace.realm
    if !isForOtherRealm { refused.insert(Refused(origin: origin, credential: credential)) }
  }

  private func canSend(_ credential: PasswordCredential, to origin: Origin) -> Bool {
    guard !refused.contains(Refused(origin: origin, credential: credential)) else { return false }
    do throws(PasswordCredential.Refusal) {
      if offers.first?.digest != nil {
        try credential.checkForDigest()
      } else {
        _ = try credential.basicAuthorization()
      }
      return true
    } catch { return false }
  }

  /// Counts a wrong answer. A new place starts at none; a new realm only when the answer for the old one was
  /// right, so that a server cannot keep the count at none by naming another realm each time.
  private mutating func count(_ asking: Space, isAnswered: Bool) {
    let isNewPlace = space?.origin != asking.origin || (wasAccepted && space?.realm != asking.realm)
    if isNewPlace || wasAccepted { failures = 0 }
    if isAnswered && !isNewPlace { failures += 1 }
    space = asking
    wasAccepted = false
  }
}

extension HTTPURL {
  /// The user name and the password that stand in the URL.
  package var credential: PasswordCredential? {
    user.map { PasswordCredential(user: $0, password: password ?? "") }
  }
}

extension FieldList {
  /// The nonce that the server wants to be used next (RFC 7616 section 3.5).
  ///
  /// The server's own proof in this field (`rspauth`) is not looked at: it would have to fail responses whose server gets
  /// it wrong, and no other client does.
  fileprivate var nextNonce: [UInt8]? {
    guard let index = firstIndex(named: "Authentication-Info") else { return nil }
    let parameters = withValueBytes(at: index) { AuthenticationChallengeParser.parameters($0) }
    let nonce = parameters.first { $0.name == "nextnonce" }?.bytes
    return nonce.flatMap { $0.isEmpty || $0.contains(where: \.isControl) ? nil : $0 }
  }
}
