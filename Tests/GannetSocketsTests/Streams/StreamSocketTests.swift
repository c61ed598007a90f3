import GannetSockets
import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Two ends of a connection on one loop.
final class Pair {
  let loop: EventLoop
  let listener: Listener
  let client: StreamSocket
  let server: StreamSocket

  init(at address: SocketAddress = .loopback) throws {
    loop = try EventLoop()
    listener = try Listener(on: loop, at: address)
    var (client, server): (StreamSocket?, StreamSocket?)
    listener.onAccept = { server = $0 }
    let endpoint: Endpoint
    switch listener.address {
    case .unix(let path): endpoint = .unix(path: path)
    case .ipv4(_, let port): endpoint = .host("127.0.0.1", port: port)
    case .ipv6(_, _, _, let port): endpoint = .host("::1", port: port)
    }
    Connector.connect(to: endpoint, on: loop, timeLimit: .seconds(10)) { client = try? $0.get() }
    loop.turns { client != nil && server != nil }
    self.client = try #require(client)
    self.server = try #require(server)
  }

  deinit {
    // What they call when ready holds them.
    for socket in [client, server] { socket.close() }
  }
}

extension EventLoop {
  /// Takes turns until something has happened; a bound ends what never does.
  func turns(until isDone: () -> Bool, sourceLocation: SourceLocation = #_sourceLocation) {
    let limit = ContinuousClock.now + .seconds(20)
    retain()
    while !isDone(), ContinuousClock.now < limit { run(until: .now + .milliseconds(1)) }
    release()
    if !isDone() { Issue.record("what was waited for never happened", sourceLocation: sourceLocation) }
  }
}

extension StreamTransport {
  /// Everything that there is to receive now, read into a buffer of this size.
  func receiveAll(bufferBytes: Int = 4096) -> (bytes: [UInt8], last: ReceiveOutcome) {
    var all: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: bufferBytes)
    while true {
      var span = buffer.mutableSpan
      let outcome = receive(into: &span)
      guard case .bytes(let count) = outcome else { return (all, outcome) }
      all += buffer[..<count]
    }
  }

  func send(_ text: String) -> SendOutcome {
    send(Array(text.utf8).span)
  }
}

func temporaryPath() -> String {
  "/tmp/gannet-test-\(getpid())-\(UInt64.random(in: 0 ... .max)).sock"
}

@Suite("StreamSocket") struct StreamSocketTests {
  static let addresses: [SocketAddress] = [.loopback, .loopback6, .unix(path: "")]

  /// A pair over each family; a Unix socket's file goes at the end.
  static func withPair(_ address: SocketAddress, _ body: (Pair) throws -> Void) throws {
    guard case .unix = address else { return try body(Pair(at: address)) }
    let path = temporaryPath()
    defer { unsafe unlink(path) }
    try body(Pair(at: .unix(path: path)))
  }

  @Test(arguments: addresses) func bytesGoBothWays(_ address: SocketAddress) throws {
    try Self.withPair(address) { pair in
      for (from, to) in [(pair.client, pair.server), (pair.server, pair.client)] {
        var received: [UInt8] = []
        to.onReady = { [unowned to] readiness in
          #expect(readiness == .readable)
          let (bytes, last) = to.receiveAll()
          received += bytes
          #expect(last == .wouldBlock)
        }
        for round in 1...3 {
          #expect(from.send("hello") == .sent(5))
          pair.loop.turns { received.count == 5 * round }
        }
        #expect(received == Array("hellohellohello".utf8))
      }
    }
  }

  @Test(arguments: addresses) func theEndIsAnnouncedAfterTheBytes(_ address: SocketAddress) throws {
    try Self.withPair(address) { pair in
      var outcomes: [ReceiveOutcome] = []
      var bytes: [UInt8] = []
      pair.client.onReady = { [client = pair.client] _ in
        let (more, last) = client.receiveAll(bufferBytes: 5)
        bytes += more
        outcomes.append(last)
      }
      #expect(pair.server.send("the last bytes") == .sent(14))
      pair.server.finishWriting()
      pair.loop.turns { outcomes.last == .endOfFile }
      #expect(bytes == Array("the last bytes".utf8))
      // Half closed: the other direction still works.
      var answered = false
      pair.server.onReady = { [server = pair.server] _ in answered = server.receiveAll().bytes == [33] }
      #expect(pair.client.send("!") == .sent(1))
      pair.loop.turns { answered }
      #expect(answered)
    }
  }

  @Test(arguments: addresses) func anIdlePeerThatClosesIsNoticed(_ address: SocketAddress) throws {
    try Self.withPair(address) { pair in
      var seen: Readiness = []
      pair.client.onReady = { seen.formUnion($0) }
      pair.server.close()
      pair.loop.turns { !seen.isEmpty }
      #expect(seen.contains(.peerClosed) && seen.contains(.readable))
      #expect(pair.client.receiveAll().last == .endOfFile)
    }
  }

