import FoundationEssentials
import GannetCoding
import GannetHTTP
import GannetMultipart
import GannetPolicy
import GannetSockets
import Synchronization

/// Carries out what a load's machine decides: asks and tells the delegate, gets connections, passes bodies on.
///
/// Lives on one loop. Before each callback it looks whether the load was cancelled; a delegate that calls back in only
/// sets flags and posts jobs, so a callback never runs inside another.
final class LoadDriver {
  let id: UInt64
  let connection: URLConnection
  let client: LoopClient
  var machine: LoadMachine
  private var actions: [LoadMachine.Action] = []
  private var isPerforming = false

  private(set) var delegate: (any URLConnectionDelegate)?
  private(set) var dataDelegate: (any URLConnectionDataDelegate)?

  /// The request being loaded, with the body that the machine does not see.
  var request: URLRequest
  /// The response last received, which the machine holds or has had delivered.
  var response: HTTPURLResponse?
  private var framing = BodyFraming.none
  var wire: ConnectionDriver?
  /// The error that the machine's `.connection` failure stands for.
  private var connectionError: ConnectionError?
  private var challenge: URLAuthenticationChallenge?
  private var answeredCredential: URLCredential?

  var body = BodyState()

  private var inactivityLimit: Duration?
  /// The number of the way this load's connections take.
  let route: Int
  /// Whether the client watches this load's inactivity.
  private var isWatched = false
  private var lastActivity: ContinuousClock.Instant
  private var lastMoment: UInt64 = 0
  /// `safeURL`, until the request changes.
  private var shownURL: String?
  private var bytesSent = 0
  /// The connection of the response that was dropped last.
  private var draining: ConnectionDriver?

  init(
    _ id: UInt64, _ connection: URLConnection, _ delegate: (any URLConnectionDelegate)?, on client: LoopClient
  ) {
    self.id = id
    self.connection = connection
    self.client = client
    self.delegate = delegate
    self.dataDelegate = delegate as? any URLConnectionDataDelegate
    self.request = connection.originalRequest
    self.route = client.number(of: connection.configuration)
    self.inactivityLimit = connection.originalRequest.inactivityLimit
    self.lastActivity = client.loop.now
    self.machine = LoadMachine(
      LoadMachine.Request(connection.originalRequest, url: connection.address),
      maximumRedirects: max(0, connection.configuration.maximumRedirects),
      refusedRedirectFails: connection.configuration.refusedRedirect == .fail)
  }

  var isCancelled: Bool { connection.isCancelled.load(ordering: .acquiring) }
  var isPaused: Bool { connection.isPaused.load(ordering: .acquiring) }
  /// Whether no more of the body may be delivered now.
  var isStopped: Bool { isCancelled || isPaused || machine.hasEnded }

  // MARK: The machine

  func start() {
    touched()
    feed { machine, actions in machine.started(into: &actions) }
  }

  /// Feeds the machine an event and does what it says, unless that is being done already: then it is added.
  func feed(_ event: (inout LoadMachine, inout [LoadMachine.Action]) -> Void) {
    event(&machine, &actions)
    guard !isPerforming else { return }
    isPerforming = true
    var next = 0
    while next < actions.count, !isCancelled {
      let action = actions[next]
      next += 1
      perform(action)
    }
    actions.removeAll(keepingCapacity: true)
    isPerforming = false
  }

  private func perform(_ action: LoadMachine.Action) {
    switch action {
    case .askCanonical(let changed): askCanonical(changed)
    case .askRedirect(let redirected): askRedirect(redirected)
    case .connect(let fresh): connect(fresh: fresh)
    case .send(let authorization): send(authorization: authorization)
    case .askStorage(let realm): askStorage(realm: realm)
    case .askChallenge(let realm, let proposed, let failures):
      askChallenge(realm: realm, proposed: proposed, failures: failures)
    case .tellChallengeCancelled:
      if let challenge { delegate?.connection(connection, didCancel: challenge) }
    case .keepCredential(let realm): keepCredential(realm: realm)
    case .deliver: deliver()
    case .discard: discard()
    case .finish:
      finish { delegate in delegate?.connectionDidFinishLoading(connection) }
    case .fail(let failure): fail(error(for: failure))
    }
  }

  // MARK: Questions to the delegate

  private func askCanonical(_ changed: LoadMachine.Request) {
    let proposal = request.replacing(
      url: changed.url, method: changed.method, fields: changed.fields, keepsBody: true)
    answer(ask(proposal, nil)) { answer, machine, actions in
      machine.answeredCanonical(answer, into: &actions)
    }
  }

  private func askRedirect(_ redirected: LoadMachine.Request) {
    let proposal = request.replacing(
      url: redirected.url, method: redirected.method, fields: redirected.fields, keepsBody: redirected.hasBody
    )
    answer(ask(proposal, response)) { answer, machine, actions in
      machine.answeredRedirect(answer, into: &actions)
    }
  }

  private func ask(_ proposal: URLRequest, _ response: HTTPURLResponse?) -> URLRequest? {
    guard let dataDelegate else { return proposal }
    return dataDelegate.connection(connection, willSend: proposal, redirectResponse: response)
  }

