import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// The epoll descriptor of one loop, and what is registered there.
///
/// Sockets and timers hold the poller, not the loop, and the poller holds neither strongly: so what lives in the loop
/// never keeps the loop alive, and a socket that is let go closes itself.
package final class Poller {
  /// A registration: a slot and the generation it had, so that an event that was already fetched when its
  /// descriptor was closed never reaches the slot's next owner.
  package struct Token: Hashable, Sendable {
    var index: UInt32
    var generation: UInt32

    package var bits: UInt64 { UInt64(generation) << 32 | UInt64(index) }

    init(index: UInt32, generation: UInt32) {
      self.index = index
      self.generation = generation
    }

    init(bits: UInt64) {
      index = UInt32(truncatingIfNeeded: bits)
      generation = UInt32(truncatingIfNeeded: bits >> 32)
    }

    static let wakeUp = Token(index: .max, generation: 0)
    static let alarm = Token(index: .max - 1, generation: 0)
  }

  /// A class, since to look into a struct with a weak reference in it costs a copy of it.
  private final class Registration {
    weak var source: (any EventSource)?
    var generation: UInt32 = 0
  }

  /// Events fetched by one wait: a full batch leaves the rest for the next turn.
  static let eventsPerWait = 64

  let epoll: FileDescriptor
  private var registrations: [Registration] = []
  private var freeIndexes: [UInt32] = []
  /// Sources that are to hear of a readiness that they let pass earlier.
  private var replays: [(token: Token, readiness: Readiness)] = []
  /// Makes a hosted loop take a turn for the replays.
  let handle: EventLoop.Handle

  init(handle: EventLoop.Handle) throws(SystemError) {
    self.handle = handle
    epoll = try FileDescriptor(checking: epoll_create1(CInt(EPOLL_CLOEXEC)), "epoll_create1")
    try control(EPOLL_CTL_ADD, handle.wakeUp.number, .wakeUp, gannet_epoll_in | gannet_epoll_edge)
  }

  /// Registers a descriptor, edge-triggered; what is ready already is announced in the next turn.
  ///
  /// The source is held weakly, and says `remove` before it closes its descriptor.
  package func add(_ descriptor: CInt, _ source: any EventSource, writable: Bool) throws(SystemError) -> Token
  {
    let index: UInt32
    if let free = freeIndexes.popLast() {
      index = free
    } else {
      index = UInt32(truncatingIfNeeded: registrations.count)
      registrations.append(Registration())
    }
    let token = Token(index: index, generation: registrations[Int(index)].generation)
    registrations[Int(index)].source = source
    do throws(SystemError) {
      try control(EPOLL_CTL_ADD, descriptor, token, Poller.interest(writable: writable))
    } catch {
      remove(token)
      throw error
    }
    return token
  }

  /// Changes whether room to send is announced; what is ready already is announced again.
  func change(_ descriptor: CInt, _ token: Token, writable: Bool) throws(SystemError) {
    try control(EPOLL_CTL_MOD, descriptor, token, Poller.interest(writable: writable))
  }

  /// Forgets a registration; closing its descriptor takes it out of epoll.
  package func remove(_ token: Token) {
    let index = Int(token.index)
    guard index < registrations.count, registrations[index].generation == token.generation else { return }
    registrations[index].source = nil
    registrations[index].generation &+= 1
    freeIndexes.append(token.index)
  }

  /// The source of an event; nil when it has been removed, or let go, since.
  package func source(of token: Token) -> (any EventSource)? {
    let index = Int(token.index)
    guard index < registrations.count, registrations[index].generation == token.generation else { return nil }
    return registrations[index].source
  }

  /// How many descriptors are registered.
  var count: Int { registrations.count - freeIndexes.count }

  /// Announces a readiness in the next turn, as if it came from epoll.
  func replay(_ readiness: Readiness, to token: Token) {
    replays.append((token, readiness))
    handle.signal()
  }

  var hasReplays: Bool { !replays.isEmpty }

  func takeReplays() -> [(token: Token, readiness: Readiness)] {
    guard !replays.isEmpty else { return [] }
    defer { replays = [] }
    return replays
  }

  private static func interest(writable: Bool) -> UInt32 {
    gannet_epoll_in | gannet_epoll_peer_closed | gannet_epoll_edge | (writable ? gannet_epoll_out : 0)
  }

  func control(
    _ operation: CInt, _ descriptor: CInt, _ token: Token, _ events: UInt32
  ) throws(SystemError) {
    try controlEpoll(epoll.number, operation, descriptor, number: token.bits, events: events)
  }
}
