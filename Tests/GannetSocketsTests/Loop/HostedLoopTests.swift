import GannetSockets
import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// A loop whose host knows its descriptor and `poll()` only.
@Suite("EventLoop that is hosted") struct HostedLoopTests {
  /// Polls whenever the descriptor is readable, as a host does; false when nothing came in time.
  static func host(_ loop: EventLoop, until isDone: () -> Bool) -> Bool {
    while !isDone() {
      guard isReadable(loop, milliseconds: 20_000) else { return false }
      loop.poll()
    }
    return true
  }

  static func isReadable(_ loop: EventLoop, milliseconds: CInt = 0) -> Bool {
    var entry = pollfd(fd: loop.descriptor, events: Int16(POLLIN), revents: 0)
    return unsafe poll(&entry, 1, milliseconds) == 1
  }

  static func make() throws -> EventLoop {
    let loop = try EventLoop()
    try loop.beginHosting()
    loop.poll()
    #expect(!isReadable(loop))
    return loop
  }

  @Test func jobsMakeItsDescriptorReadable() throws {
    let loop = try Self.make()
    let log = Log()
    loop.handle.post { loop in
      log.add("posted")
      loop.handle.post { _ in log.add("inside") }
    }
    loop.perform { _ in log.add("performed") }
    #expect(Self.isReadable(loop))
    #expect(Self.host(loop) { log.entries.count == 3 })
    #expect(!Self.isReadable(loop))
  }

  @Test func timeThatIsLetPassMakesTimersDue() throws {
    let loop = try Self.make()
    let log = Log()
    let begun = loop.now
    let (first, second) = (
      loop.makeTimer { _ in log.add("first") }, loop.makeTimer { _ in log.add("second") }
    )
    first.schedule(at: begun + .seconds(100))
    second.schedule(at: begun + .seconds(3000))
    loop.advance(by: .seconds(200))
    #expect(loop.now >= begun + .seconds(200))
    #expect(Self.host(loop) { !log.entries.isEmpty })
    #expect(log.entries == ["first"])
    #expect(!Self.isReadable(loop))
    // The alarm follows the loop's own clock.
    loop.advance(by: second.deadline.map { $0.instant - loop.now - .milliseconds(20) } ?? .zero)
    #expect(Self.host(loop) { log.entries.count == 2 })
  }

  @Test func jobsThatPostJobsComeBackInALaterTurn() throws {
    let loop = try Self.make()
    let log = Log()
    @Sendable func again(_ loop: EventLoop) {
      log.add("")
      if log.entries.count < 1000 { loop.handle.post(again) }
    }
    loop.handle.post(again)
    loop.poll()
    #expect(log.entries.count < 1000)
    #expect(Self.isReadable(loop))
    #expect(Self.host(loop) { log.entries.count == 1000 })
    #expect(!Self.isReadable(loop))
  }

  @Test func anotherThreadMakesItReadable() throws {
    let loop = try Self.make()
    let log = Log()
    let handle = loop.handle
    Thread.detach { for _ in 0..<100 { handle.post { _ in log.add("") } } }
    #expect(Self.host(loop) { log.entries.count == 100 })
  }

  @Test func timersMakeItReadable() throws {
    let loop = try Self.make()
    var fired: [String] = []
    let (first, second) = (
      loop.makeTimer { _ in fired.append("first") }, loop.makeTimer { _ in fired.append("second") }
    )
    let begun = ContinuousClock.now
    second.schedule(at: begun + .milliseconds(6))
    first.schedule(at: begun + .milliseconds(3))
    first.schedule(at: begun + .milliseconds(4))
    #expect(Self.host(loop) { fired.count == 2 })
    #expect(fired == ["first", "second"])
    loop.poll()
    #expect(!Self.isReadable(loop, milliseconds: 5))
  }

  @Test func timersFromBeforeTheHostAreArmed() throws {
    let loop = try EventLoop()
    var fired = false
    let timer = loop.makeTimer { _ in fired = true }
    timer.schedule(at: .now + .milliseconds(3))
    loop.perform { _ in }
    try loop.beginHosting()
    #expect(Self.host(loop) { fired })
    withExtendedLifetime(timer) {}
  }

