import FoundationEssentials
import GannetHTTP
import GannetPolicy
import GannetSockets
import Synchronization

/// How a connection gets to its origin; connections that get there in different ways are not exchanged.
struct Route: Hashable, Sendable {
  var trust: URLConnection.Trust
  var unixSocketPath: String?
  var provider: ObjectIdentifier?

  init(_ configuration: URLConnection.Configuration) {
    trust = configuration.trust
    unixSocketPath = configuration.unixSocketPath
    provider = configuration.transportProvider.map { ObjectIdentifier($0) }
  }
}

/// Everything Gannet keeps on one event loop: its loads, its connections, and their pool. Touched on the loop alone.
final class LoopClient: LoopResident {
  unowned let loop: EventLoop
  /// The Digest logins of this loop's loads, and what their nonces have been used for.
  var digests = DigestSessions(digest: Hashes.digest, makeClientNonce: Hashes.makeClientNonce)
  private var loads: [ObjectIdentifier: LoadDriver] = [:]
  /// The loads that a protocol class answers.
  private var protocolLoads: [ObjectIdentifier: ProtocolLoad] = [:]
  private var connections: [UInt64: ConnectionDriver] = [:]
  private var pool = PoolMachine()
  private var poolActions: [PoolMachine.Action] = []
  private var waiting: [UInt64: LoadDriver] = [:]
  /// The load whose connection is being decided on: most get one at once, without standing in `waiting`.
  private var requesting: LoadDriver?
  private var routes: [Route: Int] = [:]
  private var lastRoute = 0
  private var expiry: LoopTimer?
  private var inactivity: LoopTimer?
  private var lastLoadID: UInt64 = 0
  /// The class of the delegate last found to be callable here: mostly there is but one.
  private var callableClass: ObjectIdentifier?
  /// What the connections read into, one at a time.
  let buffers = ReceiveBuffers()
  /// Whether the loop is being shut down: nothing is opened any more for who waits.
  private var isEnding = false

  private init(_ loop: EventLoop) {
    self.loop = loop
    loop.onShutdown { [weak self] _ in self?.shutDown() }
  }

  /// The client of this loop, made at first use.
  static func of(_ loop: EventLoop) -> LoopClient {
    let identity = ObjectIdentifier(LoopClient.self)
    if let client = loop.attachments[identity] as? LoopClient { return client }
    let client = LoopClient(loop)
    loop.attachments[identity] = client
    return client
  }

  /// Loads and connections hold each other and this: whatever the loop was not told to end is let go here.
  func loopEnded() {
    for load in loads.values { load.drop() }
    for load in protocolLoads.values { load.drop() }
    for connection in connections.values { connection.drop() }
    (loads, protocolLoads, connections, waiting, requesting) = ([:], [:], [:], [:], nil)
  }

  /// Whether nothing is left to do here: no load is live and no connection is open.
  static func isQuiescent(_ loop: EventLoop) -> Bool {
    guard let client = loop.attachments[ObjectIdentifier(LoopClient.self)] as? LoopClient else { return true }
    return client.loads.isEmpty && client.protocolLoads.isEmpty && client.connections.isEmpty
  }

  // MARK: Loads

  func begin(_ connection: URLConnection) {
    let (box, hostFailure, isElsewhere) = takeDelegate(of: connection)
    guard !connection.isCancelled.load(ordering: .acquiring) else { return }
    guard !isElsewhere else { return refuse(connection) }
    let start = LoadStart(
      connection: connection, delegate: box?.delegate, request: connection.originalRequest)
    begin(start, connection.target, hostFailure)
  }

  /// Takes the delegate, unless it may not be called here: then the connection has it back, and nothing here holds it.
  private func takeDelegate(
    of connection: URLConnection
  ) -> (URLConnection.DelegateBox?, hostFailure: ConnectionError?, isElsewhere: Bool) {
    let (box, hostFailure) = connection.takeDelegate()
    guard let box, !mayCall(box.delegate) else { return (box, hostFailure, false) }
    connection.keep(box)
    return (nil, hostFailure, true)
  }

