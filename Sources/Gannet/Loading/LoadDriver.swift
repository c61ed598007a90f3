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
  /// The challenge that waits for its answer, and the credential of the last answer.
  var challenge: URLAuthenticationChallenge?
  var answeredCredential: URLCredential?

  var body = BodyState()

  /// The stored response that was found for the current request.
  var found: URLCache.Entry?
  /// What of the stored body has not been delivered yet; empty when only the end is left, nil when nothing is.
  var storedBody: Data?
  /// Keeps the body being delivered, when it is to be stored.
  var keeper: BodyKeeper?
  /// When the current request was written, and with which Basic `Authorization` of ours.
  var sentAt: LoopTime
  var sentAuthorization: String?
  /// The stored cookies that the current request is sent with.
  var sentCookie: [UInt8]?

  var inactivityLimit: Duration?
  /// The number of the way this load's connections take.
  let route: Int
  /// Whether the client watches this load's inactivity.
  var isWatched = false
  var lastActivity: LoopTime
  var lastMoment: UInt64 = 0
  /// `safeURL`, until the request changes.
  private var shownURL: String?
  var bytesSent = 0
  /// How many bytes the body has that is being sent; -1 when that is not known.
  var bodyLength = 0
  /// What was done on the network, when that is asked for.
  var metrics: URLConnectionMetrics?
  /// The connection of the response that was dropped last.
  private var draining: ConnectionDriver?

  init(_ id: UInt64, _ start: LoadStart, _ address: HTTPURL, on client: LoopClient) {
    self.id = id
    let connection = start.connection
    self.connection = connection
    self.client = client
    self.delegate = start.delegate
    self.dataDelegate = start.delegate as? any URLConnectionDataDelegate
    self.request = start.request.withoutShownCookies
    self.route = client.routeNumber(of: connection)
    self.inactivityLimit = start.request.inactivityLimit
    self.lastActivity = client.loop.time
    self.sentAt = lastActivity
    metrics = start.metrics
    if metrics == nil, connection.configuration.collectsMetrics { metrics = URLConnectionMetrics() }
    self.machine = LoadMachine(
      LoadMachine.Request(request, url: start.isFirst ? address : address.canonical),
      maximumRedirects: max(0, connection.configuration.maximumRedirects),
      refusedRedirectFails: connection.configuration.refusedRedirect == .fail,
      usesCache: connection.configuration.urlCache != nil, followed: start.redirects,
      supportsHash: Hashes.supports)
    machine.mayLeaveHTTP = URLProtocol.isAsked(connection.configuration)
    machine.hostNameEncoder = .shared
  }

  var isCancelled: Bool { connection.isCancelled.load(ordering: .acquiring) }
  var isPaused: Bool { connection.isPaused.load(ordering: .acquiring) }
  /// Whether no more of the body may be delivered now.
  var isStopped: Bool { isCancelled || isPaused || hasEnded }

  // MARK: The machine

  var hasEnded: Bool { machine.state.hasEnded }
  /// Whether the body may not be read yet, because the machine holds the response until it knows what becomes of it.
  var holdsBody: Bool { machine.state.waitsForAnswer && !hasEnded }

  /// `isFirst`: no other driver has had the load before.
  func start(isFirst: Bool) {
    touched()
    if isFirst, connection.configuration.isDownload {
      (dataDelegate as? any DownloadLoadDelegate)?.connectionDidBegin(connection)
      guard !isCancelled else { return }
    }
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
    case .lookUp: lookUp()
    case .deliverStored: deliverStored()
    case .freshen(let fields): freshen(fields)
    case .invalidate: invalidate()
    case .connect(let fresh): connect(fresh: fresh)
    case .askNewBody: askNewBody()
    case .send(let answer): send(answer)
    case .askStorage(let space): askStorage(space)
    case .askChallenge(let space, let proposed, let failures):
      askChallenge(space, proposed: proposed, failures: failures)
    case .tellChallengeCancelled:
      if let challenge { delegate?.connection(connection, didCancel: challenge) }
    case .keepCredential(let space): keepCredential(space)
    case .renewSession(let login, let nonce): client.digests.renew(login, nonce: nonce)
    case .keepLogin(let login): keepLogin(login)
    case .dropLogin(let login): client.digests.drop(login)
    case .deliver(let keeps): deliver(keeps: keeps)
    case .askStoring: askStoring()
    case .store: store()
    case .discard: discard()
    case .finish:
      finish { delegate in delegate?.connectionDidFinishLoading(connection) }
    case .fail(let failure): fail(error(for: failure))
    }
  }

  // MARK: Questions to the delegate

  private func askCanonical(_ changed: LoadMachine.Request) {
    let proposal = request.replacing(
      url: changed.url, method: changed.method, fields: changed.fields, keepsBody: true
    ).showingCookies(of: cookieStorage, for: changed.url)
    answer(ask(proposal, nil), isRedirect: false) { answer, machine, actions in
      machine.answeredCanonical(answer, into: &actions)
    }
  }

  private func askRedirect(_ redirected: LoadMachine.Request) {
    let proposal = request.replacing(
      url: redirected.url, method: redirected.method, fields: redirected.fields,
      keepsBody: redirected.body != .none
    ).showingCookies(of: cookieStorage, for: redirected.url)
    if machine.mayLeaveHTTP {
      do throws(ConnectionError) { _ = try proposal.target(connection.configuration, isRedirect: true) } catch
      {
        discard()
        machine.cancelled()
        return fail(error)
      }
    }
    answer(ask(proposal, response), isRedirect: true) { answer, machine, actions in
      machine.answeredRedirect(answer, into: &actions)
    }
  }

  private func ask(_ proposal: URLRequest, _ response: HTTPURLResponse?) -> URLRequest? {
    guard let dataDelegate else { return proposal }
    return dataDelegate.connection(connection, willSend: proposal, redirectResponse: response)
  }

  /// Takes the delegate's answer: nil, or a request that can be loaded; one that cannot fails the load.
  private func answer(
    _ answer: URLRequest?, isRedirect: Bool,
    _ event: (LoadMachine.Request?, inout LoadMachine, inout [LoadMachine.Action]) -> Void
  ) {
    guard !isCancelled else { return }
    guard let answer else { return feed { event(nil, &$0, &$1) } }
    do throws(ConnectionError) {
      let target = try answer.target(connection.configuration, isRedirect: isRedirect)
      guard case .network(let address) = target else {
        return leave(to: target, answer, isRedirect: isRedirect)
      }
      request = answer.withoutShownCookies
      inactivityLimit = answer.inactivityLimit
      isWatched = false
      connection.setCurrentRequest(answer)
      feed { event(LoadMachine.Request(request, url: address), &$0, &$1) }
    } catch {
      discard()
      machine.cancelled()
      fail(error)
    }
  }

  /// A protocol class takes the request that the delegate wants loaded.
  private func leave(to target: LoadTarget, _ answer: URLRequest, isRedirect: Bool) {
    connection.setCurrentRequest(answer)
    let start = LoadStart(
      connection: connection, delegate: delegate, request: answer,
      redirects: machine.redirectCount + (isRedirect ? 1 : 0), metrics: metrics, isFirst: false)
    discard()
    machine.cancelled()
    release()
    (delegate, dataDelegate) = (nil, nil)
    client.takeOver(start, target)
  }

  // MARK: The connection

  private func connect(fresh: Bool) {
    requestChanged()
    body = BodyState()
    touched()
    recallLogin()
    // The delegate was asked, and may have run the loop.
    guard !isCancelled, machine.state.isConnecting else { return }
    if metrics != nil { beginTransaction(fresh: fresh) }
    guard let draining else { return client.connect(self, to: machine.request.url.origin, fresh: fresh) }
    // The connection is free for this request once the rest of the response dropped just now has come.
    self.draining = nil
    draining.whenDrained { [weak self] in
      guard let self, !isCancelled, !hasEnded else { return }
      client.connect(self, to: machine.request.url.origin, fresh: fresh)
    }
  }

  /// Another request is loaded than the one before, or the same once more.
  func requestChanged() {
    response = nil
    shownURL = nil
    keeper = nil
  }

  /// The pool has a connection for this load.
  func connected(_ wire: ConnectionDriver, reused: Bool) {
    self.wire = wire
    wire.load = self
    touched()
    if metrics != nil { noteConnected(wire, reused: reused) }
    feed { $0.connected(reused: reused, into: &$1) }
  }

  // MARK: What the connection tells

  func receivedInformational(_ head: ResponseHead) {
    touched()
    guard !isCancelled else { return }
    dataDelegate?.connection(
      connection,
      didReceiveInformational: HTTPURLResponse(
        urlString: safeURL, head: head, expectedLength: -1, on: wire))
  }

  func received(_ head: ResponseHead, framing: BodyFraming) {
    self.framing = framing
    if metrics != nil { noteResponse(head.status) }
    takeCookies(of: head)
    if body.decodes, framing != .none, head.fields.contains("Content-Encoding") {
      body.decoder = ContentDecoder(contentEncoding: head.fields.values(for: "Content-Encoding"))
    }
    let isDecoded = body.decoder != nil
    let length = expectedLength(head, framing, isDecoded: isDecoded)
    response = HTTPURLResponse(urlString: safeURL, head: head, expectedLength: length, on: wire)
    feed { $0.received(head, into: &$1) }
  }

  private func expectedLength(_ head: ResponseHead, _ framing: BodyFraming, isDecoded: Bool) -> Int64 {
    switch framing {
    case .length(let length): isDecoded ? -1 : length
    case .none:
      // An answer to HEAD says how long the body would be.
      machine.request.method == "HEAD"
        ? head.fields["Content-Length"].flatMap { Int64($0) }.map { max(-1, $0) } ?? -1 : 0
    case .chunked, .close, .upgrade: -1
    }
  }

  func receivedEnd() {
    wire = nil
    touched()
    do throws(ConnectionError) {
      try finishBody()
    } catch {
      machine.cancelled()
      return fail(error)
    }
    let isKept = keeper != nil
    feed { $0.receivedEnd(isKept: isKept, into: &$1) }
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

  // MARK: Delivery

  private func deliver(keeps: Bool) {
    if connection.configuration.isDownload { askWhetherToDecode() }
    guard let response, let wire, !isCancelled else { return }
    if framing != .none {
      body.begin(response, of: connection)
      if body.isEndless { client.becameEndless(wire) }
    }
    if keeps { beginKeeping(response) }
    dataDelegate?.connection(connection, didReceive: response)
    wire.wantsReading()
  }

  /// A download may want its body as it comes: its length is known then, too.
  private func askWhetherToDecode() {
    guard body.decoder != nil, let response, let delegate = dataDelegate as? any DownloadLoadDelegate,
      !delegate.connection(connection, shouldDecode: response)
    else { return }
    body.decoder = nil
    if case .length(let length) = framing {
      self.response = HTTPURLResponse(response, expectedLength: length)
    }
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
    passStoredOn()
  }

  /// Fails the load when nothing has moved for too long; otherwise returns when to look again. The clock stands while
  /// the load is paused or waits for an answer.
  func checkInactivity() -> LoopTime? {
    guard let inactivityLimit, !hasEnded, !isCancelled else { return nil }
    if isPaused || machine.state.waitsForAnswer { lastActivity = client.loop.time }
    let deadline = lastActivity.advanced(by: inactivityLimit)
    guard client.loop.time >= deadline else { return deadline }
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
    guard !isCancelled, !hasEnded else { return cancel() }
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
    if let metrics {
      dataDelegate?.connection(connection, didFinishCollecting: metrics)
      guard !isCancelled else { return leave() }
    }
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
  var phase: ConnectionError.Phase {
    if let wire { return wire.phaseOfLoad }
    return switch machine.state {
    case .ready, .askingCanonical, .lookingUp, .askingNewBody: .preparing
    case .connecting: .connecting
    case .exchanging: .awaiting
    case .askingRedirect, .askingStorage, .askingDelegate, .delivering, .deliveringStored, .askingStoring,
      .ended:
      .receiving
    }
  }

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
    case .notStored:
      ConnectionError(
        .resourceUnavailable, phase: .preparing, url: safeURL,
        reason: "the response was to come from the cache alone, and it is not there")
    case .redirect(let failure): ConnectionError(failure, url: safeURL)
    case .noNewBody:
      ConnectionError(
        .requestBodyStreamExhausted, phase: .preparing, url: safeURL,
        reason: "the request's body has to be sent again, and the delegate gave none")
    case .cancelledAuthentication:
      ConnectionError(
        .userCancelledAuthentication, phase: .receiving, url: safeURL, reason: "the challenge was cancelled")
    }
  }
}
