import GannetHTTP
import GannetPolicy
import Testing

@Suite struct PoolMachineTests {
  private typealias Machine = PoolMachine
  private let start = ContinuousClock.now

  /// The number of the n-th connection opened, when it lies at this place.
  private func id(_ opening: UInt64, at place: UInt64) -> UInt64 { opening << 32 | place }
  private var first: UInt64 { id(1, at: 0) }
  private var second: UInt64 { id(2, at: 1) }

  private func later(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

  private func request(
    _ pool: inout Machine, _ waiter: UInt64, _ key: String = "a", limit: Int = 2, fresh: Bool = false,
    at seconds: Int = 0
  ) -> [Machine.Action] {
    var actions: [Machine.Action] = []
    pool.requested(
      by: waiter, key: PoolMachine.Key(origin: Origin(scheme: "http", host: key, port: 80), route: 0),
      limit: limit, fresh: fresh, at: later(seconds), into: &actions)
    return actions
  }

  private func release(_ pool: inout Machine, _ id: UInt64, until seconds: Int = 60) -> [Machine.Action] {
    var actions: [Machine.Action] = []
    pool.released(id, idleUntil: later(seconds), into: &actions)
    return actions
  }

  private func close(_ pool: inout Machine, _ id: UInt64) -> [Machine.Action] {
    var actions: [Machine.Action] = []
    pool.closed(id, into: &actions)
    return actions
  }

  /// Also when nobody has run its timer yet.
  @Test func aConnectionWhoseTimeIsOverServesNoLoad() {
    var pool = Machine()
    _ = request(&pool, 1, limit: 1)
    _ = release(&pool, first, until: 10)
    #expect(request(&pool, 2, limit: 1, at: 9) == [.serve(2, with: first)])
    _ = release(&pool, first, until: 20)
    #expect(request(&pool, 3, limit: 1, at: 20) == [.close(first, .timeOver), .open(id(2, at: 0), for: 3)])
    #expect(pool.connectionCount == 1)
  }

  @Test func aConnectionThatIsIdleServesTheNextLoad() {
    var pool = Machine()
    #expect(request(&pool, 1) == [.open(first, for: 1)])
    #expect(release(&pool, first) == [])
    #expect(request(&pool, 2) == [.serve(2, with: first)])
    #expect(request(&pool, 3, "b") == [.open(second, for: 3)])
  }

  @Test func theConnectionUsedLastServesFirst() {
    var pool = Machine()
    _ = request(&pool, 1)
    _ = request(&pool, 2)
    _ = release(&pool, first)
    _ = release(&pool, second)
    #expect(request(&pool, 3) == [.serve(3, with: second)])
  }

  @Test func pastTheLimitLoadsWaitInOrder() {
    var pool = Machine()
    _ = request(&pool, 1)
    _ = request(&pool, 2)
    #expect(request(&pool, 3) == [])
    #expect(request(&pool, 4) == [])
    #expect(release(&pool, first) == [.serve(3, with: first)])
    #expect(close(&pool, second) == [.open(id(3, at: 1), for: 4)])
  }

  @Test func aWaiterThatLeftIsPassedOver() {
    var pool = Machine()
    _ = request(&pool, 1, limit: 1)
    _ = request(&pool, 2, limit: 1)
    _ = request(&pool, 3, limit: 1)
    pool.left(2)
    #expect(release(&pool, first) == [.serve(3, with: first)])
  }

  @Test func aFreshConnectionTakesThePlaceOfAnIdleOneAtTheLimit() {
    var pool = Machine()
    _ = request(&pool, 1, limit: 1)
    _ = release(&pool, first)
    #expect(
      request(&pool, 2, limit: 1, fresh: true) == [.close(first, .placeNeeded), .open(id(2, at: 0), for: 2)])
    #expect(pool.connectionCount == 1)
  }

  @Test func anEndlessStreamLeavesItsPlaceToOthers() {
    var pool = Machine()
    _ = request(&pool, 1, limit: 1)
    #expect(request(&pool, 2, limit: 1) == [])
    var actions: [Machine.Action] = []
    pool.becameEndless(first, into: &actions)
    #expect(actions == [.open(second, for: 2)])
    #expect(close(&pool, first) == [])
    #expect(close(&pool, second) == [])
    #expect(pool.connectionCount == 0)
  }

  @Test func idleConnectionsExpireAtTheirTimeAndNotBefore() {
    var pool = Machine()
    _ = request(&pool, 1)
    _ = request(&pool, 2)
    _ = release(&pool, first, until: 10)
    _ = release(&pool, second, until: 20)
    #expect(pool.nextExpiry == later(10))
    var actions: [Machine.Action] = []
    pool.expired(at: later(9), into: &actions)
    #expect(actions == [])
    pool.expired(at: later(10), into: &actions)
    #expect(actions == [.close(first, .timeOver)])
    #expect(pool.nextExpiry == later(20))
    #expect(request(&pool, 3) == [.serve(3, with: second)])
  }

  @Test func eventsOfConnectionsThatAreNotThereDoNothing() {
    var pool = Machine()
    #expect(release(&pool, 7) == [])
    #expect(close(&pool, 7) == [])
    pool.left(7)
    var actions: [Machine.Action] = []
    pool.becameEndless(7, into: &actions)
    #expect(actions == [])
    // Released twice: the second time it is idle already.
    _ = request(&pool, 1)
    _ = release(&pool, first)
    #expect(release(&pool, first) == [])
    #expect(request(&pool, 2) == [.serve(2, with: first)])
    #expect(request(&pool, 3) == [.open(second, for: 3)])
  }

  @Test func keysWithNothingLeftAreForgotten() {
    var pool = Machine()
    for round in 0..<3 {
      #expect(request(&pool, 1, "host\(round)", limit: 1).count == 1)
      #expect(request(&pool, 2, "host\(round)", limit: 1) == [])
      pool.left(2)
      #expect(pool.keyCount == 1)
      #expect(close(&pool, id(UInt64(round + 1), at: 0)) == [])
      #expect(pool.keyCount == 0)
    }
    // A waiter whose connection could be opened only after the last one had closed keeps its key.
    _ = request(&pool, 1, limit: 1)
    _ = request(&pool, 2, limit: 1)
    #expect(close(&pool, id(4, at: 0)) == [.open(id(5, at: 0), for: 2)])
    #expect(pool.keyCount == 1)
  }

  @Test func pastTheIdleLimitTheOneWhoseTimeIsOverFirstIsClosed() {
    var pool = Machine(maximumIdle: 2)
    for host in 1...3 { _ = request(&pool, UInt64(host), "host\(host)") }
    #expect(release(&pool, first, until: 30) == [])
    #expect(release(&pool, second, until: 10) == [])
    #expect(release(&pool, id(3, at: 2), until: 20) == [.close(second, .placeNeeded)])
    #expect(pool.connectionCount == 2)
    // A connection that serves again, or closes, is idle no more.
    #expect(request(&pool, 4, "host1") == [.serve(4, with: first)])
    #expect(close(&pool, id(3, at: 2)) == [])
    #expect(release(&pool, first, until: 40) == [])
    #expect(pool.connectionCount == 1)
  }
}
