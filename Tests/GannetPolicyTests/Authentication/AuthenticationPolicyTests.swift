import GannetHTTP
import GannetPolicy
import Testing

@Suite("AuthenticationPolicy")
struct AuthenticationPolicyTests {
  let right = PasswordCredential(user: "u", password: "right")
  let wrong = PasswordCredential(user: "u", password: "wrong")

  func challenge(_ realm: String) -> FieldList {
    FieldList([(name: "WWW-Authenticate", value: "Basic realm=\"\(realm)\"")])
  }

  /// Receives a 401 and says the count, or nil when it is no challenge.
  func count(
    _ policy: inout AuthenticationPolicy, _ realm: String = "r", at url: String = "http://h/",
    carrying answer: AuthenticationPolicy.Answer?
  ) throws -> Int? {
    let decision = policy.received(401, challenge(realm), isAnswered: answer != nil, url: try HTTPURL(url))
    guard case .challenge(let space, let count) = decision else { return nil }
    #expect(space.realm == realm)
    return count
  }

  @Test(
    "responses that are no challenge",
    arguments: [
      (200, "Basic realm=x", .status),
      (403, "Basic realm=x", .status),
      (407, "Basic realm=x", .status),
      (401, "", .noChallenge),
      (401, "Newauth realm=x", .unknownSchemes),
      (401, "Negotiate", .unknownSchemes),
    ] as [(Int, String, AuthenticationPolicy.Reason)])
  func noChallenge(status: Int, value: String, reason: AuthenticationPolicy.Reason) throws {
    var policy = AuthenticationPolicy { _ in true }
    let fields = FieldList([(name: "WWW-Authenticate", value: value)])
    let decision = policy.received(status, fields, url: try HTTPURL("http://h/"))
    #expect(decision == .notAChallenge(reason))
  }

