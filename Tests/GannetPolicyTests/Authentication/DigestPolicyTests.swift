import GannetHTTP
import GannetPolicy
import Testing

/// Which challenge is answered, and when an answer that was refused is given anew by itself.
@Suite("AuthenticationPolicy: Digest")
struct DigestPolicyTests {
  private let right = PasswordCredential(user: "u", password: "right")
  private let url: HTTPURL

  init() throws { url = try HTTPURL("http://h/") }

  private func fields(_ values: String...) -> FieldList {
    FieldList(values.map { (name: "WWW-Authenticate", value: $0) })
  }

  /// What the choice is: the nonce, or "basic"; "-" for none.
  private func choice(
    _ fields: FieldList, without missing: Set<HashFunction> = [], bodyIsAtHand: Bool = true
  ) throws -> String {
    var policy = AuthenticationPolicy { !missing.contains($0) }
    guard case .challenge = policy.received(401, fields, url: url, bodyIsAtHand: bodyIsAtHand) else {
      return "-"
    }
    return try policy.answer(with: right).login?.challenge.nonce.text ?? "basic"
  }

  @Test("the strongest that is known, of equals the first, Digest before Basic")
  func strongest() throws {
    let md5 = "Digest realm=r, nonce=md5, algorithm=MD5"
    let sha256 = "Digest realm=r, nonce=sha256, algorithm=SHA-256, qop=auth"
    let session = "Digest realm=r, nonce=session, algorithm=SHA-256-sess, qop=auth"
    let sha512 = "Digest realm=r, nonce=sha512, algorithm=SHA-512-256"
    let sha1 = "Digest realm=r, nonce=sha1, algorithm=SHA-1"
    let authInt = "Digest realm=r, nonce=int, algorithm=SHA-256, qop=\"auth-int\""
    #expect(try choice(fields("Basic realm=r", md5)) == "md5")
    #expect(try choice(fields("\(md5), Basic realm=r, NTLM")) == "md5")
    #expect(try choice(fields(md5, sha512, sha256)) == "sha256")
    #expect(try choice(fields(md5, sha512)) == "sha512")
    #expect(try choice(fields(session, sha256)) == "session")
    #expect(try choice(fields(sha256, session)) == "sha256")
    #expect(try choice(fields(sha1, md5)) == "md5")
    #expect(try choice(fields(sha1, "Basic realm=r")) == "basic")
    #expect(try choice(fields(sha1)) == "-")
    #expect(try choice(fields("Digest realm=r, nonce=n, qop=\"foo\"")) == "-")
    // What cannot be hashed counts as unknown.
    #expect(try choice(fields(md5), without: [.md5]) == "-")
    #expect(try choice(fields(md5, "Basic realm=r"), without: [.md5]) == "basic")
    #expect(try choice(fields(sha256, md5), without: [.sha256]) == "md5")
    #expect(try choice(fields(authInt, md5)) == "int")
    #expect(try choice(fields(authInt, md5), bodyIsAtHand: false) == "md5")
    #expect(try choice(fields(authInt), bodyIsAtHand: false) == "-")
  }

  @Test("of a flood of challenges so many count, the best ones")
  func flood() throws {
    var policy = AuthenticationPolicy { _ in true }
    let basic = (0..<5000).map { "Basic realm=\($0)" }.joined(separator: ", ")
    _ = policy.received(401, fields(basic, "Digest realm=d, nonce=n"), url: url)
    var realms: [String?] = []
    while let space = policy.passedOver() { realms.append(space.realm) }
    #expect(realms == (0..<AuthenticationPolicy.maximumOffers - 1).map { "\($0)" })
  }

