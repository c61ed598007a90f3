import FoundationEssentials
import GannetExchange
import GannetHTTP
import GannetPolicy
import GannetSockets
import GannetTLS

/// One connection: opens it, joins its transport to TLS and to the exchange machine, and tells the load it serves.
///
/// Reads into its client's buffer, so an idle connection or a silent stream holds none. Lives on one loop.
final class ConnectionDriver {
  enum Phase {
    case connecting
    case handshaking
    case idle
    case busy
    /// The load has left; what is left of the body is read, so the connection can be used again.
    case draining
    case closed
  }

  let id: UInt64
  let origin: Origin
  let configuration: URLConnection.Configuration
  unowned let client: LoopClient
  var phase = Phase.connecting
  /// The load being served, or waited for.
  var load: LoadDriver?

  var transport: (any StreamTransport)?
  var tls: TLSEngine?
  var exchange: ExchangeMachine
  var outbox = Outbox()
  /// Ciphertext that the socket has not taken yet.
  var ciphertext: [UInt8] = []
  var ciphertextSent = 0
  /// Runs while the server is given its time to say 100.
  var continueTimer: LoopTimer?

  /// Plaintext that came while the load could not take it; the first `stashedBody` bytes are body already.
  var stash: [UInt8] = []
  var stashedBody = 0
  /// Whether processing was stopped there, with or without bytes left.
  var wasHeld = false
  var isProcessing = false
  /// Whether the request has ended since reading looked whether the response has, too.
  var endMayBeDue = false
  /// Whether there was something to read while that was not to be done.
  var hasPutOffReading = false
  /// Whether the peer's end has been announced and not been read yet.
  var isPeerEnding = false
  /// The peer's end of file or reset, seen while bytes before it could not be delivered.
  var pendingEnd: StreamEnd?
  /// Why the request could not be sent whole.
  var sendFailure: CInt?

  private var attempt: Attempt?
  private var drainTimer: LoopTimer?
  private var drainCompletion: (() -> Void)?
  var drained = 0
  /// Whether the response is a stream of parts, whose rest nobody reads to save the connection.
  var isEndless = false
  /// Why no other request is to follow the one being answered, whatever the response says.
  var closing: ConnectionCloseReason?
  /// Bytes of the current exchange, before and after TLS.
  var (bytesSent, bytesReceived): (Int64, Int64) = (0, 0)
  /// Bytes of the current exchange's heads: the request's, and the response's with informational ones before it.
  private(set) var requestHeadBytes = 0
  var responseHeadBytes: Int64 = 0
  /// Whom it reached: an address, or the path of a Unix socket; nil where there is no socket.
  private(set) var peer: SocketAddress?
  /// When it was opened, where the load that opened it wants to know.
  private(set) var times: ConnectionTimes?
  var keepAlive = KeepAlivePolicy()
  /// The moment in which the last exchange ended.
  private var idleSince: UInt64 = 0
  /// How many exchanges have begun.
  private(set) var exchanges = 0

  /// What ended a stream.
  enum StreamEnd { case endOfFile, failed(CInt) }

  /// How much of an unwanted body is read to save its connection, and for how long.
  private static let drainBytes = 64 * 1024
  private static let drainTime = Duration.seconds(1)

  init(_ id: UInt64, for load: LoadDriver, on client: LoopClient) {
    self.id = id
    self.origin = load.machine.request.url.origin
    self.load = load
    self.configuration = load.connection.configuration
    self.client = client
    self.exchange = ExchangeMachine(limits: configuration.limits)
  }

  /// The connection's number for those who watch: how many were opened on the loop up to it.
  var number: UInt64 { id >> 32 }

  /// How long it may idle now.
  var lifetime: Duration { keepAlive.lifetime(preferring: configuration.idleConnectionLifetime) }

  var isIdle: Bool { phase == .idle }

  /// The phase of the load that this connection serves.
  var phaseOfLoad: ConnectionError.Phase {
    switch phase {
    case .connecting: attempt?.isResolving == true ? .resolving : .connecting
    case .handshaking: .handshaking
    case .idle, .busy, .draining, .closed:
      if exchange.isWaitingForRequestEnd || exchange.request.isUnderWay && exchange.awaitsFinalResponse {
        .sending
      } else if exchange.receivedAnything {
        .receiving
      } else {
        sendFailure != nil || exchange.request.isUnderWay ? .sending : .awaiting
      }
    }
  }

  /// What errors are about.
  var url: String { load?.safeURL ?? origin.description }

  // MARK: Opening