  /// Takes the delegate's answer: nil, or a request that can be loaded; one that cannot fails the load.
  private func answer(
    _ answer: URLRequest?,
    _ event: (LoadMachine.Request?, inout LoadMachine, inout [LoadMachine.Action]) -> Void
  ) {
    guard !isCancelled else { return }
    guard let answer else { return feed { event(nil, &$0, &$1) } }
    do throws(ConnectionError) {
      let address = try answer.loadableAddress()
      request = answer
      inactivityLimit = answer.inactivityLimit
      isWatched = false
      connection.setCurrentRequest(answer)
      feed { event(LoadMachine.Request(answer, url: address), &$0, &$1) }
    } catch {
      discard()
      machine.cancelled()
      fail(error)
    }
  }

  // MARK: Challenges

  private func space(realm: String?) -> URLProtectionSpace {
    let origin = machine.request.url.origin
    return URLProtectionSpace(
      host: origin.host, port: Int(origin.port), protocol: origin.scheme, realm: realm)
  }

  private func askStorage(realm: String?) {
    var found: URLCredential?
    if delegate?.connectionShouldUseCredentialStorage(connection) ?? true {
      found = connection.configuration.credentialStorage.defaultCredential(for: space(realm: realm))
    }
    guard !isCancelled else { return }
    feed { $0.foundStoredCredential(found.flatMap { $0.basic }, into: &$1) }
  }

