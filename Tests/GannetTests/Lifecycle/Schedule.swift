import Gannet
import GannetSockets
import TestSupport

/// Random numbers from one seed, for all who take part in a schedule.
final class Dice: Sendable {
  private let random: Guarded<SeededGenerator>

  init(seed: UInt64) { random = Guarded(SeededGenerator(seed: seed)) }

  /// A number from 0 on below `sides`.
  func roll(_ sides: Int) -> Int { random.withLock { Int.random(in: 0..<sides, using: &$0) } }

  /// Makes something of the generator itself.
  func with<Result: Sendable>(_ body: @Sendable (inout SeededGenerator) -> Result) -> Result {
    random.withLock { body(&$0) }
  }
}

/// One load, from a server that says random things with random faults, to which random things are done at random
/// moments: paused, resumed, started again, cancelled inside and outside of callbacks and by another thread, its
/// challenges answered late, twice or not at all, its time let pass, its connection ended, its owner's reference dropped.
///
/// All of it is the same for the same seed.
final class Schedule {
  /// What came of it.
  struct Outcome {
    let faults: [String]
    let report: LoadWatch.Report
  }

  /// What the delegate's answers and the steps share.
  private final class Shared: Sendable {
    let dice: Dice
    /// Challenges that wait for an answer.
    let challenges = Guarded<[URLAuthenticationChallenge]>([])
    /// Whether the steps are over: whatever waits is to go on.
    let isClosing = Guarded(false)
    let watch: LoadWatch
    let held = HeldConnection()

    init(_ dice: Dice, _ watch: LoadWatch) {
      self.dice = dice
      self.watch = watch
    }
  }

  private static let steps = 120
  private let loop: EventLoop
  private let server: ScriptedServer
  private let shared: Shared
  private let census = Census()
  /// The owner's reference.
  private var owned: URLConnection?
  private var stepsLeft = Schedule.steps
  /// Whether it is cancelled between callbacks, and whether its server is not only as its answers say.
  private let (mayCancel, endsEarly): (Bool, Bool)

  private init(seed: UInt64, on loop: EventLoop) throws {
    self.loop = loop
    let dice = Dice(seed: seed)
    let handle = loop.handle
    shared = Shared(dice, LoadWatch { handle.isCurrent })
    let connections = dice.with { random in (0..<30).map { _ in Self.answers(&random) } }
    let cut: Cut = [.whole, .everyByte, .at(1 + dice.roll(120))][dice.roll(3)]
    server = ScriptedServer(connections, cut: cut)
    (mayCancel, endsEarly) = (dice.roll(3) == 0, dice.roll(2) == 0)
    guard endsEarly else { return }
    server.wrap = { peer, loop in
      FaultInjectingTransport(wrapping: peer, plan: dice.with { Self.plan(&$0) }, on: loop)
    }
  }

  /// Runs the schedule of a seed.
  static func run(seed: UInt64) throws -> Outcome {
    weak var gone: EventLoop?
    let (shared, census): (Shared, Census)
    var faults: [String]
    do {
      let loop = try EventLoop()
      gone = loop
      let schedule = try Schedule(seed: seed, on: loop)
      (shared, census) = (schedule.shared, schedule.census)
      let isOver = try schedule.run()
      faults = isOver ? [] : ["it is still live"]
      let living = census.living([.connection, .delegate])
      if !living.isEmpty { faults.append("\(living) not let go") }
      loop.shutDown()
    }
    let living = census.living()
    if !living.isEmpty { faults.append("\(living) left when the loop has ended") }
    if gone != nil { faults.append("the loop is left") }
    let report = shared.watch.report
    if !report.allowedEnds.contains(report.ends) {
      faults.append("\(report.ends) terminals, not \(report.allowedEnds)")
    }
    return Outcome(faults: report.faults + faults, report: report)
  }

