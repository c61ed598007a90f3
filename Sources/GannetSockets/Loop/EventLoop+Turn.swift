import CLinux

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension EventLoop {
  /// Rounds of jobs in one turn, so that jobs that post jobs don't keep the sockets waiting.
  private static let jobRoundsPerTurn = 16

  /// Runs the loop on this thread until no load is live and no posted job remains, or until ``stop()``.
  ///
  /// Idle connections that are kept for reuse, and timers, don't keep it going. Returns at once when there is nothing
  /// to do. Callbacks that run the loop again nest.
  public func run() {
    drive(until: nil, whenIdle: .return)
  }

  /// As ``run()``, but returns after the first turn that ends at `deadline` or later. A deadline that has passed gives
  /// one turn without waiting, so that what is ready gets on however late its thread is.
  public func run(until deadline: ContinuousClock.Instant) {
    drive(until: LoopTime(deadline), whenIdle: .return)
  }

  /// Runs the loop on this thread until ``stop()`` is called, also while it has nothing to do: for a thread whose
  /// loop is the executor of tasks or is posted jobs by other threads.
  public func runForever() {
    drive(until: nil, whenIdle: .wait)
  }

  /// Makes the innermost ``run()`` return at the end of this turn. On the loop's thread; from another one, post it:
  /// `handle.post { $0.stop() }`.
  public func stop() {
    stopRequested = true
  }

  /// One turn without waiting: what is ready, what is due, and the jobs. For hosts, when ``descriptor`` is readable.
  package func poll() {
    guard !isClosed else { return }
    enter {
      takePosted()
      turn(waiting: .none)
    }
    settle()
  }

  /// Whether this loop's turn is what runs on this thread.
  package var isInTurn: Bool { turnDepth > 0 }

  private enum Idle { case `return`, wait }

  private func drive(until deadline: LoopTime?, whenIdle idle: Idle) {
    guard !isClosed else { return }
    willRun?()
    enter {
      stopRequested = false
      takePosted()
      while !stopRequested {
        if idle == .return, isIdle { break }
        turn(waiting: .until(deadline))
        if let deadline, time >= deadline { break }
      }
      stopRequested = false
    }
    settle()
    didRun?()
  }

  /// Whether nothing is left to do: no live load, no job, nothing to announce.
  package var isIdle: Bool { liveLoads == 0 && !hasWork }

  /// Whether there is something to do that waits for neither time nor a descriptor.
  package var hasWork: Bool {
    !jobs.isEmpty || poller.hasReplays || !announced.isEmpty || handle.isSignalled
  }

  /// Runs the body as (a part of) a turn of this loop.
  func enter(_ body: () -> Void) {
    let outer = ThreadSlot.exchangeRunning(self)
    turnDepth += 1
    timePassed()
    body()
    turnDepth -= 1
    timePassed()
    _ = ThreadSlot.exchangeRunning(outer)
  }

  /// What is left over after a turn makes a hosted loop's descriptor readable again. Events that did not fit, too: they
  /// leave it readable, but a run loop waits for it to become so.
  private func settle() {
    if turnDepth == 0 { makeReadable() }
  }

  /// The host is about to wait inside a turn of this loop, which therefore is to wake it for what comes and what is left.
  package func hostWaits() {
    if isInTurn { makeReadable() }
  }

  private func makeReadable() {
    timers.renewAlarm()
    let isAsleep = handle.fallAsleep()
    let isLeft = !jobs.isEmpty || poller.hasReplays || !announced.isEmpty || mayHaveMoreEvents
    if !isAsleep || isLeft { handle.signalAgain() }
  }

  // MARK: - One turn

  private enum Wait { case none, until(LoopTime?) }

  private func turn(waiting: Wait) {
    var milliseconds: CInt = 0
    if case .until(let deadline) = waiting, jobs.isEmpty, !poller.hasReplays, announced.isEmpty,
      handle.fallAsleep()
    {
      milliseconds = waitMilliseconds(until: deadline)
    }
    deliverEvents(waiting: milliseconds)
    fireTimers()
    runJobs()
  }

  /// How long to wait for the earliest timer or the deadline, rounded up so as not to wake too early; -1: for ever.
  private func waitMilliseconds(until deadline: LoopTime?) -> CInt {
    let next: LoopTime
    switch (timers.heap.nextCheck, deadline) {
    case (nil, nil): return -1
    case (let time?, nil), (nil, let time?): next = time
    case (let timer?, let deadline?): next = min(timer, deadline)
    }
    // The time of the turn is old by now.
    let now = timers.now
    guard next > now else { return 0 }
    let (wait, isOver) = next.nanoseconds.subtractingReportingOverflow(now.nanoseconds)
    guard !isOver, wait < 2_000_000_000_000_000 else { return 2_000_000_000 }
    return CInt((wait + 999_999) / 1_000_000)
  }

  /// The time, read once per turn.
  package var time: LoopTime {
    if turnDepth > 0, let cachedTime { return cachedTime }
    let now = timers.now
    cachedTime = now
    return now
  }

  private func deliverEvents(waiting milliseconds: CInt) {
    mayHaveMoreEvents = waitForEvents(
      poller.epoll.number, capacity: Poller.eventsPerWait, milliseconds: milliseconds
    ) {
      timePassed()
      takePosted()
    } take: { number, events, isOnly in
      let token = Poller.Token(bits: number)
      switch token {
      case .wakeUp: break  // its jobs have been taken
      case .alarm: timers.alarmFired()
      default:
        let readiness = Readiness(epollEvents: events)
        if isOnly, announced.isEmpty {
          deliver(readiness, to: token)
        } else {
          announced.append(token, readiness)
        }
      }
    }
    for (token, readiness) in poller.takeReplays() { announced.append(token, readiness) }
    while let (token, readiness) = announced.popFirst() { deliver(readiness, to: token) }
  }

  private func deliver(_ readiness: Readiness, to token: Poller.Token) {
    poller.source(of: token)?.ready(readiness, on: self)
  }

  private func fireTimers() {
    guard let next = timers.heap.nextCheck, next <= time else { return }
    // A timer that is scheduled for now by what it fires has its next go in the next turn.
    var budget = timers.heap.count
    let turnTime = time
    while budget > 0, let action = timers.popDue(at: turnTime) {
      budget -= 1
      action(self)
    }
  }

  func runJobs() {
    for _ in 0..<EventLoop.jobRoundsPerTurn where !jobs.isEmpty {
      for _ in 0..<jobs.count {
        guard let job = jobs.popFirst() else { break }
        job.run(on: self)
      }
    }
  }

  /// Moves what other threads have posted to this loop's own queue.
  func takePosted() {
    guard handle.wake() else { return }
    for parcel in handle.takePosted() { jobs.append(parcel.job) }
  }
}