  @Test func aResetIsAFailure() throws {
    let pair = try Pair()
    var last: ReceiveOutcome?
    pair.client.onReady = { [client = pair.client] _ in last = client.receiveAll().last }
    pair.server.abort()
    pair.loop.turns { last != nil }
    #expect(last == .failed(ECONNRESET))
    // No signal ends the process, and the failure stays.
    #expect(pair.client.send("x") == .failed(EPIPE))
    #expect(pair.client.send("x") == .failed(EPIPE))
  }

  @Test(arguments: addresses) func aFullSocketSaysWhenThereIsRoom(_ address: SocketAddress) throws {
    try Self.withPair(address) { pair in
      let block = [UInt8](repeating: 65, count: 1 << 20)
      var sent = 0
      var isFull = false
      while !isFull {
        switch pair.client.send(block.span) {
        case .sent(let count):
          sent += count
          isFull = count < block.count
        case let other:
          Issue.record("\(other)")
          return
        }
      }
      #expect(pair.client.send(block.span) == .wouldBlock)
      var hasRoom = false
      pair.client.onReady = { readiness in if readiness.contains(.writable) { hasRoom = true } }
      pair.client.wantWrite(true)
      pair.loop.run(until: .now + .milliseconds(2))
      #expect(!hasRoom)
      var received = 0
      pair.server.onReady = { [server = pair.server] _ in
        received += server.receiveAll(bufferBytes: 1 << 16).bytes.count
      }
      pair.loop.turns { hasRoom && received == sent }
      #expect(received == sent)
      #expect(pair.client.send("more") == .sent(4))
    }
  }

  @Test func aPausedReaderHearsOfItLater() throws {
    let pair = try Pair()
    var calls = 0
    pair.client.onReady = { _ in calls += 1 }
    pair.client.pauseReading(true)
    #expect(pair.server.send("waiting") == .sent(7))
    var sawServer = false
    pair.server.onReady = { _ in sawServer = true }
    #expect(pair.client.send("x") == .sent(1))
    pair.loop.turns { sawServer }
    #expect(calls == 0)
    pair.client.pauseReading(false)
    #expect(calls == 0)
    pair.loop.turns { calls > 0 }
    #expect(calls == 1)
    #expect(pair.client.receiveAll().bytes == Array("waiting".utf8))
  }

  @Test func whatCameBeforeTheReaderIsAnnounced() throws {
    let pair = try Pair()
    #expect(pair.server.send("early") == .sent(5))
    var isSent = false
    pair.server.onReady = { _ in isSent = true }
    #expect(pair.client.send("x") == .sent(1))
    pair.loop.turns { isSent }
    var received: [UInt8] = []
    pair.client.onReady = { [client = pair.client] _ in received += client.receiveAll().bytes }
    pair.loop.turns { !received.isEmpty }
    #expect(received == Array("early".utf8))
  }

  @Test func whatIsClosedInTheSameBatchIsNotCalled() throws {
    // Both servers' bytes are there before the clients' loop looks; whichever comes first closes the other.
    let loop = try EventLoop()
    let listener = try Listener(on: loop)
    var accepted: [StreamSocket] = []
    listener.onAccept = { accepted.append($0) }
    var clients: [StreamSocket] = []
    for _ in 0..<2 {
      Connector.connect(to: .host("127.0.0.1", port: listener.port), on: loop, timeLimit: .seconds(10)) {
        if let client = try? $0.get() { clients.append(client) }
      }
    }
    loop.turns { accepted.count == 2 && clients.count == 2 }
    var calls: [Int] = []
    for index in 0..<2 {
      clients[index].onReady = { _ in
        calls.append(index)
        clients[1 - index].close()
        // Takes the slot, and the number, that were just freed.
        _ = try? Listener(on: loop)
      }
    }
    for server in accepted { #expect(server.send("x") == .sent(1)) }
    loop.turns { !calls.isEmpty }
    loop.run(until: .now + .milliseconds(2))
    #expect(calls.count == 1)
    for client in clients { client.close() }
    withExtendedLifetime(listener) {}
  }

  @Test func closedIsClosed() throws {
    let pair = try Pair()
    pair.client.close()
    pair.client.close()
    pair.client.finishWriting()
    pair.client.pauseReading(true)
    pair.client.pauseReading(false)
    pair.client.wantWrite(true)
    #expect(pair.client.send("x") == .failed(EBADF))
    #expect(pair.client.receiveAll().last == .failed(EBADF))
    #expect(pair.client.descriptorNumber == -1)
  }
}