  func open() {
    load?.wire = self
    if let load, load.metrics != nil {
      times = ConnectionTimes()
      load.opens(self, besideOthers: client.hasOthers(beside: self))
    }
    if let provider = configuration.transportProvider {
      let transport = provider.makeTransport(to: origin, on: client.loop)
      return client.loop.perform { [weak self] _ in
        if let self { opened(transport) } else { transport.close() }
      }
    }
    let endpoint: Endpoint =
      if let path = configuration.unixSocketPath { .unix(path: path) } else {
        .host(origin.host, port: origin.port)
      }
    attempt = Connector.connect(to: endpoint, on: client.loop, timeLimit: configuration.connectTimeLimit) {
      [weak self] result in
      guard let self, phase == .connecting else { return }
      noteAttempt()
      attempt = nil
      switch result {
      case .success(let socket): opened(socket)
      case .failure(let failure): fail(ConnectionError(failure, url: url))
      }
    }
  }

  /// Notes when the attempt that is under way passed its phases.
  private func noteAttempt() {
    if let attempt { times?.note(attempt) }
  }

  private func opened(_ transport: any StreamTransport) {
    guard phase == .connecting else { return transport.close() }
    self.transport = transport
    peer = (transport as? StreamSocket)?.peer
    listen(to: transport)
    load?.touched()
    guard origin.scheme == "https", configuration.transportProvider == nil else { return established() }
    phase = .handshaking
    times?.secureStart = client.loop.now
    do throws(TLSError) {
      let context = try TLSContext.client(trust: TLSContext.Trust(configuration.trust))
      tls = try TLSEngine(client: context, serverName: origin.host)
      try handshake()
    } catch {
      fail(ConnectionError(error, phase: .handshaking, url: url))
    }
  }

  func handshake() throws(TLSError) {
    guard let tls, phase == .handshaking else { return }
    defer { flush() }
    guard try tls.handshake() else { return }
    times?.secureEnd = client.loop.now
    established()
  }

  private func established() {
    phase = .idle
    times?.connectEnd = client.loop.now
    configuration.trafficObserver?.opened(description)
    guard let load else { return close(.unwanted) }
    client.ready(self, for: load)
  }

  private var description: ConnectionDescription {
    let security = tls.map { tls in
      [tls.negotiatedVersion, tls.cipher, tls.peerCertificate.map { "certificate of \($0.subject)" }]
        .compactMap { $0 }.joined(separator: ", ")
    }
    return ConnectionDescription(
      id: number, origin: origin,
      address: peer.map { "\($0)" }, security: security)
  }

  /// This end; nil for a Unix socket, where there is no socket, and once closed.
  var localAddress: SocketAddress? { (transport as? StreamSocket)?.localAddress }

  // MARK: One exchange

  /// Sends a request for the load that this connection now serves.
  func begin(_ request: consuming OutgoingRequest) {
    phase = .busy
    closing = request.closes ? .asked : nil
    (bytesSent, bytesReceived, responseHeadBytes) = (0, 0, 0)
    exchanges += 1
    drained = 0
    isEndless = false
    let body: ExchangeMachine.RequestBody =
      request.body == nil ? .none : request.awaitsContinue ? .followsContinue : .follows
    if let configuration = load?.connection.configuration {
      exchange.acceptsUnchunkedStreams = configuration.acceptsUnchunkedStreams
      exchange.ignoresStreamLengths = configuration.ignoresStreamLengths
    }
    exchange.beganRequest(method: request.method, body: body, mayUpgrade: request.mayUpgrade)
    outbox = Outbox(request)
    requestHeadBytes = outbox.headCount
    flush()
  }

  /// The load has no more use for what this connection brings: it is drained for the next one, or closed.
  func abandon() {
    let load = self.load
    self.load = nil
    switch phase {
    case .connecting, .handshaking, .idle:
      noteAttempt()
      load?.exchangeEnded(self, .unwanted)
      close(.unwanted)
    case .busy:
      guard isWorthDraining, exchange.request == .sent, closing == nil else {
        let end: ConnectionCloseReason =
          exchange.request == .stopped ? .response(.requestUnfinished) : .unwanted
        let reason = closing ?? exchange.reasonToClose ?? end
        load?.exchangeEnded(self, reason)
        return close(reason)
      }
      load?.exchangeEnded(self, nil)
      phase = .draining
      if !isProcessing { client.loop.perform { [weak self] _ in self?.drainRest() } }
      drainTimer = client.loop.makeTimer { [weak self] _ in
        if self?.phase == .draining { self?.close(.unwanted) }
      }
      drainTimer?.schedule(at: client.loop.time.advanced(by: ConnectionDriver.drainTime))
    case .draining, .closed: break  // it was left before
    }
  }