  @Test("a 401 without any challenge, and a 407's own field")
  func missingField() throws {
    var policy = AuthenticationPolicy { _ in true }
    let proxy = FieldList([(name: "Proxy-Authenticate", value: "Basic realm=x")])
    #expect(
      policy.received(401, proxy, url: try HTTPURL("http://h/")) == .notAChallenge(.noChallenge))
  }

  @Test("Basic is found among others, its realm may be missing")
  func choice() throws {
    var policy = AuthenticationPolicy { _ in true }
    let url = try HTTPURL("http://h:81/a")
    let fields = FieldList([
      (name: "WWW-Authenticate", value: "Negotiate, Newauth realm=\"n\""),
      (name: "WWW-Authenticate", value: "basic"),
      (name: "WWW-Authenticate", value: "Basic realm=\"second\""),
    ])
    #expect(
      policy.received(401, fields, url: url)
        == .challenge(.init(origin: url.origin, realm: nil), previousFailureCount: 0))
  }

  @Test("a server that never agrees: the count goes up, nothing is sent again by itself")
  func alwaysRefused() throws {
    var policy = AuthenticationPolicy { _ in true }
    let url = try HTTPURL("http://u:wrong@h/")
    var field: AuthenticationPolicy.Answer?
    for expected in 0..<5 {
      #expect(try count(&policy, at: url.text, carrying: field) == expected)
      let automatic = policy.automaticCredential(url: url, stored: wrong)
      #expect(automatic?.credential == (expected == 0 ? wrong : nil))
      // After the first it is the delegate that answers.
      field = try policy.answer(with: wrong)
    }
  }

  @Test("a server that names another realm each time gets no other treatment")
  func changingRealm() throws {
    var policy = AuthenticationPolicy { _ in true }
    let url = try HTTPURL("http://u:wrong@h/")
    var field: AuthenticationPolicy.Answer?
    for expected in 0..<3 {
      #expect(try count(&policy, "realm \(expected)", at: url.text, carrying: field) == expected)
      #expect((policy.automaticCredential(url: url, stored: nil) != nil) == (expected == 0))
      field = try policy.answer(with: wrong)
    }
  }

  @Test("the URL's credential first, then the stored one, each once")
  func sources() throws {
    var policy = AuthenticationPolicy { _ in true }
    let url = try HTTPURL("http://u:wrong@h/")
    #expect(try count(&policy, carrying: nil) == 0)
    let first = policy.automaticCredential(url: url, stored: right)
    #expect(first?.credential == wrong && first?.source == .url)
    #expect(try count(&policy, carrying: policy.answer(with: wrong)) == 1)
    let second = policy.automaticCredential(url: url, stored: right)
    #expect(second?.credential == right && second?.source == .storage)
    #expect(try count(&policy, carrying: policy.answer(with: right)) == 2)
    #expect(policy.automaticCredential(url: url, stored: right) == nil)
  }

  @Test("a user name alone is a credential; one that Basic cannot send is passed over")
  func oddUserInfo() throws {
    let policy = AuthenticationPolicy { _ in true }
    #expect(
      policy.automaticCredential(url: try HTTPURL("http://u@h/"), stored: nil)?.credential
        == PasswordCredential(user: "u", password: ""))
    let colon = try HTTPURL("http://a%3Ab:c@h/")
    #expect(policy.automaticCredential(url: colon, stored: nil) == nil)
    #expect(policy.automaticCredential(url: colon, stored: right)?.source == .storage)
    #expect(policy.automaticCredential(url: try HTTPURL("http://u%0a@h/"), stored: nil) == nil)
    var asked = policy
    #expect(throws: PasswordCredential.Refusal.notAsked) { try asked.answer(with: right) }
    #expect(try count(&asked, carrying: nil) == 0)
    #expect(throws: PasswordCredential.Refusal.colonInUser) {
      try asked.answer(with: PasswordCredential(user: "a:b", password: "c"))
    }
  }

  @Test("once accepted, the next challenge starts from the beginning")
  func accepted() throws {
    var policy = AuthenticationPolicy { _ in true }
    #expect(try count(&policy, carrying: nil) == 0)
    #expect(try count(&policy, carrying: policy.answer(with: wrong)) == 1)
    let field = try policy.answer(with: right)
    _ = policy.received(302, FieldList(), isAnswered: true, url: try HTTPURL("http://h/"))
    // The redirect's target has a realm of its own.
    #expect(try count(&policy, "other", at: "http://h/b", carrying: field) == 0)
    #expect(policy.automaticCredential(url: try HTTPURL("http://h/"), stored: right) == nil)
  }

  @Test("accepted, then refused in the same realm: that is one failure")
  func acceptedThenRefused() throws {
    var policy = AuthenticationPolicy { _ in true }
    #expect(try count(&policy, carrying: nil) == 0)
    let field = try policy.answer(with: right)
    _ = policy.received(200, FieldList(), isAnswered: true, url: try HTTPURL("http://h/"))
    #expect(try count(&policy, at: "http://h/b", carrying: field) == 1)
  }

  @Test("another origin starts from the beginning, and its refusals are its own")
  func otherOrigin() throws {
    var policy = AuthenticationPolicy { _ in true }
    #expect(try count(&policy, carrying: nil) == 0)
    #expect(try count(&policy, carrying: policy.answer(with: wrong)) == 1)
    #expect(try count(&policy, at: "http://other/", carrying: nil) == 0)
    #expect(policy.automaticCredential(url: try HTTPURL("http://other/"), stored: wrong)?.credential == wrong)
    #expect(policy.automaticCredential(url: try HTTPURL("http://h/"), stored: wrong) == nil)
  }
}

extension AuthenticationPolicy {
  /// Takes in a response to a request without a body, or with one that is at hand.
  mutating func received(
    _ status: Int, _ fields: FieldList, isAnswered: Bool = false, url: HTTPURL, bodyIsAtHand: Bool = true
  ) -> Decision {
    receivedResponse(
      status: status, fields: fields, isAnswered: isAnswered, url: url, bodyIsAtHand: bodyIsAtHand)
  }
}