  @Test func socketsMakeItReadable() throws {
    let pair = try Pair()
    try pair.loop.beginHosting()
    pair.loop.poll()
    #expect(!Self.isReadable(pair.loop))
    var received: [UInt8] = []
    pair.client.onReady = { [client = pair.client] _ in received += client.receiveAll().bytes }
    #expect(pair.server.send("hello") == .sent(5))
    #expect(Self.host(pair.loop) { received.count == 5 })
    #expect(!Self.isReadable(pair.loop))
    // What was missed in a pause, too.
    pair.client.pauseReading(true)
    #expect(pair.server.send("again") == .sent(5))
    #expect(Self.host(pair.loop) { !Self.isReadable(pair.loop) })
    pair.client.pauseReading(false)
    #expect(Self.isReadable(pair.loop))
    #expect(Self.host(pair.loop) { received.count == 10 })
    #expect(!Self.isReadable(pair.loop))
  }

  @Test func runMayDriveItInBetween() throws {
    let loop = try Self.make()
    var log: [String] = []
    loop.willRun = { log.append("will") }
    loop.didRun = { log.append("did") }
    loop.retain()
    let timer = loop.makeTimer { loop in
      log.append("timer")
      loop.release()
    }
    timer.schedule(at: .now + .milliseconds(2))
    loop.run()
    #expect(log == ["will", "timer", "did"])
    loop.perform { _ in log.append("job") }
    #expect(Self.host(loop) { log.last == "job" })
    withExtendedLifetime(timer) {}
  }

  @Test func aHostMayPollFromACallback() throws {
    let loop = try Self.make()
    var log: [String] = []
    loop.perform { loop in
      loop.perform { _ in log.append("inner") }
      loop.poll()
      log.append("outer")
    }
    loop.poll()
    #expect(log == ["inner", "outer"])
    #expect(!Self.isReadable(loop))
  }

  /// What epoll announces but once is not kept from a turn inside the delivery of what was announced with it.
  @Test func aTurnInsideADeliverySeesWhatCameWithIt() throws {
    let loop = try EventLoop()
    let log = Log()
    // The ends that are read from; what is written to each is there for good.
    let ends = (0..<3).map { _ in
      var ends: [CInt] = [-1, -1]
      precondition(unsafe pipe(&ends) == 0)
      precondition(unsafe write(ends[1], &ends, 1) == 1)
      _ = close(ends[1])
      return ends[0]
    }
    defer { for end in ends { _ = close(end) } }
    let sources = (0..<3).map { index in
      Source { loop in
        log.add("\(index) begins")
        if index == 0 { loop.poll() }
        log.add("\(index) ends")
      }
    }
    for (end, source) in zip(ends, sources) { _ = try loop.poller.add(end, source, writable: false) }
    loop.poll()
    #expect(log.entries.first == "0 begins" && log.entries.last == "0 ends" && log.entries.count == 6)
  }

  private final class Source: EventSource {
    private let told: @Sendable (EventLoop) -> Void
    init(_ told: @escaping @Sendable (EventLoop) -> Void) { self.told = told }
    func ready(_ readiness: Readiness, on loop: EventLoop) { told(loop) }
  }

  /// A host that waits inside a turn, as a run loop in a callback does, is woken for what came in it and for what comes.
  @Test func aHostThatWaitsInsideATurnIsWoken() throws {
    let loop = try Self.make()
    var log: [String] = []
    loop.perform { loop in
      loop.perform { _ in log.append("inner") }
      loop.hostWaits()
      #expect(Self.isReadable(loop))
      loop.poll()
      loop.hostWaits()
      #expect(!Self.isReadable(loop))
      let (handle, isThere) = (loop.handle, Gate())
      Thread.detach {
        handle.post { _ in }
        isThere.open()
      }
      isThere.wait()
      #expect(Self.isReadable(loop))
      log.append("outer")
    }
    loop.poll()
    #expect(log == ["inner", "outer"])
  }

  @Test func itOutlivesTheThreadThatMadeIt() async throws {
    let log = Log()
    let handle = await Thread.run {
      let loop = EventLoop.current
      do { try loop.beginHosting() } catch { log.add("\(error)") }
      loop.onShutdown { _ in log.add("shut down") }
      Kept.put(Parcel(loop: loop))
      return loop.handle
    }
    // Its host polls it here now.
    let parcel = Kept.take()
    handle.post { _ in log.add("posted") }
    let loop = try #require(parcel).loop
    #expect(Self.hostNow(loop) { log.entries.count == 1 })
    #expect(log.entries == ["posted"])
    loop.shutDown()
    #expect(log.entries == ["posted", "shut down"])
  }

  private static func hostNow(_ loop: EventLoop, until isDone: () -> Bool) -> Bool {
    host(loop, until: isDone)
  }
}