  /// Goes on with a load that another driver has left: what answers it has changed.
  func takeOver(_ start: LoadStart, _ target: LoadTarget) {
    let identity = ObjectIdentifier(start.connection)
    let left =
      loads.removeValue(forKey: identity) != nil || protocolLoads.removeValue(forKey: identity) != nil
    begin(start, target, nil)
    if left { loop.release() }
  }

  private func begin(_ start: LoadStart, _ target: LoadTarget, _ hostFailure: ConnectionError?) {
    loop.retain()
    switch target {
    case .network(let address):
      lastLoadID += 1
      let load = LoadDriver(lastLoadID, start, address, on: self)
      loads[ObjectIdentifier(start.connection)] = load
      if let hostFailure { return load.fail(hostFailure) }
      if loop.isEnding { load.hostEnded() } else { load.start(isFirst: start.isFirst) }
    case .custom(let type):
      let load = ProtocolLoad(start, on: self)
      protocolLoads[ObjectIdentifier(start.connection)] = load
      if let hostFailure { return load.fail(hostFailure) }
      if loop.isEnding { load.hostEnded() } else { load.start(type, isFirst: start.isFirst) }
    }
  }

  /// Whether the delegate may be called on this loop's thread, whatever actor it belongs to.
  private func mayCall(_ delegate: any URLConnectionDelegate) -> Bool {
    let identity = DelegateIsolation.identity(of: delegate)
    if identity == callableClass { return true }
    let isOfMainThread = LoopHost.hosting(loop)?.isOfMainThread ?? false
    guard isOfMainThread || DelegateIsolation.allowsCalls(delegate) else { return false }
    callableClass = identity
    return true
  }

  /// A load was cancelled. One that has not begun lets its delegate go here, on its host.
  func cancelled(_ connection: URLConnection) {
    let identity = ObjectIdentifier(connection)
    if let load = loads[identity] { return load.cancel() }
    if let load = protocolLoads[identity] { return load.cancel() }
    _ = connection.takeDelegate()
  }

  func resumed(_ connection: URLConnection) {
    let identity = ObjectIdentifier(connection)
    if let load = loads[identity] { load.resume() } else { protocolLoads[identity]?.resume() }
  }

  /// The load of this connection, for answers that come later.
  func load(of connection: URLConnection) -> LoadDriver? { loads[ObjectIdentifier(connection)] }

  /// The load that a protocol class answers, of the connection with this identity.
  func protocolLoad(_ identity: ObjectIdentifier) -> ProtocolLoad? { protocolLoads[identity] }

  /// The phase of the load of this connection; nil before it has begun and once it has ended.
  func phase(of connection: URLConnection) -> ConnectionError.Phase? {
    load(of: connection)?.phase ?? protocolLoads[ObjectIdentifier(connection)]?.phase
  }

  func ended(_ load: ProtocolLoad) {
    guard protocolLoads.removeValue(forKey: ObjectIdentifier(load.connection)) != nil else { return }
    loop.release()
  }

  /// A load has ended, by its terminal callback or by being cancelled.
  func ended(_ load: LoadDriver) {
    guard loads.removeValue(forKey: ObjectIdentifier(load.connection)) != nil else { return }
    loop.release()
  }

  /// The loop ends: loads that are live fail, connections close.
  private func shutDown() {
    isEnding = true
    for load in Array(loads.values) { load.hostEnded() }
    for load in Array(protocolLoads.values) { load.hostEnded() }
    for connection in Array(connections.values) { connection.close(.loopEnded) }
  }

  // MARK: Connections

  /// Gets a connection for a load, now or when there is one.
  func connect(_ load: LoadDriver, to origin: Origin, fresh: Bool) {
    requesting = load
    pool.requested(
      by: load.id, key: PoolMachine.Key(origin: origin, route: load.route),
      limit: load.connection.configuration.maximumConnectionsPerHost, fresh: fresh, at: loop.now,
      into: &poolActions)
    if pool.isWaiting(load.id) {
      waiting[load.id] = load
      requesting = nil
    }
    perform()
  }

