import Gannet
import GannetSockets
import Synchronization
import TestSupport
import Testing

/// One exchange that comes by a redirect, a challenge, a body both ways, chunks and trailers, broken at every byte of
/// both directions: exactly one terminal callback, never two, never none (docs/CONTRACT.md, rule 5).
@Suite(.longWork) struct FaultTests {
  private static let answers: [Answer] = [
    .ok("gone", status: "307 T", "Location: /b\r\n"),
    .ok("who", status: "401 U", "WWW-Authenticate: Basic realm=\"r\"\r\n"),
    Answer(
      "HTTP/1.1 103 E\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"
    ),
  ]

  /// With its body as data, or as a stream that is made anew for each request, in chunks and with a trailer.
  private static func request(isStream: Bool = false) -> URLRequest {
    var request = URLRequest(string: "http://u:p@h/a", timeoutInterval: 4)
    request.httpMethod = "PUT"
    request.httpBody = Data("body".utf8)
    guard isStream else { return request }
    request.body = .stream(trailers: ["X": "y"]) {
      AsyncStream { pieces in
        for piece in ["bo", "dy"] { pieces.yield(Data(piece.utf8)) }
        pieces.finish()
      }
    }
    return request
  }

  /// The lines of the load when its first connection, or every one, is broken so; and what went over it.
  private static func run(_ plan: FaultPlan, isEvery: Bool, isStream: Bool = false) throws -> (
    lines: [String], server: ScriptedServer
  ) {
    let server = ScriptedServer(Array(repeating: answers, count: 50))
    server.wrap = { peer, loop in
      guard isEvery || server.peers.count == 1 else { return peer }
      return FaultInjectingTransport(wrapping: peer, plan: plan, on: loop)
    }
    let lines = try Loading.run(request(isStream: isStream), Loading.configuration(server))
    #expect(lines.allSatisfy { !$0.hasPrefix("fail timedOut") }, "it ends by itself, not by its time-out")
    return (lines, server)
  }

  private static func check(_ lines: [String], _ server: ScriptedServer, _ what: String) {
    let terminals = lines.count { $0 == "finish" || $0.hasPrefix("fail") }
    let areClosed = server.peers.allSatisfy { $0.isClosed }
    #expect(
      terminals == 1 && (lines.last == "finish" || lines.last?.hasPrefix("fail") == true), "\(what): \(lines)"
    )
    #expect(areClosed, "\(what)")
  }

  @Test(arguments: [FaultPlan.Ending.endOfFile, .failure(errno: 104)], [false, true])
  func receivingBreaksAtEveryByte(_ ending: FaultPlan.Ending, _ isEvery: Bool) throws {
    let total = Self.answers.map(\.bytes.count).reduce(0, +)
    for position in 0...total {
      var plan = FaultPlan()
      plan.receiveEnds = (after: position, ending)
      let (lines, server) = try Self.run(plan, isEvery: isEvery)
      Self.check(lines, server, "\(ending) at \(position)")
    }
  }

  @Test(arguments: [CInt(104), 32], [false, true])
  func sendingBreaksAtEveryByte(_ errno: CInt, _ isStream: Bool) throws {
    let total = try Self.run(FaultPlan(), isEvery: false, isStream: isStream).server.peers[0].sent.count
    for position in 0...total {
      var plan = FaultPlan()
      plan.sendFails = (after: position, errno: errno)
      let (lines, server) = try Self.run(plan, isEvery: true, isStream: isStream)
      Self.check(lines, server, "errno \(errno) at \(position)")
      // Past the first request the connection has been used, and a fresh one may serve the rest.
      if position < 100 { #expect(lines.last == "fail networkConnectionLost sending", "\(position)") }
    }
  }

  /// Short receives and sends, and would-blocks between them, change nothing.
  @Test(arguments: [[1], [1, 0], [3, 0, 0, 7], [2, 5]], [[], [1], [1, 0], [0, 0, 5]])
  func sizesChangeNothing(_ receives: [Int], _ sends: [Int]) throws {
    var plan = FaultPlan()
    plan.receiveSizes = receives
    plan.sendSizes = sends
    for isStream in [false, true] {
      let whole = try Self.run(FaultPlan(), isEvery: false, isStream: isStream).lines
      let (lines, server) = try Self.run(plan, isEvery: true, isStream: isStream)
      let isSent: (String) -> Bool = { $0.hasPrefix("sent") }
      #expect(lines.filter { !isSent($0) } == whole.filter { !isSent($0) })
      #expect(server.peers.count == 1)
      #expect(whole.count { $0 == "needNewBody" } == (isStream ? 2 : 0))
    }
  }

  /// Any callback may cancel, and nothing comes then, wherever the connection breaks.
  @Test func aCancelAndABreakTogether() throws {
    var random = SeededGenerator(seed: 11)
    let total = Self.answers.map(\.bytes.count).reduce(0, +)
    for _ in 0..<300 {
      var plan = FaultPlan()
      plan.receiveEnds = (after: .random(in: 0...total, using: &random), .failure(errno: 104))
      plan.receiveSizes = [.random(in: 1...40, using: &random)]
      let server = ScriptedServer(Array(repeating: Self.answers, count: 50))
      server.wrap = { peer, loop in FaultInjectingTransport(wrapping: peer, plan: plan, on: loop) }
      let log = CallbackLog()
      let stop = Int.random(in: 1...12, using: &random)
      var seen = 0
      log.onCallback = { _, connection in
        seen += 1
        if seen == stop { connection.cancel() }
      }
      let request = Self.request(isStream: .random(using: &random))
      let lines = try Loading.run(request, Loading.configuration(server), log)
      #expect(seen <= stop)
      let terminals = lines.count { $0 == "finish" || $0.hasPrefix("fail") }
      #expect(terminals == 1 || seen == stop, "\(plan): \(lines)")
    }
  }
}
