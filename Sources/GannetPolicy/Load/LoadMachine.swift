package import GannetHTTP

/// One load from its request to its end: canonical step, cache, connection, challenge, redirect, delivery, storing. All
/// its decisions lie here; bodies pass it by.
///
/// Events are methods in the past tense; what the driver then has to do is appended to its list, in order. A question
/// (`ask…`) is an action, its answer an event. After `finish` or `fail` nothing more is asked, and after `cancelled()`
/// every event is ignored.
///
/// Not copyable: it is one load, and a copy made in passing would cost more than a transition.
package struct LoadMachine: ~Copyable, Sendable {
  /// What the machine has to know of a request. The body stays with the driver.
  package struct Request: Equatable, Sendable {
    package var method: String
    package var url: HTTPURL
    package var fields: FieldList
    package var body: Body
    /// Whether it asks the server for a 100 before it sends its body.
    package var expectsContinue: Bool
    /// What is wanted of the cache.
    package var cachePolicy: CacheRules.Policy

    package init(
      method: String, url: HTTPURL, fields: FieldList, body: Body = .none, expectsContinue: Bool = false,
      cachePolicy: CacheRules.Policy = .useProtocol
    ) {
      self.method = method
      self.url = url
      self.fields = fields
      self.body = body
      self.expectsContinue = expectsContinue
      self.cachePolicy = cachePolicy
    }
  }

  /// What a request sends besides its head.
  package enum Body: Equatable, Sendable {
    case none
    /// Bytes in memory.
    case data
    /// A file, or what is made of files and bytes: as it is, however often.
    case kept
    /// A stream, which is there once; the number tells streams apart.
    case stream(UInt)
  }

  /// What the driver has to do. What is rare and large lies apart, so that the list of each load stays small.
  package enum Action: Equatable, Sendable {
    /// Ask the delegate about the canonical form of its request; answered by `answeredCanonical`.
    indirect case askCanonical(Request)
    /// Ask the delegate about a redirect, showing the response held; answered by `answeredRedirect`.
    indirect case askRedirect(Request)
    /// Look for a stored response to the current request; answered by `foundStored`.
    case lookUp
    /// Deliver the stored response and its body; `receivedEnd` says that this is done.
    case deliverStored
    /// The server found the stored response valid: take over what these fields of its 304 say, and keep it so.
    indirect case freshen(FieldList)
    /// Let go of what is stored for the current request's URL and for those that the response held names.
    case invalidate
    /// Get a connection to the current request's origin, `fresh` or one that was used before; `connected` or
    /// `lost` follows.
    case connect(fresh: Bool)
    /// Ask the delegate for a body, since the current request's is a stream that has been sent already; answered by
    /// `answeredNewBody`.
    case askNewBody
    /// Write the current request on the connection, with this answer to a challenge where there is one, and with the
    /// machine's `conditions`.
    case send(AuthenticationPolicy.Answer?)
    /// Look for a stored credential for this space; answered by `foundStoredCredential`.
    indirect case askStorage(AuthenticationPolicy.Space)
    /// Ask the delegate for a credential, showing the response held; answered by `answeredChallenge`.
    indirect case askChallenge(
      AuthenticationPolicy.Space, proposed: PasswordCredential?, previousFailures: Int)
    /// Tell the delegate that its challenge is cancelled.
    case tellChallengeCancelled
    /// Keep the credential that was accepted for this space, as its persistence says.
    indirect case keepCredential(AuthenticationPolicy.Space)
    /// The server goes on with another nonce in the session of this login.
    indirect case renewSession(DigestLogin, nonce: [UInt8])
    /// The server has accepted this login: later loads may send it unasked.
    indirect case keepLogin(DigestLogin)
    /// The server has not accepted this login, or not its nonce: it is not to be sent unasked.
    indirect case dropLogin(DigestLogin)
    /// Deliver the response held, then its body as it comes; `keeps`: the response is to be stored when it is whole.
    case deliver(keeps: Bool)
    /// Ask the delegate about storing the response delivered; answered by `answeredStoring`.
    case askStoring
    /// Store what the delegate answered.
    case store
    /// The response held is not for the delegate: drop its body and let the connection go.
    case discard
    /// The load is complete.
    case finish
    /// The load failed.
    case fail(Failure)
  }

  /// Why a load failed.
  package enum Failure: Equatable, Sendable {
    /// The delegate refused the canonical form.
    case refusedCanonical
    /// The delegate refused a redirect, and refusing is configured to fail.
    case refusedRedirect
    /// The redirect cannot be followed.
    case redirect(RedirectPolicy.Failure)
    /// The challenge was cancelled.
    case cancelledAuthentication
    /// Nothing may be loaded, and nothing is stored that answers the request.
    case notStored
    /// The body has to be sent again, and there is none.
    case noNewBody
    /// The connection failed or was lost; the driver holds the error.
    case connection
    /// No byte moved for the inactivity limit.
    case timedOut
  }

  /// The answers to a challenge.
  package enum ChallengeAnswer: Equatable, Sendable {
    case use(PasswordCredential)
    case withoutCredential
    case rejectSpace
    case cancel
  }

  /// Its questions are inlined where they are asked, with every piece of a body.
  @usableFromInline package enum State: Equatable, Sendable {
    case ready
    case askingCanonical
    case lookingUp
    case connecting
    case askingNewBody(reused: Bool)
    case exchanging(reused: Bool)
    case askingRedirect
    case askingStorage
    case askingDelegate
    case delivering
    case deliveringStored
    case askingStoring
    case ended

    /// Whether the load waits for someone other than the peer, so its inactivity clock stands still.
    @inlinable package var waitsForAnswer: Bool {
      switch self {
      case .askingCanonical, .lookingUp, .askingNewBody, .askingRedirect, .askingStorage, .askingDelegate,
        .deliveringStored, .askingStoring, .ended:
        true
      case .ready, .connecting, .exchanging, .delivering: false
      }
    }

    /// Whether nothing more can come of the load.
    @inlinable package var hasEnded: Bool {
      if case .ended = self { true } else { false }
    }

    /// Whether the load waits for a connection.
    @inlinable package var isConnecting: Bool {
      if case .connecting = self { true } else { false }
    }
  }

  /// Where the load stands. Small, and asked for with every piece of a body: a question to the whole machine would copy it.
  package internal(set) var state = State.ready
  /// The request being loaded now.
  package internal(set) var request: Request
  var hasRetried = false
  var redirects = 0
  /// How many redirects have been followed.
  package var redirectCount: Int { redirects }
  /// Whether a redirect may lead to a scheme that is not HTTP's: the driver then finds out who answers it.
  package var mayLeaveHTTP = false
  let maximumRedirects: Int
  let refusedRedirectFails: Bool
  /// Whether there is a cache.
  let usesCache: Bool
  /// The fields that ask whether what is stored is valid; nil when that is not asked.
  package internal(set) var conditions: FieldList?
  /// What hosts beyond ASCII in `Location` are encoded with.
  package var hostNameEncoder: HostNameEncoder?
  var authentication: AuthenticationPolicy
  /// What answered a challenge of the current request's origin.
  var authorization: AuthenticationPolicy.Answer?
  /// What the challenge is about that is being answered, or was last.
  var space: AuthenticationPolicy.Space?
  var lastTried: PasswordCredential?
  var failures = 0
  /// Whether the credential that is being tried came from the delegate, and so is to be kept.
  var keepsCredential = false
  /// The stream that has been begun, so that it is not to be had again.
  var begunStream: UInt?
  /// Whether a server has refused to be asked for a 100: it is not asked again.
  var hasDroppedExpectation = false

  /// A load of this request, whose URL the driver has found to be one that can be loaded, and that has followed so many
  /// redirects elsewhere. `supportsHash` says which hash functions there are.
  package init(
    _ request: Request, maximumRedirects: Int, refusedRedirectFails: Bool, usesCache: Bool = false,
    followed: Int = 0, supportsHash: @escaping @Sendable (HashFunction) -> Bool = { _ in true }
  ) {
    self.request = request
    authentication = AuthenticationPolicy(isSupported: supportsHash)
    redirects = followed
    self.maximumRedirects = maximumRedirects
    self.refusedRedirectFails = refusedRedirectFails
    self.usesCache = usesCache
  }

  // MARK: Events

  /// The load begins.
  package mutating func started(into actions: inout [Action]) {
    guard case .ready = state else { return }
    let canonical = CanonicalRequest(request)
    guard canonical.isChanged else { return load(into: &actions) }
    state = .askingCanonical
    actions.append(.askCanonical(canonical.request))
  }

  /// The delegate answered the canonical step: with a request to load, or nil to refuse.
  package mutating func answeredCanonical(_ answer: Request?, into actions: inout [Action]) {
    guard case .askingCanonical = state else { return }
    guard let answer else { return fail(.refusedCanonical, into: &actions) }
    take(answer)
    load(into: &actions)
  }

  /// A connection is there, new or used before.
  package mutating func connected(reused: Bool, into actions: inout [Action]) {
    guard case .connecting = state else { return }
    if asksForNewBody(reused: reused, into: &actions) { return }
    state = .exchanging(reused: reused)
    actions.append(.send(authorization))
  }

  /// A final response's head came; its body has not been read yet.
  package mutating func received(_ head: ResponseHead, into actions: inout [Action]) {
    guard case .exchanging = state else { return }
    if challenged(by: head, into: &actions) { return }
    if droppedExpectation(by: head, into: &actions) { return }
    if concernsStored(head, into: &actions) { return }
    guard 300..<400 ~= head.status else { return deliver(keeps: keeps(head), into: &actions) }
    var policy = RedirectPolicy()
    policy.limit = maximumRedirects
    policy.hostNameEncoder = hostNameEncoder
    policy.takesAnyScheme = mayLeaveHTTP
    let decision = policy.decide(
      RedirectPolicy.Request(method: request.method, url: request.url, fields: request.fields),
      status: head.status, response: head.fields, followed: redirects)
    switch decision {
    case .notARedirect: deliver(keeps: keeps(head), into: &actions)
    case .fail(let failure):
      actions.append(.discard)
      fail(.redirect(failure), into: &actions)
    case .follow(let redirect):
      let redirected = Request(
        method: redirect.method, url: redirect.url, fields: redirect.fields,
        body: redirect.keepsBody ? request.body : .none, cachePolicy: request.cachePolicy)
      state = .askingRedirect
      actions.append(.askRedirect(redirected))
    }
  }

  /// The delegate answered a redirect: with a request to load, or nil to refuse.
  package mutating func answeredRedirect(_ answer: Request?, into actions: inout [Action]) {
    guard case .askingRedirect = state else { return }
    guard let answer else {
      if !refusedRedirectFails { return deliver(into: &actions) }
      actions.append(.discard)
      return fail(.refusedRedirect, into: &actions)
    }
    redirects += 1
    hasRetried = false
    actions.append(.discard)
    // Credentials stay with their origin.
    if !answer.url.hasSameOrigin(as: request.url) { authorization = nil }
    take(answer)
    load(into: &actions)
  }

  /// The body that is being delivered is complete; `isKept`: there is a copy to store.
  package mutating func receivedEnd(isKept: Bool = false, into actions: inout [Action]) {
    switch state {
    case .delivering where isKept:
      state = .askingStoring
      actions.append(.askStoring)
    case .delivering, .deliveringStored:
      state = .ended
      actions.append(.finish)
    case .ready, .askingCanonical, .lookingUp, .connecting, .askingNewBody, .exchanging, .askingRedirect,
      .askingStorage, .askingDelegate, .askingStoring, .ended:
      break  // no body is being delivered
    }
  }

  /// The connection failed, or broke; the driver holds the error. `sentAnything` says whether the system has taken
  /// any byte of the request.
  package mutating func lost(receivedAnything: Bool, sentAnything: Bool, into actions: inout [Action]) {
    switch state {
    case .exchanging(let reused):
      let again = RetryPolicy.sendsAgain(
        method: request.method, wasReused: reused, receivedAnything: receivedAnything,
        sentAnything: sentAnything, hasRetried: hasRetried)
      guard again else { return fail(.connection, into: &actions) }
      hasRetried = true
      connect(fresh: true, into: &actions)
    case .connecting, .askingNewBody, .askingRedirect, .askingStorage, .askingDelegate, .delivering:
      fail(.connection, into: &actions)
    case .ready, .askingCanonical, .lookingUp, .deliveringStored, .askingStoring, .ended:
      break  // no connection of this load is open
    }
  }

  /// No byte has moved for the inactivity limit.
  package mutating func timedOut(into actions: inout [Action]) {
    switch state {
    case .connecting, .exchanging, .delivering: fail(.timedOut, into: &actions)
    case .ready, .askingCanonical, .lookingUp, .askingNewBody, .askingRedirect, .askingStorage,
      .askingDelegate, .deliveringStored, .askingStoring, .ended:
      break  // the clock stands while an answer is awaited
    }
  }

  /// The load was cancelled: nothing more comes of it.
  package mutating func cancelled() { state = .ended }

  // MARK: Parts of the transitions

  mutating func connect(fresh: Bool, into actions: inout [Action]) {
    state = .connecting
    actions.append(.connect(fresh: fresh))
  }

  mutating func deliver(keeps: Bool = false, into actions: inout [Action]) {
    state = .delivering
    actions.append(.deliver(keeps: keeps))
  }

  mutating func fail(_ failure: Failure, into actions: inout [Action]) {
    state = .ended
    actions.append(.fail(failure))
  }

  /// Makes a request that the delegate gave the current one, in its canonical form: it has been asked already.
  mutating func take(_ answer: Request) {
    request = CanonicalRequest(answer).request
  }
}