  /// The number of a way to get to an origin; 0 is that of most loads.
  ///
  /// Asks the connection for each member of its configuration, as `BodyState` does: a parameter would be a copy of it all.
  func routeNumber(of connection: URLConnection) -> Int {
    if connection.configuration.trust == .system, connection.configuration.unixSocketPath == nil,
      connection.configuration.transportProvider == nil
    {
      return 0
    }
    let route = Route(connection.configuration)
    if let number = routes[route] { return number }
    // Numbers are not used twice, so what is forgotten cannot be taken for something else.
    if loads.isEmpty, connections.isEmpty { routes = [:] }
    lastRoute += 1
    routes[route] = lastRoute
    return lastRoute
  }

  private func takeWaiter(_ id: UInt64) -> LoadDriver? {
    guard let load = requesting, load.id == id else { return waiting.removeValue(forKey: id) }
    requesting = nil
    return load
  }

  /// A load that was waiting for a connection has ended.
  func left(_ load: LoadDriver) {
    guard !waiting.isEmpty, waiting.removeValue(forKey: load.id) != nil else { return }
    pool.left(load.id)
  }

  /// A new connection is ready for the load it was opened for.
  func ready(_ connection: ConnectionDriver, for load: LoadDriver) {
    load.connected(connection, reused: false)
  }

  /// A connection can take another exchange within `lifetime`.
  func released(_ connection: ConnectionDriver, lifetime: Duration) {
    let deadline = loop.now.advanced(by: lifetime)
    pool.released(connection.id, idleUntil: deadline, into: &poolActions)
    if connection.isIdle { armExpiry(by: deadline) }
    perform()
  }

  /// Whether another connection than this one is open to its host.
  func hasOthers(beside connection: ConnectionDriver) -> Bool {
    connections.values.contains { $0 !== connection && $0.origin == connection.origin && $0.phase != .closed }
  }

  /// A connection is gone.
  func closed(_ connection: ConnectionDriver) {
    guard connections.removeValue(forKey: connection.id) != nil else { return }
    pool.closed(connection.id, into: &poolActions)
    perform()
  }

  /// A connection turned out to carry an endless stream.
  func becameEndless(_ connection: ConnectionDriver) {
    connection.isEndless = true
    pool.becameEndless(connection.id, into: &poolActions)
    perform()
  }

  private func perform() {
    while !poolActions.isEmpty {
      switch poolActions.removeFirst() {
      case .open(let id, let waiter):
        guard let load = takeWaiter(waiter), !isEnding else {
          pool.closed(id, into: &poolActions)
          continue
        }
        let connection = ConnectionDriver(id, for: load, on: self)
        connections[id] = connection
        connection.open()
      case .serve(let waiter, let id):
        guard let connection = connections[id] else { continue }
        guard let load = takeWaiter(waiter) else {
          released(connection, lifetime: connection.lifetime)
          continue
        }
        guard connection.isStillSilent() else {
          connect(load, to: connection.origin, fresh: false)
          continue
        }
        load.connected(connection, reused: true)
      case .close(let id, let end):
        connections.removeValue(forKey: id)?.close(end == .timeOver ? .idleTimeOver : .placeNeeded)
      }
    }
  }

  private func armExpiry(by deadline: ContinuousClock.Instant) {
    if expiry == nil {
      expiry = loop.makeTimer { [weak self] loop in
        guard let self else { return }
        pool.expired(at: loop.now, into: &poolActions)
        perform()
        if let next = pool.nextExpiry { expiry?.schedule(at: LoopTime(next)) }
      }
    }
    let deadline = LoopTime(deadline)
    if let next = expiry?.deadline, next <= deadline { return }
    expiry?.schedule(at: deadline)
  }

  // MARK: Inactivity

  /// Makes sure that loads are looked at by this time. One timer serves all: it fires when the first of them may be
  /// due, and looks at each.
  func watchInactivity(until deadline: LoopTime) {
    if let next = inactivity?.deadline, next <= deadline { return }
    if inactivity == nil { inactivity = loop.makeTimer { [weak self] _ in self?.checkInactivity() } }
    inactivity?.schedule(at: deadline)
  }

  private func checkInactivity() {
    for load in Array(loads.values) {
      if let deadline = load.checkInactivity() { watchInactivity(until: deadline) }
    }
    for load in Array(protocolLoads.values) {
      if let deadline = load.checkInactivity() { watchInactivity(until: deadline) }
    }
  }
}
