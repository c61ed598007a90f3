import GannetHTTP
import GannetPolicy
import Testing

@Suite struct PoolMachineTests {
  private typealias Machine = PoolMachine
  private let start = ContinuousClock.now

  private func later(_ seconds: Int) -> ContinuousClock.Instant { start.advanced(by: .seconds(seconds)) }

  private func request(
    _ pool: inout Machine, _ waiter: UInt64, _ key: String = "a", limit: Int = 2, fresh: Bool = false
  ) -> [Machine.Action] {
    var actions: [Machine.Action] = []
    pool.requested(
      by: waiter, key: PoolMachine.Key(origin: Origin(scheme: "http", host: key, port: 80), route: 0),
      limit: limit, fresh: fresh, into: &actions)
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

  @Test func aConnectionThatIsIdleServesTheNextLoad() {
    var pool = Machine()
    #expect(request(&pool, 1) == [.open(1, for: 1)])
    #expect(release(&pool, 1) == [])
    #expect(request(&pool, 2) == [.serve(2, with: 1)])
    #expect(request(&pool, 3, "b") == [.open(2, for: 3)])
  }

  @Test func theConnectionUsedLastServesFirst() {
    var pool = Machine()
    _ = request(&pool, 1)
    _ = request(&pool, 2)
    _ = release(&pool, 1)
    _ = release(&pool, 2)
    #expect(request(&pool, 3) == [.serve(3, with: 2)])
  }

  @Test func pastTheLimitLoadsWaitInOrder() {
    var pool = Machine()
    _ = request(&pool, 1)
    _ = request(&pool, 2)
    #expect(request(&pool, 3) == [])
    #expect(request(&pool, 4) == [])
    #expect(release(&pool, 1) == [.serve(3, with: 1)])
    #expect(close(&pool, 2) == [.open(3, for: 4)])
  }

  @Test func aWaiterThatLeftIsPassedOver() {
    var pool = Machine()
    _ = request(&pool, 1, limit: 1)
    _ = request(&pool, 2, limit: 1)
    _ = request(&pool, 3, limit: 1)
    pool.left(2)
    #expect(release(&pool, 1) == [.serve(3, with: 1)])
  }

  @Test func aFreshConnectionTakesThePlaceOfAnIdleOneAtTheLimit() {
    var pool = Machine()
    _ = request(&pool, 1, limit: 1)
    _ = release(&pool, 1)
    #expect(request(&pool, 2, limit: 1, fresh: true) == [.close(1), .open(2, for: 2)])
    #expect(pool.connectionCount == 1)
  }

  @Test func anEndlessStreamLeavesItsPlaceToOthers() {
    var pool = Machine()
    _ = request(&pool, 1, limit: 1)
    #expect(request(&pool, 2, limit: 1) == [])
    var actions: [Machine.Action] = []
    pool.becameEndless(1, into: &actions)
    #expect(actions == [.open(2, for: 2)])
    #expect(close(&pool, 1) == [])
    #expect(close(&pool, 2) == [])
    #expect(pool.connectionCount == 0)
  }

  @Test func idleConnectionsExpireAtTheirTimeAndNotBefore() {
    var pool = Machine()
    _ = request(&pool, 1)
    _ = request(&pool, 2)
    _ = release(&pool, 1, until: 10)
    _ = release(&pool, 2, until: 20)
    #expect(pool.nextExpiry == later(10))
    var actions: [Machine.Action] = []
    pool.expired(at: later(9), into: &actions)
    #expect(actions == [])
    pool.expired(at: later(10), into: &actions)
    #expect(actions == [.close(1)])
    #expect(pool.nextExpiry == later(20))
    #expect(request(&pool, 3) == [.serve(3, with: 2)])
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
    _ = release(&pool, 1)
    #expect(release(&pool, 1) == [])
    #expect(request(&pool, 2) == [.serve(2, with: 1)])
    #expect(request(&pool, 3) == [.open(2, for: 3)])
  }
}
