/// What is run in the job phase of a turn.
enum Job {
  case closure((EventLoop) -> Void)
  /// A piece of a Swift task.
  case task(UnownedJob)

  func run(on loop: EventLoop) {
    switch self {
    case .closure(let body): body(loop)
    case .task(let job): loop.handle.runTask(job)
    }
  }

  /// What becomes of a job whose loop has ended: a closure is dropped, but a task would wait for ever, so it goes on
  /// on the shared loop's thread.
  func outlive(_ handle: EventLoop.Handle) {
    switch self {
    case .closure: break
    case .task(let job): handle.survive(.task(job))
    }
  }
}

/// Jobs in order, without an allocation per job.
struct JobQueue {
  private var jobs: [Job?] = []
  private var head = 0

  var isEmpty: Bool { head == jobs.count }
  var count: Int { jobs.count - head }

  mutating func append(_ job: Job) {
    jobs.append(job)
  }

  mutating func popFirst() -> Job? {
    guard head < jobs.count else { return nil }
    let job = jobs[head]
    jobs[head] = nil
    head += 1
    if head == jobs.count {
      jobs.removeAll(keepingCapacity: true)
      head = 0
    } else if head >= 512, head * 2 > jobs.count {
      jobs.removeFirst(head)
      head = 0
    }
    return job
  }
}