  /// Ways that lead on, and where they end.
  private static let (ways, ends): ([Answer], [Answer]) = (
    [
      .ok("gone", status: "302 F", "Location: /next\r\n"),
      .ok("", status: "307 T", "Location: http://o/\r\n"),
      .ok("who", status: "401 U", "WWW-Authenticate: Basic realm=\"r\"\r\n"),
      .ok("", status: "401 U", "WWW-Authenticate: Basic\r\n"), .ok("no", status: "417 E"),
    ],
    [
      .ok("hello"), .ok("kept", status: "200 OK", "Cache-Control: max-age=60\r\n"),
      Answer("HTTP/1.1 103 E\r\n\r\nHTTP/1.1 204 N\r\n\r\n"),
      Answer("HTTP/1.1 100 C\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello"),
      Answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"),
      Answer(
        "HTTP/1.1 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\nTransfer-Encoding: chunked\r\n\r\n"
          + "13\r\n--B\r\n\r\nabc\r\n--B\r\n\r\n\r\n2\r\nde\r\n0\r\nX: y\r\n\r\n"),
    ]
  )

  /// What one connection says: mostly a few ways and an end, else anything.
  private static func answers(_ random: inout SeededGenerator) -> [Answer] {
    guard Int.random(in: 0..<4, using: &random) > 0 else { return ChaosTests.answers(&random) }
    let count = Int.random(in: 0...2, using: &random)
    return ((0..<count).map { _ in ways } + [ends]).compactMap { $0.randomElement(using: &random) }
  }

  private static func plan(_ random: inout SeededGenerator) -> FaultPlan {
    var plan = ChaosTests.plan(&random)
    if plan.receiveEnds == nil, Int.random(in: 0..<6, using: &random) == 0 {
      plan.receiveEnds = (after: .random(in: 0...200, using: &random), .silence)
    }
    return plan
  }

  // MARK: The load

  private func run() throws -> Bool {
    let dice = shared.dice
    var configuration = Loading.configuration(server)
    configuration.transportProvider = TappedProvider(server, census, shared.watch)
    configuration.trafficObserver = DriverToken(census)
    configuration.collectsMetrics = dice.roll(2) == 0
    if dice.roll(2) == 0 { configuration.refusedRedirect = .fail }
    let connection = CountedConnection(
      request(), WatchedDelegate(shared.watch, census, answers()), census, configuration,
      on: .loop(loop.handle))
    shared.held.connection = connection
    owned = connection
    if dice.roll(20) == 0 { cancel() }
    start()
    loop.perform { [weak self] _ in self?.step() }
    while stepsLeft > 0 {
      loop.poll()
      // Between turns too, on the thread that drives the loop.
      if dice.roll(3) == 0 { act() }
    }
    return close()
  }

  private func request() -> URLRequest {
    let dice = shared.dice
    var request = URLRequest(
      string: ["HTTP://u:p@H", "http://h/a", "http://u:p@h/a"][dice.roll(3)], timeoutInterval: 5)
    request.httpMethod = ["GET", "HEAD", "POST", "PUT"][dice.roll(4)]
    guard request.httpMethod?.hasPrefix("P") == true else { return request }
    switch dice.roll(4) {
    case 0: request.httpBody = Data("body".utf8)
    case 1: request.httpBody = Data(repeating: 0x61, count: 40_000)
    default: request.body = Self.stream()
    }
    if dice.roll(3) == 0 { request.setValue("100-continue", forHTTPHeaderField: "Expect") }
    return request
  }

  private static func stream() -> URLRequest.Body {
    .stream {
      AsyncStream { pieces in
        for piece in ["bo", "dy"] { pieces.yield(Data(piece.utf8)) }
        pieces.finish()
      }
    }
  }

  /// Lets everything go on that waits, and the load come to its end.
  private func close() -> Bool {
    shared.isClosing.withLock { $0 = true }
    answerAll()
    shared.held.connection?.resume()
    owned = nil
    return loop.turnUntilIdle()
  }

  // MARK: Steps

  /// A job that does something and comes again, so that it stands between any two jobs of the load's.
  private func step() {
    stepsLeft -= 1
    guard stepsLeft > 0 else { return }
    act()
    loop.perform { [weak self] _ in self?.step() }
  }

  private func act() {
    let dice = shared.dice
    switch dice.roll(100) {
    case 0 where mayCancel: cancel()
    case 1 where mayCancel: cancelOnSecondThread()
    case 2...4: pause()
    case 5...11: shared.held.connection?.resume()
    case 12: start()
    case 13:
      shared.watch.note("dropped")
      owned = nil
    case 14...19: answerOne()
    case 20: pass(seconds: 1 + dice.roll(4))
    case 21 where endsEarly: serverSays(Answer("", ending: dice.roll(2) == 0 ? .endOfFile : .failed(104)))
    case 22 where endsEarly: serverSays(Answer(ChaosTests.fragments[dice.roll(ChaosTests.fragments.count)]))
    default: break  // the load goes on
    }
  }

