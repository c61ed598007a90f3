import GannetSockets

/// Counts what lives of everything that a load is made of.
///
/// A test gives each its token: the connection and the delegate by a member, what the library makes by what it holds.
/// Each load's own observer is held by its configuration, so by its `LoadDriver` and by every `ConnectionDriver` that was
/// opened for it; a transport counts itself.
package final class Census: Sendable {
  /// What is counted.
  package enum Kind: String, Sendable, CaseIterable { case connection, delegate, driver, transport, loop }

  /// Held by something that lives.
  package final class Token: Sendable {
    private let census: Census
    private let kind: Kind

    fileprivate init(_ kind: Kind, _ census: Census) {
      self.kind = kind
      self.census = census
      census.counts.withLock { $0[kind, default: 0] += 1 }
    }

    deinit { census.left(kind) }
  }

  private let counts = Guarded<[Kind: Int]>([:])
  private let waiting = Guarded<[(kinds: [Kind], arrival: Arrival<Bool>)]>([])

  /// Nothing lives yet.
  package init() {}

  /// Something comes to life.
  package func token(_ kind: Kind) -> Token { Token(kind, self) }

  /// How many of a kind live.
  package func count(_ kind: Kind) -> Int { counts.withLock { $0[kind] ?? 0 } }

  /// What lives of these kinds, in words; empty when nothing does.
  package func living(_ kinds: [Kind] = Kind.allCases) -> String {
    let counts = counts.withLock { $0 }
    return kinds.filter { counts[$0] ?? 0 != 0 }.map { "\(counts[$0] ?? 0) \($0.rawValue)" }
      .joined(separator: ", ")
  }

  /// Comes when nothing of these kinds lives any more.
  package func absence(of kinds: [Kind]) -> Arrival<Bool> {
    let arrival = Arrival<Bool>()
    waiting.withLock { $0.append((kinds, arrival)) }
    tellAbsence()
    return arrival
  }

  private func left(_ kind: Kind) {
    counts.withLock { $0[kind, default: 0] -= 1 }
    tellAbsence()
  }

  private func tellAbsence() {
    let met = waiting.withLock { waiting in
      let met = waiting.filter { living($0.kinds).isEmpty }
      waiting.removeAll { entry in met.contains { $0.arrival === entry.arrival } }
      return met.map(\.arrival)
    }
    for arrival in met { arrival.arrive(true) }
  }
}