  private func askChallenge(realm: String?, proposed: BasicCredential?, failures: Int) {
    let challenge = URLAuthenticationChallenge(
      protectionSpace: space(realm: realm),
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
    answeredCredential = credential
    touched()
    feed { $0.answeredChallenge(answer, into: &$1) }
    if answer != .cancel { challenge = nil }
  }

  private func keepCredential(realm: String?) {
    guard let answeredCredential, answeredCredential.persistence != .none else { return }
    connection.configuration.credentialStorage.setDefaultCredential(
      answeredCredential, for: space(realm: realm))
  }

  // MARK: The connection

  private func connect(fresh: Bool) {
    response = nil
    shownURL = nil
    body = BodyState()
    touched()
    guard let draining else { return client.connect(self, to: machine.request.url.origin, fresh: fresh) }
    // The connection is free for this request once the rest of the response dropped just now has come.
    self.draining = nil
    draining.whenDrained { [weak self] in
      guard let self, !isCancelled, !machine.hasEnded else { return }
      client.connect(self, to: machine.request.url.origin, fresh: fresh)
    }
  }

  /// The pool has a connection for this load.
  func connected(_ wire: ConnectionDriver, reused: Bool) {
    self.wire = wire
    wire.load = self
    touched()
    feed { $0.connected(reused: reused, into: &$1) }
  }

  private func send(authorization: String?) {
    guard let wire else { return }
    bytesSent = 0
    do throws(ConnectionError) {
      let url = machine.request.url
      let isAsGiven = authorization == nil && url.text == request.urlString
      let outgoing =
        try isAsGiven
        ? request.composed(for: url) : RequestComposer(request, url: url, authorization: authorization)
      body.decodes = outgoing.decodes
      wire.begin(
        method: machine.request.method, head: outgoing.head, body: request.httpBody, closes: outgoing.closes)
    } catch {
      machine.cancelled()
      wire.abandon()
      self.wire = nil
      fail(error)
    }
  }

  // MARK: What the connection tells

  func receivedInformational(_ head: ResponseHead) {
    touched()
    guard !isCancelled else { return }
    dataDelegate?.connection(
      connection,
      didReceiveInformational: HTTPURLResponse(
        urlString: safeURL, head: head, expectedLength: -1))
  }

  func received(_ head: ResponseHead, framing: BodyFraming) {
    self.framing = framing
    if body.decodes, framing != .none, head.fields.contains("Content-Encoding") {
      body.decoder = ContentDecoder(contentEncoding: head.fields.values(for: "Content-Encoding"))
    }
    let isDecoded = body.decoder != nil
    let length = expectedLength(head, framing, isDecoded: isDecoded)
    response = HTTPURLResponse(
      urlString: safeURL, head: head, expectedLength: length)
    feed { $0.received(head, into: &$1) }
  }

  private func expectedLength(_ head: ResponseHead, _ framing: BodyFraming, isDecoded: Bool) -> Int64 {
    switch framing {
    case .length(let length): isDecoded ? -1 : length
    case .none:
      // An answer to HEAD says how long the body would be.
      machine.request.method == "HEAD" ? head.fields["Content-Length"].flatMap { Int64($0) } ?? -1 : 0
    case .chunked, .close, .upgrade: -1
    }
  }

  /// Whether the body may not be read yet: the machine holds the response until it knows what becomes of it.
  var holdsBody: Bool { machine.waitsForAnswer && !machine.hasEnded }

  func receivedEnd() {
    wire = nil
    touched()
    do throws(ConnectionError) {
      try finishBody()
    } catch {
      machine.cancelled()
      return fail(error)
    }
    feed { $0.receivedEnd(into: &$1) }
  }

  /// The connection failed or broke.
  func lost(_ error: ConnectionError, receivedAnything: Bool, sentAnything: Bool) {
    wire = nil
    connectionError = error
    feed { $0.lost(receivedAnything: receivedAnything, sentAnything: sentAnything, into: &$1) }
  }

  func receivedTrailers(_ trailers: FieldList) {
    guard !isCancelled, !trailers.isEmpty else { return }
    dataDelegate?.connection(connection, didReceiveTrailers: trailers)
  }

  func sentBody(_ count: Int) {
    touched()
    bytesSent += count
    guard !isCancelled else { return }
    dataDelegate?.connection(
      connection, didSendBodyData: count, totalBytesWritten: bytesSent,
      totalBytesExpectedToWrite: request.httpBody?.count ?? bytesSent)
  }

  // MARK: Delivery

  private func deliver() {
    guard let response, let wire else { return }
    if framing != .none {
      body.begin(response, connection.configuration)
      if body.isEndless { client.becameEndless(wire) }
    }
    dataDelegate?.connection(connection, didReceive: response)
    wire.wantsReading()
  }

  private func discard() {
    draining = wire
    wire?.abandon()
    wire = nil
  }

  // MARK: Pause, time-out, end

  func resume() {
    touched()
    wire?.wantsReading()
  }

  /// A byte has moved: the inactivity clock starts anew.
  func touched() {
    let moment = client.loop.moments
    guard moment != lastMoment || !isWatched else { return }
    lastMoment = moment
    lastActivity = client.loop.now
    guard !isWatched, let inactivityLimit else { return }
    isWatched = true
    client.watchInactivity(until: lastActivity.advanced(by: inactivityLimit))
  }

  /// Fails the load when nothing has moved for too long; otherwise returns when to look again. The clock stands while
  /// the load is paused or waits for an answer.
  func checkInactivity() -> ContinuousClock.Instant? {
    guard let inactivityLimit, !machine.hasEnded, !isCancelled else { return nil }
    if isPaused || machine.waitsForAnswer { lastActivity = client.loop.now }
    let deadline = lastActivity.advanced(by: inactivityLimit)
    guard client.loop.now >= deadline else { return deadline }
    feed { $0.timedOut(into: &$1) }
    return nil
  }

  /// Ends the load without a word: it was cancelled.
  func cancel() {
    machine.cancelled()
    leave()
  }

  /// The loop has gone without a word: lets go of everything, and tells nobody.
  func drop() {
    machine.cancelled()
    (wire, draining, delegate, dataDelegate) = (nil, nil, nil, nil)
  }

  /// The loop's thread has ended under the load.
  func hostEnded() {
    guard !isCancelled, !machine.hasEnded else { return cancel() }
    let error = ConnectionError(
      .networkConnectionLost, phase: phase, url: safeURL,
      reason: "the thread of the load's event loop has ended")
    machine.cancelled()
    fail(error)
  }

  func fail(_ error: ConnectionError) {
    finish { _ in delegate?.connection(connection, didFailWithError: error) }
  }

  /// The terminal callback, and then nothing: everything is let go before it and the delegate after it.
  private func finish(_ tell: ((any URLConnectionDataDelegate)?) -> Void) {
    connection.ended()
    guard !isCancelled else { return leave() }
    release()
    tell(dataDelegate)
    delegate = nil
    dataDelegate = nil
    client.ended(self)
  }

  private func leave() {
    connection.ended()
    release()
    delegate = nil
    dataDelegate = nil
    client.ended(self)
  }

  private func release() {
    client.left(self)
    wire?.abandon()
    wire = nil
  }

  // MARK: Errors

  /// The URL without user name and password.
  var safeURL: String {
    if let shownURL { return shownURL }
    let text = machine.request.url.withoutUserInfo.text
    shownURL = text
    return text
  }
  var phase: ConnectionError.Phase { wire?.phaseOfLoad ?? (machine.isConnecting ? .connecting : .preparing) }

  private func timedOut(while phase: ConnectionError.Phase) -> ConnectionError {
    ConnectionError(
      .timedOut, phase: phase, url: safeURL,
      reason: "nothing moved for \(request.timeoutInterval) seconds while \(phase.rawValue)")
  }

  private func error(for failure: LoadMachine.Failure) -> ConnectionError {
    switch failure {
    case .connection:
      connectionError
        ?? ConnectionError(.unknown, phase: phase, url: safeURL, reason: "the connection was lost")
    case .timedOut: timedOut(while: wire?.phaseOfLoad ?? .connecting)
    case .refusedCanonical:
      ConnectionError(
        .redirectToNonExistentLocation, phase: .preparing, url: safeURL,
        reason: "the delegate refused the canonical form of the request")
    case .refusedRedirect:
      ConnectionError(
        .redirectToNonExistentLocation, phase: .receiving, url: safeURL,
        reason: "the delegate refused the redirect")
    case .redirect(let failure): ConnectionError(failure, url: safeURL)
    case .cancelledAuthentication:
      ConnectionError(
        .userCancelledAuthentication, phase: .receiving, url: safeURL, reason: "the challenge was cancelled")
    }
  }
}
