import GannetSockets
import Testing

#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

@Suite("Connector") struct ConnectorTests {
  /// The outcome of one connect, driven on a loop of its own.
  static func connect(
    to endpoint: Endpoint, timeLimit: Duration = .seconds(10), resolver: Resolver = .shared
  ) throws -> Result<StreamSocket, ConnectFailure> {
    let loop = try EventLoop()
    var outcome: Result<StreamSocket, ConnectFailure>?
    Connector.connect(to: endpoint, on: loop, timeLimit: timeLimit, resolver: resolver) {
      #expect(loop.isInTurn)
      #expect(outcome == nil)
      outcome = $0
    }
    #expect(outcome == nil)
    loop.turns { outcome != nil }
    return try #require(outcome)
  }

  /// A port of 127.0.0.1 that nobody listens on.
  static func refusedPort() throws -> UInt16 {
    let listener = try Listener(on: EventLoop())
    listener.close()
    return listener.port
  }

  @Test func aRefusedPortIsNamed() throws {
    let port = try Self.refusedPort()
    let failure = #expect(throws: ConnectFailure.self) {
      try Self.connect(to: .host("127.0.0.1", port: port)).get()
    }
    #expect(failure?.phase == .connecting)
    #expect(failure?.errno == ECONNREFUSED)
    #expect(failure?.isTimeout == false)
    #expect(failure?.words == "cannot connect to 127.0.0.1:\(port): Connection refused")
  }

  @Test func eachAddressIsTriedAndNamed() throws {
    let port = try Self.refusedPort()
    let resolver = Resolver { _, port in
      .success([.ipv6(high: 0, low: 1, zone: 0, port: port), .ipv4(0x7f00_0001, port: port)])
    }
    let failure = #expect(throws: ConnectFailure.self) {
      try Self.connect(to: .host("two.example", port: port), resolver: resolver).get()
    }
    #expect(failure?.errno == ECONNREFUSED)
    #expect(
      failure?.words
        == "cannot connect to two.example:\(port): [::1]:\(port): Connection refused; "
        + "127.0.0.1:\(port): Connection refused")
  }

  @Test func theSecondAddressIsTakenWhenTheFirstRefuses() throws {
    let loop = try EventLoop()
    let listener = try Listener(on: loop)
    let resolver = Resolver { _, port in
      .success([.ipv6(high: 0, low: 1, zone: 0, port: port), .ipv4(0x7f00_0001, port: port)])
    }
    let socket = try Self.connect(to: .host("two.example", port: listener.port), resolver: resolver).get()
    #expect(socket.peer == listener.address)
  }

  @Test(arguments: ["nosuch.invalid", "INVALID.", "", "a\0b", "nosuch.invalid."])
  func aHostThatCannotBeFoundIsAFailure(_ host: String) throws {
    let failure = #expect(throws: ConnectFailure.self) {
      try Self.connect(to: .host(host, port: 80)).get()
    }
    #expect(failure?.phase == .resolving)
    #expect(failure?.resolverCode == CInt(EAI_NONAME))
    #expect(failure?.words.hasPrefix("cannot find host \(host): ") == true)
  }

  @Test func theTimeLimitEndsResolving() throws {
    let gate = Gate()
    let resolver = Resolver { _, _ in
      gate.wait()
      return .failure(ResolveFailure(code: CInt(EAI_AGAIN)))
    }
    defer { gate.open() }
    let failure = #expect(throws: ConnectFailure.self) {
      try Self.connect(
        to: .host("slow.example", port: 80), timeLimit: .milliseconds(5), resolver: resolver
      ).get()
    }
    #expect(failure?.isTimeout == true && failure?.phase == .resolving)
    #expect(failure?.words == "no address for slow.example:80 within 0.005 seconds")
  }

  @Test func theTimeLimitEndsConnecting() throws {
    // A listener whose queue is full neither accepts nor refuses.
    let loop = try EventLoop()
    let path = temporaryPath()
    defer { unsafe unlink(path) }
    let listener = try Listener(on: loop, at: .unix(path: path), backlog: 0)
    let first = try Self.connect(to: .unix(path: path)).get()
    let failure = #expect(throws: ConnectFailure.self) {
      try Self.connect(to: .unix(path: path), timeLimit: .milliseconds(30)).get()
    }
    #expect(failure?.isTimeout == true && failure?.phase == .connecting)
    #expect(failure?.words == "no connection to \(path) within 0.03 seconds: no answer")
    withExtendedLifetime((first, listener)) {}
  }

  @Test func aFullQueueIsTriedAgain() throws {
    let loop = try EventLoop()
    let path = temporaryPath()
    defer { unsafe unlink(path) }
    let listener = try Listener(on: loop, at: .unix(path: path), backlog: 0)
    let first = try Self.connect(to: .unix(path: path)).get()
    var accepted: [StreamSocket] = []
    var second: Result<StreamSocket, ConnectFailure>?
    Connector.connect(to: .unix(path: path), on: loop, timeLimit: .seconds(10)) { second = $0 }
    // Takes the connections out of the queue only after the second attempt found it full.
    loop.perform { loop in loop.perform { _ in listener.onAccept = { accepted.append($0) } } }
    loop.turns { second != nil }
    #expect(throws: Never.self) { try second?.get() }
    withExtendedLifetime((first, accepted)) {}
  }

  @Test(arguments: [
    ("/nonexistent/gannet.sock", ENOENT), (String(repeating: "x", count: 200), ENAMETOOLONG), ("", EINVAL),
    ("/tmp/a\0b", EINVAL),
  ])
  func aBadPathIsAFailure(_ path: String, _ errno: CInt) throws {
    let failure = #expect(throws: ConnectFailure.self) { try Self.connect(to: .unix(path: path)).get() }
    #expect(failure?.errno == errno && failure?.phase == .connecting)
  }

  @Test func aCancelledAttemptIsSilent() throws {
    let loop = try EventLoop()
    let listener = try Listener(on: loop)
    var calls = 0
    let attempt = Connector.connect(
      to: .host("127.0.0.1", port: listener.port), on: loop, timeLimit: .milliseconds(1)
    ) { _ in calls += 1 }
    attempt.cancel()
    let timed = Connector.connect(
      to: .host("127.0.0.1", port: listener.port), on: loop, timeLimit: .seconds(1)
    ) { _ in calls += 1 }
    loop.perform { _ in timed.cancel() }
    loop.retain()
    loop.run(until: .now + .milliseconds(5))
    #expect(calls == 0)
  }

  @Test func aThousandConnectsLeaveNoDescriptorOpen() throws {
    let loop = try EventLoop()
    let listener = try Listener(on: loop)
    var accepted: [StreamSocket] = []
    listener.onAccept = { accepted = [$0] }
    let before = loop.registeredSources
    let openBefore = openDescriptors()
    var ended = 0
    for round in 0..<1000 {
      var done = false
      let attempt = Connector.connect(
        to: .host("127.0.0.1", port: listener.port), on: loop, timeLimit: .seconds(10)
      ) { outcome in
        if let socket = try? outcome.get() {
          ended += 1
          socket.abort()
        }
        done = true
      }
      if round % 4 == 3 {
        loop.perform { _ in
          attempt.cancel()
          done = true
        }
      }
      loop.turns { done }
    }
    #expect(ended == 750)
    listener.onAccept = { _ in }
    loop.run(until: .now + .milliseconds(1))
    accepted.removeAll()
    #expect(loop.registeredSources == before)
    // Other tests open some hundred meanwhile; a leak here would be a thousand.
    #expect(abs(openDescriptors() - openBefore) < 600)
    withExtendedLifetime(listener) {}
  }
}
