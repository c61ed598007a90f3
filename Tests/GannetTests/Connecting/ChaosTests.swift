import Gannet
import GannetSockets
import TestSupport
import Testing

/// Random servers, random faults, and a delegate that does random things in its callbacks: whatever happens, each load
/// ends once, and nothing comes after its end or its cancel. A failure's seed gives it again.
@Suite(.longWork) struct ChaosTests {
  /// What servers say, well or badly.
  static let fragments: [String] = [
    "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
    "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabcX",
    "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", "HTTP/1.1 204 N\r\n\r\n", "HTTP/1.1 304 N\r\n\r\n",
    "HTTP/1.0 200 OK\r\n\r\nuntil close", "HTTP/1.1 100 C\r\n\r\n", "HTTP/1.1 101 S\r\n\r\n",
    "HTTP/1.1 302 F\r\nLocation: /next\r\nContent-Length: 4\r\n\r\ngone",
    "HTTP/1.1 307 F\r\nLocation: http://other/\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 303 F\r\nLocation: HTTP://H:80/x\r\n\r\n",
    "HTTP/1.1 302 F\r\nLocation: ftp://h/\r\nContent-Length: 100000\r\n\r\n",
    "HTTP/1.1 401 U\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 0\r\n\r\n",
    "HTTP/1.1 401 U\r\nWWW-Authenticate: Basic\r\nContent-Length: 3\r\n\r\nwho",
    "HTTP/1.1 401 U\r\nWWW-Authenticate: Basic\r\n\r\nuntil close",
    "HTTP/1.1 413 T\r\nConnection: close\r\nContent-Length: 3\r\n\r\nbig",
    "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 5\r\n\r\nhello",
    "HTTP/1.1 200 OK\r\nKeep-Alive: max=1, timeout=0\r\nContent-Length: 2\r\n\r\nok",
    "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n--B\r\n\r\nabc\r\n--B\r\n\r\nde\r\n",
    "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\nContent-Length: 24\r\n\r\n"
      + "--B\r\n\r\nabc\r\n--B--\r\nmore..",
    "junk", "\r\n\r\n", "",
  ]

  static func answers(_ random: inout SeededGenerator) -> [Answer] {
    (0..<Int.random(in: 0...6, using: &random)).map { _ in
      var text = fragments[Int.random(in: 0..<fragments.count, using: &random)]
      if Int.random(in: 0..<6, using: &random) == 0 {
        text += fragments[Int.random(in: 0..<fragments.count, using: &random)]
      }
      let ending: ReceiveOutcome? =
        switch Int.random(in: 0..<8, using: &random) {
        case 0: .endOfFile
        case 1: .failed(104)
        default: nil
        }
      return Answer(text, ending: ending)
    }
  }

