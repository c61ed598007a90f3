import CLinux

/// What is attached to a loop and has to hear that it ends without having been shut down: nobody can be called then,
/// and the loop itself may not be touched, but descriptors have to be closed.
package protocol LoopResident: AnyObject {
  func loopEnded()
}

/// One thread's event loop: an epoll descriptor, timers, and a wake-up for jobs that come from other threads.
///
/// A connection belongs to one loop, and all its state is touched only there. The loop itself is not `Sendable`; what
/// other threads hold is its ``handle``, and a job that is posted there receives the loop:
/// ```swift
/// handle.post { loop in … }
/// ```
/// On a thread of your own: start your loads, then call ``run()``.
public final class EventLoop {
  /// What other threads hold: it posts jobs to this loop, and is the executor that Swift concurrency knows.
  public let handle: Handle

  package let poller: Poller
  let timers = TimerTable()
  var jobs = JobQueue()
  let lookups = PendingLookups()

  var liveLoads = 0
  var turnDepth = 0
  var stopRequested = false
  /// What has been announced and not been delivered yet, so that a turn inside a delivery sees it too.
  var announced = Announcements()
  /// Whether the last wait brought as many events as one can.
  var mayHaveMoreEvents = false
  var cachedTime: LoopTime?
  /// Counts the moments at which `time` is read anew: what happens in the same one happens at the same time, and need
  /// not ask for it.
  package private(set) var moments: UInt64 = 0
  private var shutdownHandlers: [(EventLoop) -> Void] = []
  private var stage = Stage.open
  /// The stages of a loop's life, in their order.
  private enum Stage {
    case open
    /// ``shutDown()`` has begun, and jobs may bring more of them.
    case ending
    /// Only jobs that were accepted still run.
    case runningOut
    case closed
  }

  /// Whether ``shutDown()`` has begun: what starts now has no time left.
  package var isEnding: Bool { stage != .open }
  var isClosed: Bool { stage == .closed }

  /// Called when ``run()`` begins and has ended: a host that drives this loop too pauses in between.
  package var willRun: (() -> Void)?
  package var didRun: (() -> Void)?

  /// What the layers above keep per loop (their pools), by the identity of their type.
  package var attachments: [ObjectIdentifier: AnyObject] = [:]

  /// A loop for a host to drive, by ``descriptor`` and ``poll()``, or for one call of ``run()``.
  ///
  /// Whoever made it calls ``shutDown()`` before letting it go while something may be live on it.
  ///
  /// - Throws: when there are no descriptors left.
  package convenience init() throws(SystemError) {
    try self.init(handle: Handle())
  }

  init(handle: Handle) throws(SystemError) {
    self.handle = handle
    poller = try Poller(handle: handle)
  }

  deinit {
    close()
  }

  // MARK: - Live loads

  /// One more load is live: ``run()`` goes on. On the loop's thread.
  package func retain() { liveLoads += 1 }

  /// A load that was retained has ended.
  package func release() {
    assert(liveLoads > 0, "a load was released twice")
    liveLoads -= 1
  }

  // MARK: - Time

  /// `time` as an instant: for what is told to others.
  package var now: ContinuousClock.Instant { time.instant }

  /// Time has passed: `time` is read anew when it is asked for.
  func timePassed() {
    cachedTime = nil
    moments &+= 1
  }

  /// Lets time pass for this loop alone, so that a test need not wait for it. On the loop's thread.
  package func advance(by duration: Duration) {
    timers.advance(by: duration)
    timePassed()
    if isHosted { handle.signal() }
  }

  /// Makes a timer, not scheduled. `fire` is kept until the timer goes.
  package func makeTimer(_ fire: @escaping (EventLoop) -> Void) -> LoopTimer {
    timers.makeTimer(fire)
  }

  // MARK: - Jobs

  /// Runs the job later on this loop: in this turn's job phase or the next turn, never from inside this call.
  package func perform(_ job: @escaping (EventLoop) -> Void) {
    _ = append(.closure(job))
  }

  /// False when the loop has ended.
  func append(_ job: Job) -> Bool {
    guard stage == .open || stage == .ending else {
      job.outlive(handle)
      return false
    }
    jobs.append(job)
    if isHosted, turnDepth == 0 { handle.signal() }
    return true
  }

  /// Sockets and listeners that are open on this loop.
  package var registeredSources: Int { poller.count }

  // MARK: - Hosts

  /// The epoll descriptor: readable whenever a hosted loop has something to do in ``poll()``.
  package var descriptor: CInt { poller.epoll.number }

  /// Whether a host drives this loop by its descriptor. It then also arms a timerfd, and outlives the thread that
  /// made it.
  package private(set) var isHosted = false

  /// A host begins to drive this loop by ``descriptor`` and ``poll()``.
  ///
  /// - Throws: when there is no descriptor left for the timerfd.
  package func beginHosting() throws(SystemError) {
    guard !isHosted else { return }
    try timers.startAlarm(in: poller)
    isHosted = true
    if jobs.isEmpty == false { handle.signal() }
  }

  /// The host lets go of this loop.
  package func endHosting() {
    guard isHosted else { return }
    timers.stopAlarm()
    isHosted = false
  }

  // MARK: - The end

  /// Adds what is called when the loop's thread ends, or its host closes it: what is live fails its loads there.
  package func onShutdown(_ handler: @escaping (EventLoop) -> Void) {
    shutdownHandlers.append(handler)
  }

  /// Ends the loop: the shutdown handlers run, then the jobs that were left, and later posts are dropped. A job that was
  /// accepted runs, however many come of those before it.
  package func shutDown() {
    guard stage == .open else { return }
    stage = .ending
    enter {
      repeat {
        let handlers = shutdownHandlers
        shutdownHandlers = []
        for handler in handlers { handler(self) }
        // Nothing more is accepted, and what was accepted runs.
        for parcel in handle.close() { jobs.append(parcel.job) }
        runJobs()
        // A job may have been the first to attach something that wants to hear of the end.
      } while !shutdownHandlers.isEmpty
      // Jobs that make jobs without end make no more.
      stage = .runningOut
      while let job = jobs.popFirst() { job.run(on: self) }
    }
    close()
  }

  private func close() {
    guard !isClosed else { return }
    stage = .closed
    let late = handle.close()
    while let job = jobs.popFirst() { job.outlive(handle) }
    for parcel in late { parcel.job.outlive(handle) }
    let residents = attachments.values
    attachments = [:]
    for resident in residents { (resident as? any LoopResident)?.loopEnded() }
    lookups.removeAll()
    timers.removeAllActions()
    handle.end()
  }
}
