import Dispatch
import GannetSockets
import Testing

@Suite("EventLoop") struct EventLoopTests {
  @Test func runReturnsAtOnceWithoutWork() throws {
    try EventLoop().run()
  }

  @Test func jobsRunInOrderAndNeverInsidePost() throws {
    let loop = try EventLoop()
    let log = Log()
    loop.handle.post { loop in
      log.add("first")
      #expect(loop.isInTurn && loop.isCurrent && loop.handle.isCurrent)
      loop.handle.post { _ in log.add("posted inside") }
      loop.perform { _ in log.add("performed inside") }
      log.add("first ends")
    }
    loop.handle.post { _ in log.add("second") }
    #expect(log.entries == [])
    loop.run()
    #expect(log.entries == ["first", "first ends", "second", "posted inside", "performed inside"])
    #expect(!loop.isInTurn && !loop.isCurrent && !loop.handle.isCurrent)
  }

  @Test func anotherThreadWakesAWaitingLoop() throws {
    let loop = try EventLoop()
    let handle = loop.handle
    loop.retain()
    Thread.detach {
      for _ in 0..<100 { handle.post { _ in } }
      handle.post { $0.release() }
    }
    loop.run()
  }

  @Test func manyThreadsPostWithoutLoss() throws {
    let loop = try EventLoop()
    let handle = loop.handle
    let count = Log()
    loop.retain()
    for _ in 0..<8 {
      Thread.detach {
        for _ in 0..<500 {
          handle.post { loop in
            count.add("")
            if count.entries.count == 4000 { loop.release() }
          }
        }
      }
    }
    loop.run()
    #expect(count.entries.count == 4000)
  }

  @Test func runUntilEndsAtItsTime() throws {
    let loop = try EventLoop()
    loop.retain()
    let deadline = ContinuousClock.now + .milliseconds(20)
    loop.run(until: deadline)
    #expect(ContinuousClock.now >= deadline)
    loop.release()
  }

  @Test func aDeadlineThatHasPassedGivesOneTurn() throws {
    let loop = try EventLoop()
    let log = Log()
    loop.retain()
    let timer = loop.makeTimer { _ in log.add("timer") }
    timer.schedule(at: .now - .seconds(1))
    loop.handle.post { loop in
      log.add("job")
      loop.makeTimer { _ in log.add("never") }.schedule(at: .now + .seconds(100))
    }
    loop.run(until: .now - .seconds(1))
    #expect(log.entries == ["timer", "job"])
    loop.release()
  }

  @Test func stopEndsRunForeverFromAnotherThread() throws {
    let loop = try EventLoop()
    let handle = loop.handle
    Thread.detach { handle.post { $0.stop() } }
    loop.runForever()
  }

  @Test func callbacksMayRunTheLoopAgain() throws {
    let loop = try EventLoop()
    let log = Log()
    loop.handle.post { loop in
      log.add("outer begins")
      loop.handle.post { _ in log.add("inner") }
      loop.run()
      log.add("outer ends")
    }
    loop.handle.post { _ in log.add("next") }
    loop.run()
    #expect(log.entries == ["outer begins", "next", "inner", "outer ends"])
  }

  @Test func aLoopMayRunInsideAnother() throws {
    let (outer, inner) = (try EventLoop(), try EventLoop())
    let outerHandle = outer.handle
    inner.handle.post { inner in
      #expect(EventLoop.running === inner)
      outerHandle.post { _ in }
    }
    outer.perform { outer in
      inner.run()
      #expect(EventLoop.running === outer)
    }
    outer.run()
    #expect(EventLoop.running == nil)
  }

  @Test func timersFireInOrder() throws {
    let loop = try EventLoop()
    let log = Log()
    loop.retain()
    let start = ContinuousClock.now
    let late = loop.makeTimer { loop in
      log.add("late")
      loop.release()
    }
    let early = loop.makeTimer { _ in log.add("early") }
    let cancelled = loop.makeTimer { _ in log.add("cancelled") }
    let postponed = loop.makeTimer { _ in log.add("postponed") }
    late.schedule(at: start + .milliseconds(30))
    early.schedule(at: start + .milliseconds(10))
    cancelled.schedule(at: start + .milliseconds(5))
    cancelled.cancel()
    postponed.schedule(at: start + .milliseconds(5))
    postponed.schedule(at: start + .milliseconds(20))
    loop.run()
    #expect(log.entries == ["early", "postponed", "late"])
    #expect(ContinuousClock.now >= start + .milliseconds(30))
  }

  @Test func aTimerThatGoesIsCancelled() throws {
    let loop = try EventLoop()
    let log = Log()
    loop.retain()
    let end = loop.makeTimer { $0.release() }
    do {
      let gone = loop.makeTimer { _ in log.add("gone") }
      gone.schedule(at: .now)
    }
    end.schedule(at: .now + .milliseconds(5))
    loop.run()
    #expect(log.entries == [])
  }

  @Test func aTimerMayCancelAnotherThatIsDueToo() throws {
    let loop = try EventLoop()
    let log = Log()
    loop.retain()
    var second: LoopTimer?
    let first = loop.makeTimer { loop in
      log.add("first")
      second = nil
      loop.release()
    }
    let now = ContinuousClock.now
    second = loop.makeTimer { _ in log.add("second") }
    first.schedule(at: now - .milliseconds(2))
    second?.schedule(at: now - .milliseconds(1))
    loop.run()
    #expect(log.entries == ["first"])
  }

