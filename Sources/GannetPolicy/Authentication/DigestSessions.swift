package import GannetHTTP

/// The Digest sessions of one event loop: how often each nonce has been used, and the logins that servers have accepted,
/// whose next requests need not be asked first.
///
/// A request's count is drawn when its head is written, so loads at once never share one. A nonce's count, its client
/// nonce and, for `-sess`, the nonce its session began with stay together as long as it is in use.
///
/// Not copyable: a copy would draw the same counts.
package struct DigestSessions: ~Copyable, Sendable {
  /// Bytes of nonces that are remembered; past them those that were not used for longest are let go.
  package static let maximumNonceBytes = 1 << 20
  /// Logins that are remembered; past them the one accepted first is let go.
  package static let maximumLogins = 64
  /// Bytes of a challenge whose login is remembered.
  package static let maximumChallengeBytes = 4096

  private struct Session: Sendable {
    var count: UInt32 = 0
    let clientNonce: String
    let firstNonce: [UInt8]

    /// Its bytes, and a little for what holds them.
    func cost(_ name: String) -> Int { name.utf8.count + firstNonce.count + 100 }
  }

  private let digest: HashFunction.Digester
  private let makeClientNonce: @Sendable () -> String
  private var sessions = RecencyStore<Session>(capacity: DigestSessions.maximumNonceBytes)
  /// The one accepted last is the last.
  private var accepted: [DigestLogin] = []

  /// No session yet.
  ///
  /// - Parameter makeClientNonce: gives a new client nonce, without quotes and backslashes, that nobody can guess.
  package init(digest: @escaping HashFunction.Digester, makeClientNonce: @escaping @Sendable () -> String) {
    self.digest = digest
    self.makeClientNonce = makeClientNonce
  }

  /// Whether any login was accepted.
  package var hasLogins: Bool { !accepted.isEmpty }

  /// The logins that were accepted by this origin, the last one first.
  package func logins(of origin: Origin) -> [DigestLogin] {
    accepted.reversed().filter { $0.origin == origin }
  }

  /// Answers for one more request: the value of its `Authorization`; nil when the hash function fails.
  ///
  /// - Parameters:
  ///   - target: the request's target, as it stands in the request line.
  ///   - body: the body, which counts only where the server wants it protected.
  package mutating func answer(
    _ login: DigestLogin, method: String, target: String, body: Span<UInt8>
  ) -> [UInt8]? {
    let name = name(of: login)
    var session =
      sessions.use(name) ?? Session(clientNonce: makeClientNonce(), firstNonce: login.challenge.nonce)
    // After four thousand million requests the server finds the last count again, and gives another nonce.
    session.count = min(session.count, .max - 1) + 1
    sessions.set(session, cost: session.cost(name), for: name)
    return DigestAnswer(
      login, count: session.count, clientNonce: session.clientNonce, firstNonce: session.firstNonce
    ).authorization(method: method, target: target, body: body, digest)
  }

  /// A login was accepted, and is good for later loads.
  package mutating func keep(_ login: DigestLogin) {
    accepted.removeAll {
      $0.origin == login.origin && $0.challenge.realm == login.challenge.realm
        && $0.credential.user == login.credential.user
    }
    guard login.challenge.byteCount <= Self.maximumChallengeBytes else { return }
    accepted.append(login)
    if accepted.count > Self.maximumLogins { accepted.removeFirst() }
  }

  /// The server wants this nonce in the next request (`nextnonce`): the session of `login` goes on with it.
  package mutating func renew(_ login: DigestLogin, nonce: [UInt8]) {
    guard nonce != login.challenge.nonce, let session = sessions.use(name(of: login)) else { return }
    var next = login
    next.challenge.nonce = nonce
    let name = name(of: next)
    guard sessions.use(name) == nil else { return }
    let renewed = Session(clientNonce: session.clientNonce, firstNonce: session.firstNonce)
    sessions.set(renewed, cost: renewed.cost(name), for: name)
  }

  /// A login was answered with another challenge: it is not sent unasked any more, unless a later nonce of it was
  /// accepted.
  package mutating func drop(_ login: DigestLogin) { accepted.removeAll { $0 == login } }

  private func name(of login: DigestLogin) -> String {
    "\(login.origin) \(String(latin1: login.challenge.nonce.span))"
  }
}
