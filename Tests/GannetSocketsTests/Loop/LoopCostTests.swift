import GannetSockets
import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// What a loop costs when it works, and when there is nothing to do.
///
/// The system calls of `pingPong` are counted by hand: `strace -f` on the test program with `--filter pingPong` shows,
/// on the client's thread, one `sendto`, one `epoll_wait` and one `recvfrom` per round and no `futex`.
@Suite("EventLoop's cost") struct LoopCostTests {
  static let rounds = 1000

  /// An echoing server on a thread and a loop of its own, that ends when its client does; returns its port.
  static func startEchoServer() async -> UInt16 {
    await withCheckedContinuation { continuation in
      Thread.detach {
        let loop = EventLoop.current
        guard let listener = try? Listener(on: loop) else { return continuation.resume(returning: 0) }
        var connection: StreamSocket?
        listener.onAccept = { socket in
          connection = socket
          socket.onReady = { [unowned socket] _ in
            let (bytes, last) = socket.receiveAll()
            if !bytes.isEmpty { _ = socket.send(bytes.span) }
            if last == .endOfFile { loop.stop() }
          }
        }
        continuation.resume(returning: listener.port)
        loop.runForever()
        withExtendedLifetime((listener, connection)) {}
      }
    }
  }

  @Test func pingPong() async throws {
    let port = await Self.startEchoServer()
    try #require(port != 0)
    let answers = await Thread.run { Self.play(with: port) }
    #expect(answers == Self.rounds)
  }

  /// Sends the next message when the answer to the last one is there.
  static func play(with port: UInt16) -> Int {
    let loop = EventLoop.current
    let ping = [UInt8](repeating: 33, count: 100)
    var (answers, received) = (0, 0)
    var client: StreamSocket?
    var buffer = [UInt8](repeating: 0, count: 4096)
    loop.retain()
    let inactivity = loop.makeTimer { $0.stop() }
    Connector.connect(to: .host("127.0.0.1", port: port), on: loop, timeLimit: .seconds(10)) { outcome in
      client = try? outcome.get()
      client?.onReady = { _ in
        while true {
          var span = buffer.mutableSpan
          guard case .bytes(let count)? = client?.receive(into: &span) else { return }
          received += count
          guard received == ping.count else { continue }
          (received, answers) = (0, answers + 1)
          if answers == rounds { return loop.release() }
          inactivity.schedule(at: loop.now + .seconds(20))
          _ = client?.send(ping.span)
        }
      }
      _ = client?.send(ping.span)
    }
    loop.run()
    client?.close()
    return answers
  }

  /// An open connection and a timer far away: the thread sleeps.
  @Test func anIdleLoopTakesNoTime() async throws {
    let used = await Thread.run { () -> Duration in
      guard let pair = try? Pair(at: .loopback) else { return .seconds(1) }
      pair.client.onReady = { _ in }
      pair.server.onReady = { _ in }
      let timer = pair.loop.makeTimer { _ in }
      timer.schedule(at: .now + .seconds(60))
      pair.loop.retain()
      let before = Self.threadTime()
      pair.loop.run(until: .now + .milliseconds(300))
      return Self.threadTime() - before
    }
    #expect(used < .milliseconds(30))
  }

  private static func threadTime() -> Duration {
    var time = timespec()
    unsafe clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time)
    return .seconds(time.tv_sec) + .nanoseconds(time.tv_nsec)
  }
}