  @Test func aTimerForNowDoesNotHoldTheTurn() throws {
    let loop = try EventLoop()
    loop.retain()
    var turns = 0
    weak var weakTimer: LoopTimer?
    let timer = loop.makeTimer { loop in
      turns += 1
      if turns == 1 { loop.handle.post { $0.release() } }
      if turns < 1000 { weakTimer?.schedule(at: loop.now) }
    }
    weakTimer = timer
    timer.schedule(at: .now)
    loop.run()
    #expect(turns < 1000)
  }

  @Test func jobsOfALoopThatIsGoneAreDropped() throws {
    let log = Log()
    let handle: EventLoop.Handle
    do {
      let loop = try EventLoop()
      handle = loop.handle
      handle.post { _ in log.add("before") }
    }
    handle.post { _ in log.add("after") }
    #expect(log.entries == [])
  }

  /// Jobs that go on making jobs end with their loop, and none that was accepted is lost.
  @Test func whatAnEndingLoopAcceptsRuns() throws {
    let loop = try EventLoop()
    let tally = Tally()
    Self.goOn(on: loop.handle, tally)
    loop.shutDown()
    let (accepted, run) = tally.counts.withLock { $0 }
    #expect(accepted == run && run > 1)
  }

  /// What an actor has left when its loop ends goes on elsewhere, but not while its loop still runs a job.
  @Test func whatSurvivesALoopWaitsForItsLastJob() throws {
    let loop = try EventLoop()
    let (handle, log) = (loop.handle, Log())
    Self.untilRefused(on: handle) {
      Task(executorPreference: handle) {
        log.add("task, isolated: \(handle.isIsolatingCurrentContext() ?? false)")
      }
      handle.survive { _ in log.add("job") }
      Self.awaitShared()
      log.add("the loop's last, isolated: \(handle.isIsolatingCurrentContext() ?? false)")
    }
    loop.shutDown()
    // A piece of the task may make another.
    for _ in 0..<2 { Self.awaitShared() }
    #expect(log.entries.first == "the loop's last, isolated: true")
    #expect(log.entries.dropFirst().sorted() == ["job", "task, isolated: true"])
  }

  /// Jobs that make the next until the loop takes none any more; the last of them does `last`.
  private static func untilRefused(on handle: EventLoop.Handle, _ last: @escaping @Sendable () -> Void) {
    if !handle.offer({ _ in untilRefused(on: handle, last) }) { last() }
  }

  /// Returns when the shared loop has run all that it was given before.
  private static func awaitShared() {
    let isThere = DispatchSemaphore(value: 0)
    EventLoop.shared.post { _ in isThere.signal() }
    isThere.wait()
  }

  /// A job that makes another like it.
  private static func goOn(on handle: EventLoop.Handle, _ tally: Tally) {
    let isAccepted = handle.offer { loop in
      tally.counts.withLock { $0.run += 1 }
      goOn(on: loop.handle, tally)
    }
    if isAccepted { tally.counts.withLock { $0.accepted += 1 } }
  }

  private final class Tally: Sendable { let counts = Guarded((accepted: 0, run: 0)) }
}

/// What a program's own thread asks of its loop.
@Suite("EventLoop of a thread") struct ThreadLoopTests {
  @Test func eachThreadHasItsOwn() async {
    let (first, second) = await (
      Thread.run { EventLoop.current.handle }, Thread.run { EventLoop.current.handle }
    )
    #expect(first !== second)
  }

  @Test func currentIsTheSameEachTime() async {
    await Thread.run {
      #expect(EventLoop.existing == nil)
      #expect(EventLoop.current === EventLoop.current)
      #expect(EventLoop.existing === EventLoop.current)
    }
  }

  @Test func aThreadThatEndsShutsItsLoopDown() async {
    let log = Log()
    await withCheckedContinuation { continuation in
      Thread.detach {
        let loop = EventLoop.current
        loop.retain()
        loop.onShutdown { loop in
          log.add("shut down, current: \(EventLoop.existing === loop)")
          loop.release()
          loop.perform { _ in
            log.add("its last job")
            continuation.resume()
          }
        }
      }
    }
    #expect(log.entries == ["shut down, current: true", "its last job"])
  }

  @Test func tasksRunOnTheLoopsThread() async {
    await withCheckedContinuation { continuation in
      Thread.detach {
        let loop = EventLoop.current
        let handle = loop.handle
        let name = Thread.identity
        Task(executorPreference: handle) {
          #expect(Thread.identity == name && handle.isCurrent)
          await Task.yield()
          #expect(Thread.identity == name)
          try? await Task.sleep(for: .milliseconds(1))
          #expect(Thread.identity == name)
          handle.post { $0.stop() }
        }
        loop.runForever()
        continuation.resume()
      }
    }
  }

  @Test func anActorMayLiveOnALoop() async {
    let log = Log()
    let actor = LoopActor(executor: EventLoop.shared)
    await actor.check(log)
    #expect(log.entries == ["on the loop"])
  }

  @Test func tasksOutliveTheirLoop() async {
    let handle = await Thread.run { EventLoop.current.handle }
    let value = await Task(executorPreference: handle) {
      await Task.yield()
      return 42
    }.value
    #expect(value == 42)
  }

  @Test func theSharedLoopRuns() async {
    let isCurrent = await withCheckedContinuation { continuation in
      EventLoop.shared.post { loop in
        continuation.resume(returning: loop.isCurrent && loop.handle === EventLoop.shared)
      }
    }
    #expect(isCurrent)
  }
}

actor LoopActor {
  let executor: EventLoop.Handle
  nonisolated var unownedExecutor: UnownedSerialExecutor { unsafe executor.asUnownedSerialExecutor() }
  init(executor: EventLoop.Handle) { self.executor = executor }
  func check(_ log: Log) {
    executor.checkIsolated()
    if executor.isCurrent { log.add("on the loop") }
  }
}