  @Test("the delegate passes over a space: the next one, which no other challenge of the first is")
  func passedOver() throws {
    var policy = AuthenticationPolicy { _ in true }
    let offered = fields(
      "Digest realm=r, nonce=n, algorithm=SHA-256", "Digest realm=r, nonce=n", "Digest realm=s, nonce=n",
      "Basic realm=r")
    #expect(
      policy.received(401, offered, url: url)
        == .challenge(.init(origin: url.origin, realm: "r", scheme: .digest), previousFailureCount: 0))
    #expect(policy.passedOver()?.realm == "s")
    #expect(policy.passedOver() == .init(origin: url.origin, realm: "r", scheme: .basic))
    #expect(policy.passedOver() == nil)
    #expect(policy.passedOver() == nil)
  }

  @Test("a refused answer is not given again in a weaker way")
  func noDowngrade() throws {
    for weaker in ["Digest realm=r, nonce=m", "Digest realm=r, nonce=m, stale=true", "Basic realm=r"] {
      var policy = AuthenticationPolicy { _ in true }
      let first = policy.received(
        401, fields("Digest realm=r, nonce=n, algorithm=SHA-256", weaker), url: url)
      guard case .challenge = first else { Issue.record("\(first)"); continue }
      _ = try policy.answer(with: right)
      guard
        case .challenge(_, 1) = policy.received(401, fields(weaker), isAnswered: true, url: url)
      else { Issue.record("\(weaker)"); continue }
      #expect(policy.automaticCredential(url: url, stored: right) == nil)
    }
  }

  /// Receives a challenge with this nonce, and says what came of it: "again", or the count of failures.
  private func received(
    _ nonce: String, isStale: Bool = false, realm: String = "r", isAnswered: Bool = true,
    _ policy: inout AuthenticationPolicy
  ) -> String {
    let value = "Digest realm=\(realm), nonce=\(nonce), qop=auth" + (isStale ? ", stale=TRUE" : "")
    return switch policy.received(401, fields(value), isAnswered: isAnswered, url: url) {
    case .sendAgain: "again"
    case .challenge(_, let count): "\(count)"
    case .notAChallenge: "-"
    }
  }

  @Test("a stale nonce is replaced without a word, and twice in a row at most")
  func stale() throws {
    var policy = AuthenticationPolicy { _ in true }
    #expect(received("1", isAnswered: false, &policy) == "0")
    _ = try policy.answer(with: right)
    #expect(received("2", isStale: true, &policy) == "again")
    #expect(policy.answer?.login?.challenge.nonce.text == "2")
    #expect(policy.answer?.login?.credential == right)
    #expect(received("3", isStale: true, &policy) == "again")
    #expect(received("4", isStale: true, &policy) == "1")
    #expect(policy.automaticCredential(url: url, stored: right) == nil)
    // The delegate's next answer has as many again.
    _ = try policy.answer(with: right)
    #expect(received("5", isStale: true, &policy) == "again")
    // Once accepted, the next stale one is the first again.
    _ = policy.received(200, FieldList(), isAnswered: true, url: url)
    for nonce in ["6", "7"] { #expect(received(nonce, isStale: true, &policy) == "again") }
    #expect(received("8", isStale: true, &policy) == "1")
  }

  @Test("a request that carried no answer of ours has nothing stale")
  func staleAtFirst() {
    var policy = AuthenticationPolicy { _ in true }
    #expect(received("1", isStale: true, isAnswered: false, &policy) == "0")
    #expect(policy.automaticCredential(url: url, stored: right)?.credential == right)
  }

  @Test("a user name may hold a colon, and no control character")
  func userNames() throws {
    var policy = AuthenticationPolicy { _ in true }
    #expect(received("1", isAnswered: false, &policy) == "0")
    let colon = PasswordCredential(user: "a:b", password: "\n")
    #expect(policy.automaticCredential(url: url, stored: colon)?.credential == colon)
    #expect(try policy.answer(with: colon).login?.credential == colon)
    let control = PasswordCredential(user: "a\nb", password: "p")
    #expect(policy.automaticCredential(url: url, stored: control) == nil)
    #expect(throws: PasswordCredential.Refusal.controlCharacter) { try policy.answer(with: control) }
    // What could not be sent is no answer.
    #expect(policy.answer?.login?.credential == colon)
  }

  @Test("a wrong password is sent once")
  func wrong() throws {
    var policy = AuthenticationPolicy { _ in true }
    #expect(received("1", isAnswered: false, &policy) == "0")
    _ = try policy.answer(with: right)
    #expect(received("2", &policy) == "1")
    #expect(policy.automaticCredential(url: url, stored: right) == nil)
  }

  @Test("another nonce without a word of staleness: once, where the credential has been accepted")
  func replacedNonce() throws {
    var policy = AuthenticationPolicy { _ in true }
    #expect(policy.recalled(try digestLogin(nonce: "1")) == .digest(try digestLogin(nonce: "1")))
    #expect(received("2", &policy) == "again")
    #expect(received("3", &policy) == "1")
    #expect(policy.automaticCredential(url: url, stored: right) == nil)
    // The same nonce: it was not that.
    var other = AuthenticationPolicy { _ in true }
    _ = other.recalled(try digestLogin(nonce: "1"))
    #expect(received("1", &other) == "1")
    #expect(other.recalled(try digestLogin(nonce: "1")) == nil)
    // In this load, as in another.
    var same = AuthenticationPolicy { _ in true }
    #expect(received("1", isAnswered: false, &same) == "0")
    _ = try same.answer(with: right)
    _ = same.received(302, FieldList(), isAnswered: true, url: url)
    #expect(received("2", &same) == "again")
  }

  @Test("an answer that another realm refuses says nothing of its credential")
  func otherRealm() throws {
    var policy = AuthenticationPolicy { _ in true }
    _ = policy.recalled(try digestLogin(nonce: "1"))
    #expect(received("2", realm: "s", &policy) == "0")
    #expect(policy.automaticCredential(url: url, stored: right)?.credential == right)
    _ = try policy.answer(with: right)
    // One that names another realm each time has had its answer.
    #expect(received("3", realm: "t", &policy) == "1")
    #expect(policy.automaticCredential(url: url, stored: right) == nil)
  }

  @Test("the server names the next nonce")
  func nextNonce() throws {
    for (value, nonce) in [
      ("nextnonce=\"m\"", "m"), ("qop=auth, rspauth=\"0\", NextNonce=m", "m"), ("nextnonce=\"\"", "n"),
      ("nextnonce=\"\u{1}\"", "n"), ("rspauth=\"nextnonce=m\"", "n"), ("", "n"),
    ] {
      var policy = AuthenticationPolicy { _ in true }
      _ = policy.recalled(try digestLogin(nonce: "n"))
      let fields = FieldList([(name: "authentication-info", value: value)])
      _ = policy.received(200, fields, isAnswered: true, url: url)
      #expect(policy.answer?.login?.challenge.nonce.text == nonce, "\(value)")
    }
  }
}
