/// Which of a host's addresses is connected to: Happy Eyeballs (RFC 8305 sections 4 and 5).
///
/// Addresses take turns by family, in the order of the resolver otherwise. The next one is tried when the last has had
/// its head start, or at once when one fails. The first to connect wins, the others are closed.
///
/// Pure: connects are actions, their outcomes and the time are events.
package struct ConnectionRace: Sendable {
  package typealias Instant = ContinuousClock.Instant

  /// What is to be done, in order. Numbers are indexes into `addresses`.
  package enum Action: Hashable, Sendable {
    case connect(Int)
    /// Call `timeReached` then; replaces an earlier wish.
    case wake(at: Instant)
    case cancelWake
    case close(Int)
    /// This one is the connection. The race is over.
    case win(Int)
    /// None is. The race is over.
    case lose
  }

  private enum Contender: Sendable {
    case waiting, connecting, closed
    case failed(errno: CInt)
  }

  /// More addresses than these are not tried.
  package static let addressLimit = 64

  /// In the order in which they are tried.
  package let addresses: [SocketAddress]
  private var contenders: [Contender]
  private let headStart: Duration
  private var isOver = false

  /// - Parameters:
  ///   - addresses: as the resolver sorted them.
  ///   - headStart: how long one is tried before the next joins (RFC 8305 section 8 recommends 250 ms).
  package init(addresses: [SocketAddress], headStart: Duration = .milliseconds(250)) {
    self.addresses = Array(ConnectionRace.interleaved(addresses).prefix(ConnectionRace.addressLimit))
    self.headStart = headStart
    contenders = Array(repeating: .waiting, count: self.addresses.count)
  }

  /// The addresses with the families taking turns, the first one's first.
  package static func interleaved(_ addresses: [SocketAddress]) -> [SocketAddress] {
    guard let first = addresses.first else { return [] }
    let preferred = addresses.filter { $0.family == first.family }
    let others = addresses.filter { $0.family != first.family }
    var result: [SocketAddress] = []
    for index in 0..<max(preferred.count, others.count) {
      if index < preferred.count { result.append(preferred[index]) }
      if index < others.count { result.append(others[index]) }
    }
    return result
  }

  /// The errno of each address that failed, in the order of trying.
  package var failures: [(address: SocketAddress, errno: CInt)] {
    zip(addresses, contenders).compactMap { address, contender in
      if case .failed(let errno) = contender { (address, errno) } else { nil }
    }
  }

  /// The addresses that are being tried.
  package var unanswered: [SocketAddress] {
    zip(addresses, contenders).compactMap { address, contender in
      if case .connecting = contender { address } else { nil }
    }
  }

  // MARK: - Events

  /// The race begins.
  package mutating func start(at now: Instant, into actions: inout [Action]) {
    tryNext(at: now, into: &actions)
  }

  /// The time of the last `wake` has come.
  package mutating func timeReached(at now: Instant, into actions: inout [Action]) {
    guard !isOver else { return }
    tryNext(at: now, into: &actions)
  }

  /// A connect succeeded.
  package mutating func connected(_ index: Int, into actions: inout [Action]) {
    guard !isOver, contenders.indices.contains(index), case .connecting = contenders[index] else { return }
    contenders[index] = .closed
    closeAll(into: &actions)
    actions.append(.win(index))
  }

  /// A connect failed; its socket is closed already.
  package mutating func failed(_ index: Int, errno: CInt, at now: Instant, into actions: inout [Action]) {
    guard !isOver, contenders.indices.contains(index), case .connecting = contenders[index] else { return }
    contenders[index] = .failed(errno: errno)
    tryNext(at: now, into: &actions)
  }

  /// The race is called off.
  package mutating func cancel(into actions: inout [Action]) {
    guard !isOver else { return }
    closeAll(into: &actions)
  }

  // MARK: -

  private mutating func tryNext(at now: Instant, into actions: inout [Action]) {
    var next: Int?
    var isAnyConnecting = false
    for (index, contender) in contenders.enumerated() {
      switch contender {
      case .waiting: if next == nil { next = index }
      case .connecting: isAnyConnecting = true
      case .failed, .closed: break
      }
    }
    if let next {
      contenders[next] = .connecting
      // Asked for before the connect, whose failure may come at once and ask again.
      if next + 1 < contenders.count {
        actions.append(.wake(at: now + headStart))
      } else {
        actions.append(.cancelWake)
      }
      actions.append(.connect(next))
    } else if !isAnyConnecting {
      isOver = true
      actions += [.cancelWake, .lose]
    }
  }

  private mutating func closeAll(into actions: inout [Action]) {
    isOver = true
    actions.append(.cancelWake)
    for index in contenders.indices {
      if case .connecting = contenders[index] {
        contenders[index] = .closed
        actions.append(.close(index))
      }
    }
  }
}
