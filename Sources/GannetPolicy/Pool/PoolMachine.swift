package import GannetHTTP

/// Which connection serves which load: reuse of idle ones, the limit per key, the queue past it, and expiry.
///
/// Pure: connections and waiting loads are numbers, time is an argument, and what has to happen comes out as
/// actions.
///
/// Not copyable: a copy made in passing would cost more than what it is asked.
package struct PoolMachine: ~Copyable, Sendable {
  /// What makes connections alike: where they go, and a number for everything else about how they get there.
  package struct Key: Hashable, Sendable {
    package var origin: Origin
    package var route: Int

    package init(origin: Origin, route: Int) {
      self.origin = origin
      self.route = route
    }
  }

  /// What the driver has to do, in order.
  package enum Action: Equatable, Sendable {
    /// Open this connection; it will serve that waiter.
    case open(UInt64, for: UInt64)
    /// Let this waiter use that idle connection.
    case serve(UInt64, with: UInt64)
    /// Close this idle connection.
    case close(UInt64, IdleEnd)
  }

  /// Why an idle connection is closed.
  package enum IdleEnd: Equatable, Sendable {
    /// Its time is over.
    case timeOver
    /// Another connection needs its place.
    case placeNeeded
  }

  private enum State: Sendable {
    case busy
    case idle(until: ContinuousClock.Instant)
  }

  private struct Record: Sendable {
    let id: UInt64
    let group: Int
    var state = State.busy
    /// An endless stream keeps its connection but not its place among the connections of its key.
    var isCounted = true
  }

  private struct Group: Sendable {
    let key: Key
    /// All its connections, counted or not.
    var open = 0
    /// Idle connections, the one used last at the end: it is the least likely to have been closed.
    var idle: [UInt64] = []
    var counted = 0
    var waiting: [UInt64] = []
    var limit = 0
  }

  private var groups: [Group] = []
  private var groupOfKey: [Key: Int] = [:]
  /// The group last asked for: most programs ask for one origin many times, and comparing is cheaper than hashing.
  private var recent: (key: Key, index: Int)?
  /// Places of groups that have nothing left, for the next keys: a program may go to any number of origins.
  private var freeGroups: [Int] = []
  /// The connections, each at the place that the low half of its number names.
  private var records: [Record?] = []
  private var freePlaces: [Int] = []
  private var groupOfWaiter: [UInt64: Int] = [:]
  private var openings: UInt64 = 0
  private let maximumIdle: Int
  private var idleCount = 0

  /// An empty pool, which keeps so many idle connections in all: a program that goes from origin to origin is not to
  /// run out of descriptors.
  package init(maximumIdle: Int = 100) { self.maximumIdle = maximumIdle }

  /// How many keys it remembers: those with connections or waiting loads.
  package var keyCount: Int { groupOfKey.count }

  /// How many connections there are, idle and busy.
  package var connectionCount: Int { records.count - freePlaces.count }

  /// A load asks for a connection: it gets an idle one whose time is not over, a new one, or waits its turn. With
  /// `fresh` an idle one will not do. `limit` is how many counted connections its key may have.
  package mutating func requested(
    by waiter: UInt64, key: Key, limit: Int, fresh: Bool, at now: ContinuousClock.Instant,
    into actions: inout [Action]
  ) {
    let index = groupIndex(of: key)
    groups[index].limit = max(1, limit)
    while !fresh, let id = groups[index].idle.popLast() {
      idleCount -= 1
      if isOver(id, at: now) {
        forget(id)
        groups[index].counted -= 1
        actions.append(.close(id, .timeOver))
        continue
      }
      records[place(of: id)]?.state = .busy
      return actions.append(.serve(waiter, with: id))
    }
    guard hasRoom(index, into: &actions) else {
      groups[index].waiting.append(waiter)
      groupOfWaiter[waiter] = index
      return
    }
    open(for: waiter, in: index, into: &actions)
  }

  /// Whether this load waits its turn.
  package func isWaiting(_ waiter: UInt64) -> Bool { groupOfWaiter[waiter] != nil }

  /// A load that was waiting its turn is no longer interested.
  package mutating func left(_ waiter: UInt64) {
    guard let index = groupOfWaiter.removeValue(forKey: waiter) else { return }
    groups[index].waiting.removeAll { $0 == waiter }
    forgetGroupIfEmpty(index)
  }

  /// A connection has ended its exchange and can take another: the next waiter gets it, or it is idle until then.
  package mutating func released(
    _ id: UInt64, idleUntil: ContinuousClock.Instant, into actions: inout [Action]
  ) {
    guard var record = record(id), case .busy = record.state else { return }
    if let waiter = nextWaiter(in: record.group) { return actions.append(.serve(waiter, with: id)) }
    if !record.isCounted { groups[record.group].counted += 1 }
    record.isCounted = true
    record.state = .idle(until: idleUntil)
    records[place(of: id)] = record
    groups[record.group].idle.append(id)
    idleCount += 1
    if idleCount > maximumIdle { closeOldestIdle(into: &actions) }
  }

  /// A connection is gone, whatever it was doing: its place is free for a waiter.
  package mutating func closed(_ id: UInt64, into actions: inout [Action]) {
    guard let record = record(id) else { return }
    forget(id)
    switch record.state {
    case .idle:
      groups[record.group].idle.removeAll { $0 == id }
      idleCount -= 1
    case .busy: break  // it stands in no list
    }
    if record.isCounted { groups[record.group].counted -= 1 }
    serveWaiters(of: record.group, into: &actions)
    forgetGroupIfEmpty(record.group)
  }

  /// A connection turned out to carry an endless stream: it no longer counts against its key's limit.
  package mutating func becameEndless(_ id: UInt64, into actions: inout [Action]) {
    guard let record = record(id), record.isCounted else { return }
    records[place(of: id)]?.isCounted = false
    groups[record.group].counted -= 1
    serveWaiters(of: record.group, into: &actions)
  }

  /// Closes the idle connections whose time has come.
  package mutating func expired(at now: ContinuousClock.Instant, into actions: inout [Action]) {
    for record in records {
      if let record, case .idle(let deadline) = record.state, deadline <= now {
        actions.append(.close(record.id, .timeOver))
        closed(record.id, into: &actions)
      }
    }
  }

  /// When the next idle connection's time comes; nil when none is idle.
  package var nextExpiry: ContinuousClock.Instant? {
    var earliest: ContinuousClock.Instant?
    for record in records {
      if case .idle(let deadline)? = record?.state { earliest = min(earliest ?? deadline, deadline) }
    }
    return earliest
  }

  // MARK: Parts of the transitions

  private mutating func groupIndex(of key: Key) -> Int {
    if let recent, recent.key == key { return recent.index }
    if let index = groupOfKey[key] {
      recent = (key, index)
      return index
    }
    let index = freeGroups.popLast() ?? groups.count
    if index == groups.count { groups.append(Group(key: key)) } else { groups[index] = Group(key: key) }
    groupOfKey[key] = index
    return index
  }

  private mutating func forgetGroupIfEmpty(_ index: Int) {
    guard groups[index].open == 0, groups[index].waiting.isEmpty else { return }
    groupOfKey[groups[index].key] = nil
    if recent?.index == index { recent = nil }
    freeGroups.append(index)
  }

  /// Whether a connection may be opened; an idle one that cannot serve gives up its place.
  private mutating func hasRoom(_ index: Int, into actions: inout [Action]) -> Bool {
    if groups[index].counted < groups[index].limit { return true }
    guard let idle = groups[index].idle.first else { return false }
    groups[index].idle.removeFirst()
    idleCount -= 1
    forget(idle)
    groups[index].counted -= 1
    actions.append(.close(idle, .placeNeeded))
    return true
  }

  private mutating func open(for waiter: UInt64, in index: Int, into actions: inout [Action]) {
    openings += 1
    let place = freePlaces.popLast() ?? records.count
    let id = openings << 32 | UInt64(place)
    if place == records.count { records.append(nil) }
    records[place] = Record(id: id, group: index)
    groups[index].open += 1
    groups[index].counted += 1
    actions.append(.open(id, for: waiter))
  }

  /// Closes the idle connection whose time is over first.
  private mutating func closeOldestIdle(into actions: inout [Action]) {
    var oldest: (id: UInt64, deadline: ContinuousClock.Instant)?
    for record in records {
      guard let record, case .idle(let deadline) = record.state else { continue }
      if oldest.map({ deadline < $0.deadline }) ?? true { oldest = (record.id, deadline) }
    }
    guard let oldest else { return }
    actions.append(.close(oldest.id, .placeNeeded))
    closed(oldest.id, into: &actions)
  }

  private func isOver(_ id: UInt64, at now: ContinuousClock.Instant) -> Bool {
    guard case .idle(let deadline)? = record(id)?.state else { return true }
    return deadline <= now
  }

  private func place(of id: UInt64) -> Int { Int(id & 0xFFFF_FFFF) }

  private func record(_ id: UInt64) -> Record? {
    let place = place(of: id)
    guard place < records.count, let record = records[place], record.id == id else { return nil }
    return record
  }

  private mutating func forget(_ id: UInt64) {
    if let record = record(id) { groups[record.group].open -= 1 }
    records[place(of: id)] = nil
    freePlaces.append(place(of: id))
  }

  private mutating func nextWaiter(in index: Int) -> UInt64? {
    guard !groups[index].waiting.isEmpty else { return nil }
    let waiter = groups[index].waiting.removeFirst()
    groupOfWaiter[waiter] = nil
    return waiter
  }

  private mutating func serveWaiters(of index: Int, into actions: inout [Action]) {
    while groups[index].counted < groups[index].limit, let waiter = nextWaiter(in: index) {
      open(for: waiter, in: index, into: &actions)
    }
  }
}