  static func plan(_ random: inout SeededGenerator) -> FaultPlan {
    var plan = FaultPlan()
    if Int.random(in: 0..<4, using: &random) == 0 {
      plan.receiveEnds = (
        after: .random(in: 0...300, using: &random),
        Bool.random(using: &random) ? .endOfFile : .failure(errno: 104)
      )
    }
    if Int.random(in: 0..<4, using: &random) == 0 {
      plan.sendFails = (
        after: .random(in: 0...600, using: &random), errno: Bool.random(using: &random) ? 104 : 32
      )
    }
    plan.receiveSizes = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      .random(in: 0...40, using: &random)
    }
    plan.sendSizes = (0..<Int.random(in: 0...3, using: &random)).map { _ in
      .random(in: 0...200, using: &random)
    }
    if !plan.receiveSizes.isEmpty { plan.receiveSizes.append(7) }
    if !plan.sendSizes.isEmpty { plan.sendSizes.append(50) }
    return plan
  }

  /// One load's delegate, and what it does.
  private final class Actor {
    let log = CallbackLog()
    var isCancelled = false
    var hasEnded = false
    var late: [String] = []
    private var timers: [LoopTimer] = []
    private var random: SeededGenerator

    init(seed: UInt64, on loop: EventLoop) {
      random = SeededGenerator(seed: seed)
      log.onCallback = { [unowned self, unowned loop] word, connection in
        if isCancelled || hasEnded { late.append(word) }
        if word == "finish" || word == "fail" { hasEnded = true }
        act(loop, connection)
      }
      log.answer = { [unowned self] request, _ in
        switch Int.random(in: 0..<8, using: &random) {
        case 0: nil
        case 1: URLRequest(string: "http://h/elsewhere", timeoutInterval: 0.1)
        case 2: URLRequest(string: "nonsense")
        default: request
        }
      }
      log.challengeAnswer = { [unowned self, unowned loop] challenge in
        let choice = Int.random(in: 0..<5, using: &random)
        later(Bool.random(using: &random), loop) {
          switch choice {
          case 0: challenge.sender?.cancel(challenge)
          case 1: challenge.sender?.continueWithoutCredential(for: challenge)
          case 2: challenge.sender?.use(nil, for: challenge)
          default:
            let tries = challenge.previousFailureCount
            let credential = URLCredential(user: "u", password: "\(tries)", persistence: .forSession)
            challenge.sender?.use(tries < 3 ? credential : nil, for: challenge)
          }
        }
      }
    }

    private func later(_ isLater: Bool, _ loop: EventLoop, _ action: @escaping () -> Void) {
      guard isLater else { return action() }
      let timer = loop.makeTimer { _ in action() }
      timer.schedule(at: loop.now + .microseconds(200))
      timers.append(timer)
    }

    private func act(_ loop: EventLoop, _ connection: URLConnection) {
      switch Int.random(in: 0..<24, using: &random) {
      case 0:
        connection.cancel()
        isCancelled = true
      case 1, 2:
        connection.pause()
        later(true, loop) { [weak connection] in connection?.resume() }
      case 3:
        connection.pause()
        connection.resume()
      case 4: loop.run(until: .now + .microseconds(100))
      default: break
      }
    }
  }

  /// Same input, same events: whatever came, in whatever pieces.
  @Test(arguments: 0..<8)
  func piecesChangeNothing(_ batch: Int) throws {
    for seed in batch * 20..<(batch + 1) * 20 {
      var random = SeededGenerator(seed: UInt64(seed))
      let answers = (0..<30).map { _ in
        (0..<4).map { _ in
          let isLast = Int.random(in: 0..<3, using: &random) == 0
          return Answer(
            Self.fragments[Int.random(in: 0..<Self.fragments.count, using: &random)],
            ending: isLast ? (Bool.random(using: &random) ? .endOfFile : .failed(104)) : nil)
        }
      }
      var request = URLRequest(string: "HTTP://u:p@H", timeoutInterval: 0.02)
      request.httpMethod = ["GET", "POST", "HEAD"][seed % 3]
      if seed % 3 == 1 { request.httpBody = Data("x=1".utf8) }
      let runs = try [Cut.whole, .everyByte, .at(.random(in: 1...60, using: &random))].map { cut in
        try Loading.run(request, Loading.configuration(ScriptedServer(answers, cut: cut)))
      }
      #expect(runs[0] == runs[1], "seed \(seed)")
      #expect(runs[0] == runs[2], "seed \(seed)")
    }
  }

  @Test(arguments: 0..<8)
  func eachLoadEndsOnce(_ batch: Int) throws {
    for seed in batch * 15..<(batch + 1) * 15 {
      var random = SeededGenerator(seed: UInt64(seed))
      let server = ScriptedServer(
        (0..<40).map { _ in Self.answers(&random) }, cut: Bool.random(using: &random) ? .whole : .everyByte)
      var faults = random
      server.wrap = { peer, loop in
        FaultInjectingTransport(wrapping: peer, plan: Self.plan(&faults), on: loop)
      }
      let loop = try EventLoop()
      var configuration = Loading.configuration(server)
      configuration.maximumConnectionsPerHost = Int.random(in: 1...3, using: &random)
      if Bool.random(using: &random) { configuration.refusedRedirect = .fail }
      let actors = try (0..<5).map { index in
        let actor = Actor(seed: UInt64(seed * 10 + index), on: loop)
        var request = URLRequest(
          string: index == 0 ? "HTTP://u:p@H" : "http://h/\(index)", timeoutInterval: 0.1)
        request.httpMethod = ["GET", "POST", "HEAD", "PUT"][Int.random(in: 0..<4, using: &random)]
        if request.httpMethod?.hasPrefix("P") == true {
          request.httpBody = Data(repeating: 0x61, count: 40_000)
        }
        let connection = URLConnection(
          request: request, delegate: actor.log, configuration: configuration, on: .loop(loop.handle))
        _ = try #require(connection)
        return actor
      }
      loop.run(until: .now + .seconds(10))
      #expect(loop.isIdle, "seed \(seed): a load is still live")
      loop.shutDown()
      for (index, actor) in actors.enumerated() {
        let lines = actor.log.finished()
        #expect(actor.late.isEmpty, "seed \(seed), load \(index): \(actor.late) after its end: \(lines)")
        #expect(
          actor.hasEnded != actor.isCancelled || actor.hasEnded, "seed \(seed), load \(index): \(lines)")
        let terminals = lines.count { $0 == "finish" || $0.hasPrefix("fail") }
        #expect(terminals == (actor.hasEnded ? 1 : 0), "seed \(seed), load \(index): \(lines)")
      }
      let areClosed = server.peers.allSatisfy { $0.isClosed }
      #expect(areClosed, "seed \(seed)")
    }
  }
}
