import Dispatch
import Gannet
import GannetSockets
import TestSupport
import Testing

/// Bytes that a server sends unasked, over real sockets: they are never the answer to the next request.
@Suite struct UnaskedBytesTests {
  private static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"

  /// When something happens after the first load, for a loop that then makes the second.
  enum Moment: CaseIterable, Sendable {
    /// While the loop turns, so it is told.
    case whileIdle
    /// While it does not.
    case whileStopped
    /// In the same turn in which the second load begins, before it.
    case unnoticed
  }

  /// Makes two loads on one loop, with what happens in between; returns what the second was answered, and how many
  /// connections there were.
  private static func second(
    _ server: HoldingServer, _ method: String, _ moment: Moment, between: @escaping () -> Void
  ) throws -> (lines: [String], connections: Int) {
    let loop = try EventLoop()
    defer { loop.shutDown() }
    func begin(_ path: String) -> CallbackLog {
      let log = CallbackLog()
      var request = URLRequest(string: "http://127.0.0.1:\(server.port)/\(path)")
      request.httpMethod = method
      _ = URLConnection(request: request, delegate: log, on: .loop(loop.handle))
      return log
    }
    _ = begin("1")
    loop.run(until: .now + .seconds(10))
    var log: CallbackLog?
    switch moment {
    case .whileIdle:
      between()
      loop.run(until: .now + .milliseconds(20))
      log = begin("2")
    case .whileStopped:
      between()
      log = begin("2")
    case .unnoticed:
      loop.perform { _ in
        between()
        log = begin("2")
      }
      loop.run(until: .now + .milliseconds(1))
    }
    loop.run(until: .now + .seconds(10))
    return (log?.finished() ?? [], server.connections)
  }

  private static let good = ["response 200 length 4", "data good", "finish"]

  @Test(arguments: ["GET", "POST"])
  func bytesBehindAnAnswerAreNotTheNext(_ method: String) throws {
    for unasked in [Self.evil, "x", "\r\n"] {
      let server = try HoldingServer(
        first: Answer.ok("good").bytes + Array(unasked.utf8), later: Answer.ok("good").bytes)
      defer { server.stop() }
      let (lines, connections) = try Self.second(server, method, .whileStopped) {}
      #expect(lines == Self.good, "\(unasked)")
      #expect(connections == 2, "\(unasked)")
    }
  }

  @Test(arguments: Moment.allCases, ["GET", "POST"])
  func bytesOnAnIdleConnectionAreNotTheNextAnswer(_ moment: Moment, _ method: String) throws {
    for unasked in [Self.evil, "x", "\r\n"] {
      let server = try HoldingServer(first: Answer.ok("good").bytes, later: Answer.ok("good").bytes)
      defer { server.stop() }
      let (lines, connections) = try Self.second(server, method, moment) { server.say(Array(unasked.utf8)) }
      #expect(lines == Self.good, "\(unasked)")
      #expect(connections == 2, "\(unasked)")
    }
  }

  /// The next request goes to another connection, also one that may not be sent twice.
  @Test(arguments: Moment.allCases)
  func anEndOfAnIdleConnection(_ moment: Moment) throws {
    let server = try HoldingServer(first: Answer.ok("good").bytes, later: Answer.ok("good").bytes)
    defer { server.stop() }
    let (lines, connections) = try Self.second(server, "POST", moment) { server.hangUp() }
    #expect(lines == Self.good)
    #expect(connections == 2)
  }
}

/// A server that answers the first request one way and every later one another, and says more on its first connection
/// when told to.
private final class HoldingServer: Sendable {
  private struct State: Sendable {
    var connections = 0
    var requests = 0
  }

  let port: UInt16
  private let handle: EventLoop.Handle
  private final class Counts: Sendable { let state = Guarded(State()) }
  private let counts = Counts()
  private let hasEnded = DispatchSemaphore(value: 0)

  var connections: Int { counts.state.withLock { $0.connections } }

  init(first: [UInt8], later: [UInt8]) throws {
    let begun = DispatchSemaphore(value: 0)
    let place = Guarded<(UInt16, EventLoop.Handle)?>(nil)
    let (counts, hasEnded) = (counts, hasEnded)
    try startBackgroundThread(stackBytes: 1 << 20) {
      guard let loop = try? EventLoop(), let listener = try? Listener(on: loop) else {
        begun.signal()
        return
      }
      let peers = Peers()
      loop.attachments[ObjectIdentifier(Peers.self)] = peers
      listener.onAccept = { socket in
        counts.state.withLock { $0.connections += 1 }
        peers.sockets.append(socket)
        socket.onReady = { [unowned socket] _ in
          var buffer = [UInt8](repeating: 0, count: 4096)
          while true {
            var space = buffer.mutableSpan
            guard case .bytes(let count) = socket.receive(into: &space) else { return }
            var scanner = RequestScanner()
            _ = scanner.step(buffer.span.extracting(first: count))
            let answer = counts.state.withLock { state in
              state.requests += 1
              return state.requests == 1 ? first : later
            }
            _ = socket.send(answer.span)
          }
        }
      }
      let (port, handle) = (listener.port, loop.handle)
      place.withLock { $0 = (port, handle) }
      begun.signal()
      loop.runForever()
      for socket in peers.sockets { socket.close() }
      listener.close()
      loop.shutDown()
      hasEnded.signal()
    }
    begun.wait()
    guard let made = place.withLock({ $0 }) else { throw SystemError(errno: 24, call: "a test server") }
    (port, handle) = made
  }

  /// Says this on the first connection, and returns when it has been handed to the system.
  func say(_ bytes: [UInt8]) {
    onFirst { _ = $0.send(bytes.span) }
  }

  /// Ends the first connection.
  func hangUp() {
    onFirst { $0.close() }
  }

  private func onFirst(_ act: @escaping @Sendable (StreamSocket) -> Void) {
    let done = DispatchSemaphore(value: 0)
    handle.post { loop in
      if let socket = (loop.attachments[ObjectIdentifier(Peers.self)] as? Peers)?.sockets.first {
        act(socket)
      }
      done.signal()
    }
    done.wait()
  }

  func stop() {
    handle.post { $0.stop() }
    hasEnded.wait()
  }

  private final class Peers: LoopResident {
    var sockets: [StreamSocket] = []
    func loopEnded() {}
  }
}
