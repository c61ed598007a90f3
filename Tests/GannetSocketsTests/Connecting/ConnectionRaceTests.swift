import GannetSockets
import Testing

@Suite("ConnectionRace") struct ConnectionRaceTests {
  static let zero = ContinuousClock.now
  static func at(_ milliseconds: Int) -> ContinuousClock.Instant { zero + .milliseconds(milliseconds) }
  static func v4(_ last: UInt32) -> SocketAddress { .ipv4(0x0a00_0000 + last, port: 80) }
  static func v6(_ last: UInt64) -> SocketAddress {
    .ipv6(high: 0x2001_0db8 << 32, low: last, zone: 0, port: 80)
  }

  /// What happens to a race, and what it must answer.
  enum Event: Sendable {
    case start(Int)
    case time(Int)
    case connected(Int)
    case failed(Int, CInt, Int)
    case cancel
  }

  struct Step: Sendable {
    let event: Event
    let actions: [ConnectionRace.Action]
    init(_ event: Event, _ actions: [ConnectionRace.Action]) {
      self.event = event
      self.actions = actions
    }
  }

  struct Case: Sendable, CustomTestStringConvertible {
    let name: String
    let addresses: [SocketAddress]
    let steps: [Step]
    var testDescription: String { name }
  }

  static let cases: [Case] = [
    Case(
      name: "one address that connects", addresses: [v4(1)],
      steps: [
        Step(.start(0), [.cancelWake, .connect(0)]),
        Step(.connected(0), [.cancelWake, .win(0)]),
        Step(.failed(0, 111, 5), []),
        Step(.time(1000), []),
      ]),
    Case(
      name: "one address that fails", addresses: [v4(1)],
      steps: [
        Step(.start(0), [.cancelWake, .connect(0)]),
        Step(.failed(0, 111, 5), [.cancelWake, .lose]),
        Step(.connected(0), []),
        Step(.cancel, []),
      ]),
    Case(name: "no address", addresses: [], steps: [Step(.start(0), [.cancelWake, .lose])]),
    Case(
      name: "the next joins after the head start", addresses: [v6(1), v4(1), v6(2)],
      steps: [
        Step(.start(0), [.wake(at: at(250)), .connect(0)]),
        Step(.time(250), [.wake(at: at(500)), .connect(1)]),
        Step(.time(500), [.cancelWake, .connect(2)]),
        Step(.time(750), []),
        Step(.connected(1), [.cancelWake, .close(0), .close(2), .win(1)]),
      ]),
    Case(
      name: "the next joins at once when one fails", addresses: [v6(1), v4(1), v4(2)],
      steps: [
        Step(.start(0), [.wake(at: at(250)), .connect(0)]),
        Step(.failed(0, 101, 3), [.wake(at: at(253)), .connect(1)]),
        Step(.failed(1, 111, 4), [.cancelWake, .connect(2)]),
        Step(.failed(2, 113, 5), [.cancelWake, .lose]),
      ]),
    Case(
      name: "a failure while the last one is still trying", addresses: [v6(1), v4(1)],
      steps: [
        Step(.start(0), [.wake(at: at(250)), .connect(0)]),
        Step(.time(250), [.cancelWake, .connect(1)]),
        Step(.failed(0, 110, 300), []),
        Step(.connected(1), [.cancelWake, .win(1)]),
      ]),
    Case(
      name: "called off", addresses: [v6(1), v4(1)],
      steps: [
        Step(.start(0), [.wake(at: at(250)), .connect(0)]),
        Step(.time(250), [.cancelWake, .connect(1)]),
        Step(.cancel, [.cancelWake, .close(0), .close(1)]),
        Step(.connected(1), []),
        Step(.cancel, []),
      ]),
    Case(
      name: "what never was started", addresses: [v6(1), v4(1)],
      steps: [
        Step(.start(0), [.wake(at: at(250)), .connect(0)]),
        Step(.connected(1), []), Step(.failed(1, 1, 1), []), Step(.connected(7), []),
        Step(.failed(-1, 1, 1), []),
      ]),
  ]