  /// Calls back in a job of its own, once this connection has read what nobody wanted and is idle, or has closed.
  func whenDrained(_ completion: @escaping () -> Void) {
    drainCompletion = completion
    if phase != .draining { drainEnded() }
  }

  private func drainEnded() {
    drainTimer = nil
    guard let completion = drainCompletion else { return }
    drainCompletion = nil
    client.loop.perform { _ in completion() }
  }

  private var isWorthDraining: Bool {
    guard !isEndless, exchange.persistence.isReusable else { return false }
    switch exchange.state {
    case .receivingLength(let rest): return rest <= ConnectionDriver.drainBytes
    case .receivingChunks, .ending: return true
    case .idle, .awaitingHead, .receivingUntilClose, .awaitingRequestEnd, .ended, .failed: return false
    }
  }

  private func drainRest() {
    guard phase == .draining else { return }
    wantsReading()
  }

  /// Counts body bytes that nobody wants; closes the connection when they are too many.
  func drain(_ count: Int) {
    drained += count
    if drained > ConnectionDriver.drainBytes { close(.unwanted) }
  }

  /// The exchange is over: the connection goes back to the pool or closes, and then the load hears of it.
  func ended(leftover: Int) {
    let load = self.load
    self.load = nil
    let isEnding = isPeerEnding || pendingEnd != nil || tls?.hasReceivedClose == true
    let reason =
      exchange.reasonToClose ?? (leftover > 0 ? .unaskedBytes : nil) ?? closing
      ?? (isEnding ? .serverEnded : nil)
    load?.exchangeEnded(self, reason)
    if let reason {
      close(reason)
    } else {
      phase = .idle
      idleSince = client.loop.moments
      configuration.trafficObserver?.kept(number)
      client.released(self, lifetime: lifetime)
      drainEnded()
    }
    load?.receivedEnd()
  }

  /// Whether nothing has come, and nothing ended, since the last exchange: what a server says before it is asked is no
  /// answer. In the moment in which that exchange ended there is nothing to look for, as all was read then.
  func isStillSilent() -> Bool {
    if client.loop.moments != idleSince {
      transport?.lookAgain()
      wantsReading()
    }
    return isIdle
  }

  /// The stream of parts has said that it is over, whatever the framing says.
  func endOfStream() {
    guard phase == .busy else { return }
    let load = self.load
    self.load = nil
    load?.exchangeEnded(self, .streamOver)
    close(.streamOver)
    load?.receivedEnd()
  }

  // MARK: The end

  /// Something failed: the load hears of it, and the connection is closed.
  func fail(_ error: ConnectionError) {
    let load = self.load
    let (receivedAnything, sentAnything) = (exchange.receivedAnything, outbox.sentAnything)
    self.load = nil
    load?.exchangeEnded(self, .failed(error.code))
    close(.failed(error.code))
    load?.lost(error, receivedAnything: receivedAnything, sentAnything: sentAnything)
  }

  /// The request's body cannot be sent whole: no matter what the server says, the load is over. The connection is closed
  /// within the body, so that the server sees that it has not all of it.
  func bodyFailed(_ error: RequestBodyError) {
    let load = self.load
    self.load = nil
    let error = ConnectionError(error, phase: .sending, url: load?.safeURL ?? url)
    load?.exchangeEnded(self, .failed(error.code))
    close(.failed(error.code))
    load?.failedBody(error)
  }

  /// Closes the connection; nothing of it is heard again.
  func close(_ reason: ConnectionCloseReason) {
    guard phase != .closed else { return }
    let wasOpen = phase != .connecting && phase != .handshaking
    phase = .closed
    attempt?.cancel()
    attempt = nil
    continueTimer = nil
    outbox.abandon()
    drainEnded()
    if let tls, tls.isEstablished {
      tls.shutdown()
      flush()
    }
    transport?.onReady = nil
    transport?.close()
    transport = nil
    tls = nil
    stash = []
    load = nil
    if wasOpen { configuration.trafficObserver?.closed(number, reason) }
    client.closed(self)
  }

  /// The loop has gone without a word: lets go of everything, and tells nobody.
  func drop() {
    phase = .closed
    attempt?.cancel()
    outbox.abandon()
    transport?.close()
    (attempt, transport, tls, load) = (nil, nil, nil, nil)
    (drainTimer, drainCompletion, continueTimer) = (nil, nil, nil)
  }
}

extension ExchangeMachine {
  /// Why no other request can follow the response, as far as this is known.
  fileprivate var reasonToClose: ConnectionCloseReason? {
    persistence.isReusable ? nil : .response(persistence)
  }
}
