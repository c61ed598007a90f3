import GannetSockets
import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite("Poller") struct PollerTests {
  final class Probe: EventSource {
    var seen: [Readiness] = []
    var onReady: () -> Void = {}
    func ready(_ readiness: Readiness, on loop: EventLoop) {
      seen.append(readiness)
      onReady()
    }
  }

  /// Two ends that close themselves.
  final class Pipe {
    let reading: FileDescriptor
    let writing: FileDescriptor

    init() {
      var ends: [CInt] = [-1, -1]
      precondition(unsafe pipe(&ends) == 0)
      reading = FileDescriptor(owning: ends[0])
      writing = FileDescriptor(owning: ends[1])
    }

    func push() {
      var byte: UInt8 = 1
      #expect(unsafe write(writing.number, &byte, 1) == 1)
    }
  }

  @Test func aStaleTokenNeverMeansTheNextOwner() throws {
    let loop = try EventLoop()
    let (first, second) = (Pipe(), Pipe())
    let (old, new) = (Probe(), Probe())
    let stale = try loop.poller.add(first.reading.number, old, writable: false)
    #expect(loop.poller.source(of: stale) === old)
    loop.poller.remove(stale)
    loop.poller.remove(stale)
    let token = try loop.poller.add(second.reading.number, new, writable: false)
    #expect(
      UInt32(truncatingIfNeeded: token.bits) == UInt32(truncatingIfNeeded: stale.bits) && token != stale)
    #expect(loop.poller.source(of: stale) == nil)
    #expect(loop.poller.source(of: token) === new)
    #expect(loop.registeredSources == 1)
    withExtendedLifetime((first, second)) {}
  }

  @Test func whatIsFetchedForAClosedOwnerIsDropped() throws {
    let loop = try EventLoop()
    let (first, second) = (Pipe(), Pipe())
    let third = Pipe()
    let probes = [Probe(), Probe(), Probe()]
    let poller = loop.poller
    let tokens = [
      try poller.add(first.reading.number, probes[0], writable: false),
      try poller.add(second.reading.number, probes[1], writable: false),
    ]
    // Whichever of the two comes first removes the other, and a third takes its slot, within the batch.
    let idle = third.reading.number
    for index in 0..<2 {
      probes[index].onReady = {
        poller.remove(tokens[1 - index])
        _ = try? poller.add(idle, probes[2], writable: false)
      }
    }
    for pipe in [first, second] { pipe.push() }
    loop.turns { probes[0].seen.count + probes[1].seen.count > 0 }
    #expect(probes[0].seen.count + probes[1].seen.count == 1)
    #expect(probes[2].seen == [])
    for probe in probes { probe.onReady = {} }
    withExtendedLifetime((first, second, third)) {}
  }

  @Test func aSourceThatIsGoneIsNotCalled() throws {
    let loop = try EventLoop()
    let ends = Pipe()
    do { _ = try loop.poller.add(ends.reading.number, Probe(), writable: false) }
    ends.push()
    loop.retain()
    loop.run(until: .now + .milliseconds(2))
  }

  @Test func aDescriptorThatEpollRefusesIsAnError() throws {
    let loop = try EventLoop()
    #expect(throws: SystemError(errno: EBADF, call: "epoll_ctl")) {
      _ = try loop.poller.add(-1, Probe(), writable: false)
    }
    #expect(loop.registeredSources == 0)
  }
}
