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

  /// Plaintext that came while the load could not take it; the first `stashedBody` bytes are body already.
  var stash: [UInt8] = []
  var stashedBody = 0
  /// Whether processing was stopped there, with or without bytes left.
  var wasHeld = false
  var isProcessing = false
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
  var closesAfterExchange = false
  var keepAlive = KeepAlivePolicy()
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
      exchange.receivedAnything ? .receiving : outbox.isEmpty && sendFailure == nil ? .awaiting : .sending
    }
  }

  /// What errors are about.
  var url: String { load?.safeURL ?? origin.description }

  // MARK: Opening

  func open() {
    load?.wire = self
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
      attempt = nil
      switch result {
      case .success(let socket): opened(socket)
      case .failure(let failure): fail(ConnectionError(failure, url: url))
      }
    }
  }

  private func opened(_ transport: any StreamTransport) {
    guard phase == .connecting else { return transport.close() }
    self.transport = transport
    transport.onReady = { [weak self] readiness in self?.ready(readiness) }
    load?.touched()
    guard origin.scheme == "https", configuration.transportProvider == nil else { return established() }
    phase = .handshaking
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
    if try tls.handshake() { established() }
  }

  private func established() {
    phase = .idle
    configuration.trafficObserver?.opened(description)
    guard let load else { return close() }
    client.ready(self, for: load)
  }

  private var description: ConnectionDescription {
    let security = tls.map { tls in
      [tls.negotiatedVersion, tls.cipher, tls.peerCertificate.map { "certificate of \($0.subject)" }]
        .compactMap { $0 }.joined(separator: ", ")
    }
    return ConnectionDescription(
      id: number, origin: origin,
      address: configuration.unixSocketPath ?? (transport as? StreamSocket).map { "\($0.peer)" },
      security: security)
  }

  // MARK: One exchange

  /// Sends a request for the load that this connection now serves.
  func begin(method: String, head: consuming [UInt8], body: Data?, closes: Bool) {
    phase = .busy
    closesAfterExchange = closes
    exchanges += 1
    drained = 0
    exchange.sentRequest(method: method)
    outbox = Outbox(head: head, body: body)
    flush()
  }

  /// The load has no more use for what this connection brings: it is drained for the next one, or closed.
  func abandon() {
    load = nil
    switch phase {
    case .connecting, .handshaking, .idle: close()
    case .busy:
      guard isWorthDraining, outbox.isEmpty, !closesAfterExchange else { return close() }
      phase = .draining
      if !isProcessing { client.loop.perform { [weak self] _ in self?.drainRest() } }
      drainTimer = client.loop.makeTimer { [weak self] _ in
        if self?.phase == .draining { self?.close() }
      }
      drainTimer?.schedule(at: client.loop.now.advanced(by: ConnectionDriver.drainTime))
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
    guard exchange.persistence.isReusable else { return false }
    switch exchange.state {
    case .receivingLength(let rest): return rest <= ConnectionDriver.drainBytes
    case .receivingChunks, .ending: return true
    case .idle, .awaitingHead, .receivingUntilClose, .ended, .failed: return false
    }
  }

  private func drainRest() {
    guard phase == .draining else { return }
    wantsReading()
  }

  /// Counts body bytes that nobody wants; closes the connection when they are too many.
  func drain(_ count: Int) {
    drained += count
    if drained > ConnectionDriver.drainBytes { close() }
  }

  /// The exchange is over: the connection goes back to the pool or closes, and then the load hears of it.
  func ended(reusable: Bool, leftover: Int) {
    let load = self.load
    self.load = nil
    let isEnding = isPeerEnding || pendingEnd != nil || tls?.hasReceivedClose == true
    if reusable, leftover == 0, outbox.isEmpty, !closesAfterExchange, !isEnding {
      phase = .idle
      client.released(self, lifetime: lifetime)
      drainEnded()
    } else {
      close()
    }
    load?.receivedEnd()
  }

  /// The stream of parts has said that it is over, whatever the framing says.
  func endOfStream() {
    guard phase == .busy else { return }
    let load = self.load
    self.load = nil
    close()
    load?.receivedEnd()
  }

  // MARK: The end

  /// Something failed: the load hears of it, and the connection is closed.
  func fail(_ error: ConnectionError) {
    let load = self.load
    let (receivedAnything, sentAnything) = (exchange.receivedAnything, outbox.sentAnything)
    self.load = nil
    close()
    load?.lost(error, receivedAnything: receivedAnything, sentAnything: sentAnything)
  }

  /// Closes the connection; nothing of it is heard again.
  func close() {
    guard phase != .closed else { return }
    phase = .closed
    attempt?.cancel()
    attempt = nil
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
    client.closed(self)
  }

  /// The loop has gone without a word: lets go of everything, and tells nobody.
  func drop() {
    phase = .closed
    attempt?.cancel()
    transport?.close()
    (attempt, transport, tls, load) = (nil, nil, nil, nil)
    (drainTimer, drainCompletion) = (nil, nil)
  }
}
