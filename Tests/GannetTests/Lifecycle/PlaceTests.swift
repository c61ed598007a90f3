import Gannet
import GannetSockets
import TestSupport
import Testing

/// However a load ends, its place among the connections to its host is the next one's: with one connection allowed, who
/// waits for it is served, and so is who comes later (docs/CONTRACT.md, rule 3).
@Suite(.longWork) struct PlaceTests {
  private static let half = "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf"
  private static let parts =
    "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n--B\r\n\r\nabc\r\n--B\r\n"

  /// What the server says to the first load, answer after answer.
  private static let kinds: [[Answer]] = [
    [.ok("hello")], [.ok("hello", "Connection: close\r\n")], [Answer(half)],
    [Answer(half, ending: .endOfFile)], [Answer("", ending: .failed(104))], [Answer("junk\r\n\r\n")],
    [Answer("")],
    [Answer(parts)],
    [.ok("gone", status: "302 F", "Location: /first/b\r\n"), .ok("here")],
    [.ok("who", status: "401 U", "WWW-Authenticate: Basic realm=\"r\"\r\n"), .ok("in")],
  ]

  /// Loads to one host, each watched.
  private final class Loads {
    let loop: EventLoop
    let census = Census()
    let provider: TappedProvider
    private let configuration: URLConnection.Configuration
    private var watches: [LoadWatch] = []
    let first = HeldConnection()

    init(_ kind: [Answer], at place: CancelPlace) throws {
      loop = try EventLoop()
      let server = ScriptedServer([])
      var told = 0
      server.choose = { request in
        guard request.contains(" /first") else { return .ok("hello") }
        defer { told += 1 }
        return kind[min(told, kind.count - 1)]
      }
      var byte: ReceivedByte?
      if case .byte(let place) = place { byte = place }
      let first = first
      provider = TappedProvider(server, census, at: byte) { first.connection?.cancel() }
      var configuration = URLConnection.Configuration()
      configuration.transportProvider = provider
      configuration.trafficObserver = DriverToken(census)
      configuration.credentialStorage = URLCredentialStorage()
      configuration.maximumConnectionsPerHost = 1
      self.configuration = configuration
    }

    /// Starts a load, and gives what is seen of it. One that leaves at once is cancelled when it has asked for a connection.
    func start(
      _ path: String, timeLimit: Double = 300, at place: CancelPlace = .nowhere, leavesAtOnce: Bool = false
    ) -> LoadWatch {
      let handle = loop.handle
      let watch = LoadWatch { handle.isCurrent }
      var answers = WatchedDelegate.Answers()
      answers.challenge = {
        $0.sender?.use(URLCredential(user: "u", password: "p", persistence: .none), for: $0)
      }
      answers.onCall = { number, _, connection in
        WatchedLoad.cancel(connection, watch, at: place, number)
      }
      let connection = CountedConnection(
        URLRequest(string: "http://h\(path)", timeoutInterval: timeLimit),
        WatchedDelegate(watch, census, answers), census, configuration, on: .loop(handle))
      if path == "/first" { first.connection = connection }
      connection?.start()
      if leavesAtOnce { handle.post { _ in if let connection { watch.cancel(connection) } } }
      return watch
    }
  }

  /// The first load is cancelled at a place or left; the second is while it waits; the third waits, the last comes later.
  private static func run(
    _ kind: [Answer], at place: CancelPlace, leavesAtOnce: Bool = false
  ) throws -> (calls: Int, bytes: Int) {
    let loads = try Loads(kind, at: place)
    let first = loads.start("/first", timeLimit: 2, at: place, leavesAtOnce: leavesAtOnce)
    let waiting = [loads.start("/left", leavesAtOnce: true), loads.start("/third")]
    var isOver = loads.loop.turnUntilIdle(seconds: 100)
    let bytes = loads.provider.received
    let served = [waiting[1], loads.start("/last")]
    isOver = loads.loop.turnUntilIdle(seconds: 100) && isOver
    #expect(isOver, "\(place)")
    for watch in [first] + waiting + served {
      #expect(watch.report.faults == [], "\(place): \(watch.report.trace)")
    }
    for watch in served {
      let calls = watch.report.calls
      #expect(calls.first == .response && calls.last == .finish, "\(place): \(calls); \(first.report.trace)")
    }
    loads.loop.shutDown()
    #expect(loads.census.living([.connection, .delegate, .transport]) == "", "\(place)")
    return (first.report.calls.count, bytes)
  }

  @Test(arguments: kinds.indices) func whoWaitsIsServed(_ kind: Int) throws {
    // Its connection is being opened then.
    _ = try Self.run(Self.kinds[kind], at: .nowhere, leavesAtOnce: true)
    let whole = try Self.run(Self.kinds[kind], at: .nowhere)
    for place in CancelPlace.sampled(calls: whole.calls, bytes: whole.bytes, seed: 7) {
      _ = try Self.run(Self.kinds[kind], at: place)
    }
  }
}
