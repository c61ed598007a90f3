/// What epoll has announced to a loop and the loop has not delivered yet, in order.
struct Announcements {
  private var waiting: [(token: Poller.Token, readiness: Readiness)] = []
  private var next = 0

  var isEmpty: Bool { next == waiting.count }

  mutating func append(_ token: Poller.Token, _ readiness: Readiness) { waiting.append((token, readiness)) }

  mutating func popFirst() -> (token: Poller.Token, readiness: Readiness)? {
    guard next < waiting.count else { return nil }
    defer {
      next += 1
      if next == waiting.count {
        waiting.removeAll(keepingCapacity: true)
        next = 0
      }
    }
    return waiting[next]
  }
}