  static func apply(
    _ event: Event, to race: inout ConnectionRace
  ) -> [ConnectionRace.Action] {
    var actions: [ConnectionRace.Action] = []
    switch event {
    case .start(let time): race.start(at: at(time), into: &actions)
    case .time(let time): race.timeReached(at: at(time), into: &actions)
    case .connected(let index): race.connected(index, into: &actions)
    case .failed(let index, let errno, let time):
      race.failed(index, errno: errno, at: at(time), into: &actions)
    case .cancel: race.cancel(into: &actions)
    }
    return actions
  }

  @Test(arguments: cases) func goesAsWritten(_ example: Case) {
    var race = ConnectionRace(addresses: example.addresses)
    for (index, step) in example.steps.enumerated() {
      #expect(Self.apply(step.event, to: &race) == step.actions, "step \(index)")
    }
  }

  @Test func failuresAndTheUnansweredAreNamed() {
    var race = ConnectionRace(addresses: [Self.v6(1), Self.v4(1), Self.v4(2)])
    _ = Self.apply(.start(0), to: &race)
    _ = Self.apply(.failed(0, 101, 3), to: &race)
    #expect(race.failures.map(\.address) == [Self.v6(1)] && race.failures.map(\.errno) == [101])
    #expect(race.unanswered == [Self.v4(1)])
  }

  @Test(arguments: [
    ([v6(1), v6(2), v4(1), v4(2)], [v6(1), v4(1), v6(2), v4(2)]),
    ([v4(1), v4(2), v4(3), v6(1)], [v4(1), v6(1), v4(2), v4(3)]),
    ([v4(1), v6(1), v6(2), v6(3)], [v4(1), v6(1), v6(2), v6(3)]),
    ([v4(2), v4(1)], [v4(2), v4(1)]),
    ([], []),
  ])
  func familiesTakeTurns(_ addresses: [SocketAddress], _ order: [SocketAddress]) {
    #expect(ConnectionRace.interleaved(addresses) == order)
  }

  @Test func noMoreThanTheLimitAreTried() {
    let race = ConnectionRace(addresses: (0..<500).map { Self.v4(UInt32($0)) })
    #expect(race.addresses.count == ConnectionRace.addressLimit)
  }

  /// Any events in any order: no trap, one end at most, every loser closed.
  @Test(arguments: [11, 12, 13] as [UInt64]) func anyOrderOfEventsIsSafe(_ seed: UInt64) {
    var random = SplitMix(state: seed)
    for _ in 0..<300 {
      let count = Int.random(in: 0...5, using: &random)
      var race = ConnectionRace(addresses: (0..<count).map { Self.v4(UInt32($0)) })
      var (opened, closed, ends) = (Set<Int>(), Set<Int>(), 0)
      var isCancelled = false
      for step in 0..<20 {
        let index = Int.random(in: -1...5, using: &random)
        let event: Event
        switch step == 0 ? 0 : Int.random(in: 1..<12, using: &random) {
        case 0: event = .start(0)
        case 1...4: event = .time(step * 250)
        case 5, 6: event = .connected(index)
        case 11: event = .cancel
        default: event = .failed(index, 111, step)
        }
        if case .failed = event, opened.contains(index) { closed.insert(index) }
        for action in Self.apply(event, to: &race) {
          switch action {
          case .connect(let index): #expect(opened.insert(index).inserted)
          case .close(let index): #expect(closed.insert(index).inserted)
          case .win(let index):
            ends += 1
            #expect(closed.insert(index).inserted)
          case .lose: ends += 1
          case .wake, .cancelWake: break
          }
        }
        if case .cancel = event { isCancelled = true }
        if ends > 0 || isCancelled {
          #expect(opened == closed.intersection(opened))
        }
      }
      #expect(ends <= 1)
    }
  }
}