  private func start() {
    guard let connection = shared.held.connection else { return }
    shared.watch.perform("start") { connection.start() }
  }

  private func cancel() {
    guard let connection = shared.held.connection else { return }
    shared.watch.cancel(connection)
    if shared.dice.roll(2) == 0 { shared.watch.cancel(connection, "cancel again") }
  }

  private func cancelOnSecondThread() {
    guard let connection = shared.held.connection else { return }
    SecondThread.shared.run { connection.cancel() }
    shared.watch.cancel(connection, "cancel after another thread's")
  }

  private func pause() {
    shared.watch.note("pause")
    shared.held.connection?.pause()
  }

  private func pass(seconds: Int) {
    shared.watch.note("\(seconds) s pass")
    loop.advance(by: .seconds(seconds))
  }

  private func serverSays(_ answer: Answer) {
    guard let peer = server.peers.last, !peer.isClosed else { return }
    shared.watch.note("server says \(answer.bytes.count) bytes, \(answer.ending.map { "\($0)" } ?? "no end")")
    peer.say(answer)
  }

  private func answerOne() {
    guard let challenge = shared.challenges.withLock({ $0.popLast() }) else { return }
    let dice = shared.dice
    guard dice.roll(2) == 0 else { return Self.answer(challenge, dice) }
    SecondThread.shared.run { Self.answer(challenge, dice) }
  }

  private func answerAll() {
    // One that waits keeps its connection.
    let waiting = shared.challenges.withLock { challenges in
      defer { challenges = [] }
      return challenges
    }
    for challenge in waiting { challenge.sender?.continueWithoutCredential(for: challenge) }
  }

  private static func answer(_ challenge: URLAuthenticationChallenge, _ dice: Dice) {
    let credential = URLCredential(user: "u", password: "\(dice.roll(9))", persistence: .forSession)
    switch dice.roll(7) {
    case 0: challenge.sender?.cancel(challenge)
    case 1: challenge.sender?.continueWithoutCredential(for: challenge)
    case 2: challenge.sender?.performDefaultHandling(for: challenge)
    case 3: challenge.sender?.rejectProtectionSpaceAndContinue(with: challenge)
    case 4: challenge.sender?.use(nil, for: challenge)
    default: challenge.sender?.use(challenge.previousFailureCount < 3 ? credential : nil, for: challenge)
    }
    if dice.roll(4) == 0 { challenge.sender?.cancel(challenge) }
  }

  // MARK: The delegate's answers

  private func answers() -> WatchedDelegate.Answers {
    let (shared, dice) = (shared, shared.dice)
    var answers = WatchedDelegate.Answers()
    answers.onCall = { _, _, connection in
      guard !shared.isClosing.withLock({ $0 }) else { return }
      switch dice.roll(100) {
      case 0:
        shared.watch.cancel(connection)
        shared.watch.cancel(connection, "cancel again")
      case 1:
        SecondThread.shared.run { connection.cancel() }
        shared.watch.cancel(connection, "cancel after another thread's")
      case 2: shared.watch.perform("start") { connection.start() }
      case 3...5: connection.pause()
      case 6...8:
        connection.pause()
        connection.resume()
      default: break  // it does nothing besides
      }
    }
    answers.request = { request, _, connection in
      switch dice.roll(10) {
      case 0: return nil
      case 1: return URLRequest(string: "http://h/elsewhere", timeoutInterval: 3)
      case 2: return URLRequest(string: "nonsense")
      case 3:
        if dice.roll(2) == 0 { shared.watch.cancel(connection) }
        return request
      default: return request
      }
    }
    answers.challenge = { challenge in
      guard !shared.isClosing.withLock({ $0 }), dice.roll(2) == 0 else { return Self.answer(challenge, dice) }
      shared.challenges.withLock { $0.append(challenge) }
    }
    answers.newBody = { request in dice.roll(3) == 0 ? nil : Self.stream() }
    return answers
  }
}
