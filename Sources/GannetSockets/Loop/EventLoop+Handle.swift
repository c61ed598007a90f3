import CLinux
import Synchronization

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

extension EventLoop {
  /// What other threads, and Swift concurrency, hold of a loop.
  ///
  /// It may outlive its loop: jobs posted then are dropped. A piece of a Swift task is not, since nothing would ever
  /// resume the task: it runs on the shared background loop's thread, once this loop has run its last job, so that what
  /// this handle isolates never runs on two threads at once.
  ///
  /// As an executor it works while the loop is being run: `Task(executorPreference: loop.handle) { … }` runs on the
  /// loop's thread. A loop that only serves tasks wants ``EventLoop/runForever()``, since a task that waits is
  /// nothing that ``EventLoop/run()`` knows of.
  public final class Handle: TaskExecutor, SerialExecutor, Sendable {
    /// The state of the loop as its posters see it: the first post to a sleeping loop, and only that, writes to the
    /// eventfd.
    private enum Phase {
      static let awake: UInt8 = 0
      static let asleep: UInt8 = 1
      static let signalled: UInt8 = 2
    }

    private struct Inbox {
      var parcels: [Parcel] = []
      var isClosed = false
      /// What goes on on the shared loop's thread; nil once it is there.
      var survivors: [Parcel]? = []
    }

    private let inbox = Guarded(Inbox())
    private let waker = Guarded<(@Sendable () -> Void)?>(nil)
    private let phase = Atomic<UInt8>(Phase.asleep)
    let wakeUp: FileDescriptor

    init() throws(SystemError) {
      wakeUp = try FileDescriptor(
        checking: eventfd(0, CInt(EFD_CLOEXEC | EFD_NONBLOCK)), "eventfd")
    }

    /// Runs the job on the loop's thread, in a later turn or later in this one, never from inside this call. From
    /// any thread; jobs of one thread keep their order.
    public func post(_ job: sending @escaping (EventLoop) -> Void) {
      _ = submit(.closure(job))
    }

    /// As ``post(_:)``; false when the loop has ended, so that the job was dropped.
    package func offer(_ job: sending @escaping (EventLoop) -> Void) -> Bool {
      submit(.closure(job))
    }

    /// Whether this loop's turn is what runs on this thread.
    package var isCurrent: Bool { EventLoop.running?.handle === self }

    private func submit(_ job: sending Job) -> Bool {
      if let loop = EventLoop.onThisThread(with: self) { return loop.append(job) }
      let parcel = Parcel(job: job)
      let isAccepted = inbox.withLock { inbox in
        if !inbox.isClosed { inbox.parcels.append(parcel) }
        return !inbox.isClosed
      }
      if isAccepted { signal() } else { parcel.job.outlive(self) }
      return isAccepted
    }

    /// Runs a job on the shared loop's thread, once this loop, which takes no more jobs, has run its last.
    package func survive(_ job: sending @escaping (EventLoop) -> Void) {
      survive(.closure(job))
    }

    func survive(_ job: sending Job) {
      let parcel = Parcel(job: job)
      let isKept = inbox.withLock { inbox in
        inbox.survivors?.append(parcel)
        return inbox.survivors != nil
      }
      if !isKept { runElsewhere(parcel) }
    }

    // MARK: - Waking

    /// Makes sure that the loop takes a turn. From any thread.
    package func signal() {
      guard phase.exchange(Phase.signalled, ordering: .acquiringAndReleasing) == Phase.asleep else { return }
      signalEvent(wakeUp.number)
      waker.withLock { $0 }?()
    }

    /// Calls this, on any thread, whenever the loop is woken from its sleep: a host that has left comes back.
    package func whenWoken(_ call: @escaping @Sendable () -> Void) { waker.withLock { $0 = call } }

    /// As `signal`, when the loop leaves its turn with work to do.
    func signalAgain() {
      phase.store(Phase.signalled, ordering: .releasing)
      signalEvent(wakeUp.number)
    }

    /// The loop is about to wait. False when it was signalled: then it must not.
    func fallAsleep() -> Bool {
      phase.compareExchange(
        expected: Phase.awake, desired: Phase.asleep, ordering: .acquiringAndReleasing
      ).exchanged
    }

    /// The loop is in its turn. True when jobs may have been posted.
    func wake() -> Bool {
      phase.exchange(Phase.awake, ordering: .acquiringAndReleasing) == Phase.signalled
    }

    var isSignalled: Bool { phase.load(ordering: .acquiring) == Phase.signalled }

    // MARK: - The loop's side

    func takePosted() -> [Parcel] {
      inbox.withLock { inbox in
        defer { inbox.parcels = [] }
        return inbox.parcels
      }
    }

    /// From now on nothing is accepted; returns what was left.
    func close() -> [Parcel] {
      inbox.withLock { inbox in
        inbox.isClosed = true
        defer { inbox.parcels = [] }
        return inbox.parcels
      }
    }

    /// The loop has run its last job: what survives it goes on.
    func end() {
      let survivors = inbox.withLock { inbox in
        defer { inbox.survivors = nil }
        return inbox.survivors ?? []
      }
      for parcel in survivors { runElsewhere(parcel) }
    }

    /// A job on its way from a thread to the loop.
    // UNCHECKED: `post` took the closure by `sending`, so its poster can't touch what it captured any more.
    struct Parcel: @unchecked Sendable {
      let job: Job
    }

    // MARK: - Executor

    /// Runs a piece of a task on the loop's thread.
    public func enqueue(_ job: consuming ExecutorJob) {
      _ = submit(.task(UnownedJob(job)))
    }

    /// This handle as the executor of an actor.
    public func asUnownedSerialExecutor() -> UnownedSerialExecutor {
      // SAFETY: whoever asks holds the handle for as long as it uses the reference.
      unsafe UnownedSerialExecutor(ordinary: self)
    }

    /// This handle as a task's preferred executor.
    public func asUnownedTaskExecutor() -> UnownedTaskExecutor {
      // SAFETY: as above; a task holds its preferred executor.
      unsafe UnownedTaskExecutor(ordinary: self)
    }

    /// Stops the program when called elsewhere than on this loop.
    public func checkIsolated() {
      precondition(isCurrent || isOutlived, "not on the thread of this event loop")
    }

    /// Whether isolated code may run here.
    public func isIsolatingCurrentContext() -> Bool? {
      isCurrent || isOutlived
    }

    func runTask(_ job: UnownedJob) {
      // SAFETY: each job comes here once, from `enqueue`, on the loop's thread; both executors are this handle.
      unsafe job.runSynchronously(
        isolatedTo: asUnownedSerialExecutor(), taskExecutor: asUnownedTaskExecutor())
    }

    private func runElsewhere(_ parcel: Parcel) {
      EventLoop.shared.post { loop in
        switch parcel.job {
        case .closure(let body): body(loop)
        case .task(let job): self.runTask(job)
        }
      }
    }

    /// The loop has run its last job, and this is the thread that its tasks go on on.
    private var isOutlived: Bool {
      EventLoop.shared.isCurrent && inbox.withLock { $0.survivors == nil }
    }
  }
}
