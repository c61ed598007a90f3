package import GannetHTTP

/// One load from its request to its end: canonical step, connection, challenge, redirect, delivery. All its decisions
/// lie here; bodies pass it by.
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
    package var hasBody: Bool

    package init(method: String, url: HTTPURL, fields: FieldList, hasBody: Bool) {
      self.method = method
      self.url = url
      self.fields = fields
      self.hasBody = hasBody
    }
  }

  /// What the driver has to do.
  package enum Action: Equatable, Sendable {
    /// Ask the delegate about the canonical form of its request; answered by `answeredCanonical`.
    case askCanonical(Request)
    /// Ask the delegate about a redirect, showing the response held; answered by `answeredRedirect`.
    case askRedirect(Request)
    /// Get a connection to the current request's origin, `fresh` or one that was used before; `connected` or
    /// `lost` follows.
    case connect(fresh: Bool)
    /// Write the current request on the connection, with this `Authorization` where there is one.
    case send(authorization: String?)
    /// Look for a stored credential for this realm; answered by `foundStoredCredential`.
    case askStorage(realm: String?)
    /// Ask the delegate for a credential, showing the response held; answered by `answeredChallenge`.
    case askChallenge(realm: String?, proposed: BasicCredential?, previousFailures: Int)
    /// Tell the delegate that its challenge is cancelled.
    case tellChallengeCancelled
    /// Keep the credential that was accepted for this realm, as its persistence says.
    case keepCredential(realm: String?)
    /// Deliver the response held, then its body as it comes.
    case deliver
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
    /// The connection failed or was lost; the driver holds the error.
    case connection
    /// No byte moved for the inactivity limit.
    case timedOut
  }

  /// The answers to a challenge.
  package enum ChallengeAnswer: Equatable, Sendable {
    case use(BasicCredential)
    case withoutCredential
    case rejectSpace
    case cancel
  }

  enum State: Equatable, Sendable {
    case ready
    case askingCanonical(Request)
    case connecting
    case exchanging(reused: Bool)
    case askingRedirect(Request)
    case askingStorage
    case askingDelegate
    case delivering
    case ended
  }

  var state = State.ready
  /// The request being loaded now.
  package internal(set) var request: Request
  var hasRetried = false
  var redirects = 0
  let maximumRedirects: Int
  let refusedRedirectFails: Bool
  var authentication = AuthenticationPolicy()
  /// The `Authorization` that answered a challenge of the current request's origin.
  var authorization: String?
  var realm: String?
  var lastTried: BasicCredential?
  var failures = 0
  /// Whether the credential that is being tried came from the delegate, and so is to be kept.
  var keepsCredential = false

  /// A load of this request, whose URL the driver has found to be one that can be loaded.
  package init(_ request: Request, maximumRedirects: Int, refusedRedirectFails: Bool) {
    self.request = request
    self.maximumRedirects = maximumRedirects
    self.refusedRedirectFails = refusedRedirectFails
  }

  /// Whether the load waits for someone other than the peer, so its inactivity clock stands still.
  package var waitsForAnswer: Bool {
    switch state {
    case .askingCanonical, .askingRedirect, .askingStorage, .askingDelegate, .ended: true
    case .ready, .connecting, .exchanging, .delivering: false
    }
  }

  /// Whether the load waits for a connection.
  package var isConnecting: Bool { state == .connecting }

  /// Whether nothing more can come of this load.
  package var hasEnded: Bool { state == .ended }

  // MARK: Events

  /// The load begins.
  package mutating func started(into actions: inout [Action]) {
    guard case .ready = state else { return }
    if request.url.isCanonical { return connect(fresh: false, into: &actions) }
    var canonical = request
    canonical.url = request.url.canonical
    state = .askingCanonical(canonical)
    actions.append(.askCanonical(canonical))
  }

  /// The delegate answered the canonical step: with a request to load, or nil to refuse.
  package mutating func answeredCanonical(_ answer: Request?, into actions: inout [Action]) {
    guard case .askingCanonical = state else { return }
    guard let answer else { return fail(.refusedCanonical, into: &actions) }
    take(answer)
    connect(fresh: false, into: &actions)
  }

  /// A connection is there, new or used before.
  package mutating func connected(reused: Bool, into actions: inout [Action]) {
    guard case .connecting = state else { return }
    state = .exchanging(reused: reused)
    actions.append(.send(authorization: authorization))
  }

  /// A final response's head came; its body has not been read yet.
  package mutating func received(_ head: ResponseHead, into actions: inout [Action]) {
    guard case .exchanging = state else { return }
    if challenged(by: head, into: &actions) { return }
    guard 300..<400 ~= head.status else { return deliver(into: &actions) }
    var policy = RedirectPolicy()
    policy.limit = maximumRedirects
    let decision = policy.decide(
      RedirectPolicy.Request(method: request.method, url: request.url, fields: request.fields),
      status: head.status, response: head.fields, followed: redirects)
    switch decision {
    case .notARedirect: deliver(into: &actions)
    case .fail(let failure):
      actions.append(.discard)
      fail(.redirect(failure), into: &actions)
    case .follow(let redirect):
      let redirected = Request(
        method: redirect.method, url: redirect.url, fields: redirect.fields,
        hasBody: redirect.keepsBody && request.hasBody)
      state = .askingRedirect(redirected)
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
    connect(fresh: false, into: &actions)
  }

  /// The body that is being delivered is complete.
  package mutating func receivedEnd(into actions: inout [Action]) {
    guard case .delivering = state else { return }
    state = .ended
    actions.append(.finish)
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
    case .connecting, .askingRedirect, .askingStorage, .askingDelegate, .delivering:
      fail(.connection, into: &actions)
    case .ready, .askingCanonical, .ended:
      break  // no connection of this load is open
    }
  }

  /// No byte has moved for the inactivity limit.
  package mutating func timedOut(into actions: inout [Action]) {
    switch state {
    case .connecting, .exchanging, .delivering: fail(.timedOut, into: &actions)
    case .ready, .askingCanonical, .askingRedirect, .askingStorage, .askingDelegate, .ended:
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

  mutating func deliver(into actions: inout [Action]) {
    state = .delivering
    actions.append(.deliver)
  }

  mutating func fail(_ failure: Failure, into actions: inout [Action]) {
    state = .ended
    actions.append(.fail(failure))
  }

  /// Makes a request that the delegate gave the current one, in its canonical form: it has been asked already.
  private mutating func take(_ answer: Request) {
    request = answer
    if !answer.url.isCanonical { request.url = answer.url.canonical }
  }
}
