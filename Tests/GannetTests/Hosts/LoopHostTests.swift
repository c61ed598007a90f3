import Dispatch
import Gannet
import GannetSockets
import Synchronization
import TestSupport
import Testing

/// Who drives a loop that lives in a host, and when nobody has to.
@Suite struct LoopHostTests {
  /// A host whose attachments are counted.
  private final class Attachments: LoopAttachment {
    private let counts = Guarded((made: 0, live: 0))
    var made: Int { counts.withLock { $0.made } }
    var live: Int { counts.withLock { $0.live } }

    func attach() -> Attachments {
      counts.withLock { counts in
        counts.made += 1
        counts.live += 1
      }
      return self
    }
    func detach() { counts.withLock { $0.live -= 1 } }
  }

  private static func make() throws -> (LoopHost, Attachments) {
    let attachments = Attachments()
    let host = try LoopHost(EventLoop(), isOfMainThread: false) { _ in attachments.attach() }
    return (host, attachments)
  }

  private static func post(to host: LoopHost, _ job: @escaping @Sendable (EventLoop) -> Void) -> Bool {
    host.post(job)
  }

  private static func post(to handle: EventLoop.Handle, _ job: @escaping @Sendable (EventLoop) -> Void) {
    handle.post(job)
  }

  @Test func itIsAttachedWhileThereIsWork() throws {
    let (host, attachments) = try Self.make()
    #expect(attachments.made == 0)
    let ran = Guarded(0)
    for round in 1...3 {
      #expect(Self.post(to: host) { _ in ran.withLock { $0 += 1 } })
      #expect(attachments.live == 1 && attachments.made == round)
      host.turn()
      #expect(attachments.live == 0)
    }
    #expect(ran.withLock { $0 } == 3)
    #expect(Self.post(to: host) { $0.retain() })
    host.turn()
    #expect(attachments.live == 1, "a load is live")
    #expect(Self.post(to: host) { $0.release() })
    host.turn()
    #expect(attachments.live == 0)
  }

  @Test func aJobThatIsPostedToItsHandleBringsTheHostBack() throws {
    let (host, attachments) = try Self.make()
    let ran = Guarded(0)
    for round in 1...3 {
      Self.post(to: host.loop.handle) { _ in ran.withLock { $0 += 1 } }
      #expect(attachments.live == 1 && attachments.made == round)
      host.turn()
      #expect(ran.withLock { $0 } == round && attachments.live == 0)
    }
  }

  @Test func aRunInsideATurnLeavesNoWorkToNobody() throws {
    let (host, attachments) = try Self.make()
    #expect(
      Self.post(to: host) { loop in
        loop.run()
        loop.retain()
      })
    host.turn()
    #expect(attachments.live == 1, "a load is live")
    #expect(Self.post(to: host) { $0.release() })
    host.turn()
    #expect(attachments.live == 0)
  }

  /// A job that comes at the very end of a turn does not find that its host has left.
  @Test func noJobIsLeftInAHostThatLeaves() throws {
    let (host, attachments) = try Self.make()
    let counts = Counts()
    let isOver = DispatchSemaphore(value: 0)
    try startBackgroundThread(stackBytes: 1 << 20) {
      for round in 1...Counts.rounds {
        guard Self.post(to: host, { _ in counts.ran.store(round, ordering: .releasing) }) else { break }
        counts.posted.store(round, ordering: .releasing)
        while counts.ran.load(ordering: .acquiring) < round, !counts.isGivenUp.load(ordering: .acquiring) {}
        if counts.isGivenUp.load(ordering: .acquiring) { break }
      }
      isOver.signal()
    }
    while counts.ran.load(ordering: .acquiring) < Counts.rounds {
      let last = counts.posted.load(ordering: .acquiring)
      if attachments.live > 0 {
        host.turn()
      } else if counts.ran.load(ordering: .acquiring) < last, attachments.live == 0 {
        Issue.record("job \(last) waits where nobody takes it")
        counts.isGivenUp.store(true, ordering: .releasing)
        break
      }
    }
    isOver.wait()
  }

  private final class Counts: Sendable {
    static let rounds = 2_000
    let posted = Atomic(0)
    let ran = Atomic(0)
    let isGivenUp = Atomic(false)
  }

  @Test func theThreadsOwnRunTakesOverAndGivesBack() throws {
    let (host, attachments) = try Self.make()
    #expect(Self.post(to: host) { $0.retain() })
    host.loop.run(until: .now)
    #expect(attachments.live == 1, "the load goes on in the host")
    host.loop.perform { loop in
      #expect(attachments.live == 0)
      // A run inside the run: the outer one still drives.
      loop.run(until: .now)
      #expect(attachments.live == 0)
      host.turn()
      loop.stop()
    }
    host.loop.run()
    #expect(attachments.live == 1)
    host.loop.perform { $0.release() }
    host.turn()
    #expect(attachments.live == 0)
  }

  @Test func anEndedHostTakesNothing() throws {
    let (host, attachments) = try Self.make()
    #expect(Self.post(to: host) { _ in })
    host.hostEnded()
    #expect(attachments.live == 0)
    #expect(!Self.post(to: host) { _ in Issue.record("the host has ended") })
    #expect(attachments.live == 0)
  }

  @Test func whatWasAcceptedBeforeTheEndRuns() throws {
    let (host, _) = try Self.make()
    let order = Guarded<[Int]>([])
    for index in 0..<3 { #expect(Self.post(to: host) { _ in order.withLock { $0.append(index) } }) }
    host.hostEnded()
    #expect(order.withLock { $0 } == [0, 1, 2])
  }
}
