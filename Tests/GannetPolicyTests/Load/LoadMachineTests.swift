import GannetHTTP
import GannetPolicy
import Testing

/// One thing that happens to a load, for tables.
private enum Step: Sendable {
  case started
  case canonical(String?)
  case connected(reused: Bool)
  case head(Int, [(name: String, value: String)])
  case redirect(String?)
  case stored(BasicCredential?)
  case challenge(LoadMachine.ChallengeAnswer)
  case end
  case lost(received: Bool, sent: Bool)
  case timedOut
  case cancelled

  func apply(to machine: inout LoadMachine, _ actions: inout [LoadMachine.Action]) throws {
    switch self {
    case .started: machine.started(into: &actions)
    case .canonical(let url):
      machine.answeredCanonical(try url.map { try request($0) }, into: &actions)
    case .connected(let reused): machine.connected(reused: reused, into: &actions)
    case .head(let status, let fields):
      machine.received(ResponseHead(status: status, fields: FieldList(fields)), into: &actions)
    case .redirect(let url): machine.answeredRedirect(try url.map { try request($0) }, into: &actions)
    case .stored(let credential): machine.foundStoredCredential(credential, into: &actions)
    case .challenge(let answer): machine.answeredChallenge(answer, into: &actions)
    case .end: machine.receivedEnd(into: &actions)
    case .lost(let received, let sent):
      machine.lost(receivedAnything: received, sentAnything: sent, into: &actions)
    case .timedOut: machine.timedOut(into: &actions)
    case .cancelled: machine.cancelled()
    }
  }
}

private func request(_ url: String, method: String = "GET") throws -> LoadMachine.Request {
  LoadMachine.Request(method: method, url: try HTTPURL(url), fields: FieldList(), hasBody: false)
}

/// What came of a run.
private struct Run {
  var actions: [LoadMachine.Action]
  var hasEnded: Bool
  var waitsForAnswer: Bool
  var url: String
}

private func run(
  _ url: String, method: String = "GET", limit: Int = 20, refusedFails: Bool = false, _ steps: [Step]
) throws -> Run {
  var machine = LoadMachine(
    try request(url, method: method), maximumRedirects: limit, refusedRedirectFails: refusedFails)
  var actions: [LoadMachine.Action] = []
  for step in steps { try step.apply(to: &machine, &actions) }
  return Run(
    actions: actions, hasEnded: machine.hasEnded, waitsForAnswer: machine.waitsForAnswer,
    url: machine.request.url.text)
}

@Suite struct LoadMachineTests {
  private let basic = [(name: "WWW-Authenticate", value: "Basic realm=\"r\"")]

  @Test func aPlainLoad() throws {
    let load = try run("http://h/", [.started, .connected(reused: false), .head(200, []), .end])
    #expect(load.actions == [.connect(fresh: false), .send(authorization: nil), .deliver, .finish])
    #expect(load.hasEnded)
  }

  @Test func aURLThatIsNotCanonicalIsAskedAboutFirst() throws {
    let load = try run("HTTP://H", [.started, .canonical("http://h/")])
    #expect(load.actions == [.askCanonical(try request("http://h/")), .connect(fresh: false)])
    let refused = try run("http://h", [.started, .canonical(nil)])
    #expect(refused.actions.last == .fail(.refusedCanonical))
    // What the delegate gives instead is made canonical without asking again.
    let other = try run("http://h", [.started, .canonical("http://OTHER")])
    #expect(other.actions.last == .connect(fresh: false))
    #expect(other.url == "http://other/")
  }

  @Test func aRedirectHasFourAnswers() throws {
    let toB = [(name: "Location", value: "/b")]
    let before: [Step] = [.started, .connected(reused: false), .head(302, toB)]
    let asked: [LoadMachine.Action] = [
      .connect(fresh: false), .send(authorization: nil), .askRedirect(try request("http://h/b")),
    ]
    #expect(try run("http://h/a", before).actions == asked)
    #expect(
      try run("http://h/a", before + [.redirect("http://h/b")]).actions == asked + [
        .discard, .connect(fresh: false),
      ])
    let other = try run("http://h/a", before + [.redirect("http://o/c")])
    #expect(other.url == "http://o/c")
    #expect(try run("http://h/a", before + [.redirect(nil), .end]).actions == asked + [.deliver, .finish])
    #expect(
      try run("http://h/a", refusedFails: true, before + [.redirect(nil)]).actions == asked + [
        .discard, .fail(.refusedRedirect),
      ])
    let cancelled = try run("http://h/a", before + [.cancelled, .redirect("http://h/b"), .end])
    #expect(cancelled.actions == asked)
  }

  @Test func redirectsAreCounted() throws {
    var steps: [Step] = [.started]
    for _ in 0..<3 {
      steps += [
        .connected(reused: false), .head(302, [(name: "Location", value: "/a")]), .redirect("http://h/a"),
      ]
    }
    let load = try run("http://h/a", limit: 2, steps)
    #expect(load.actions.last == .fail(.redirect(.tooMany(limit: 2))))
  }

  @Test(arguments: [
    // reused, received, sent, method, is it sent again
    (true, false, true, "GET", true), (true, false, true, "POST", false), (true, false, false, "POST", true),
    (true, true, true, "GET", false), (false, false, true, "GET", false),
  ])
  func aLostConnectionIsReplacedOnlyWhenThatIsSafe(
    _ reused: Bool, _ received: Bool, _ sent: Bool, _ method: String, _ again: Bool
  ) throws {
    let load = try run(
      "http://h/", method: method,
      [.started, .connected(reused: reused), .lost(received: received, sent: sent)])
    #expect(load.actions.last == (again ? .connect(fresh: true) : .fail(.connection)))
  }

  @Test func aFreshConnectionThatIsLostTooFails() throws {
    let load = try run(
      "http://h/",
      [
        .started, .connected(reused: true), .lost(received: false, sent: true), .connected(reused: false),
        .lost(received: false, sent: true),
      ])
    #expect(load.actions.last == .fail(.connection))
  }

  @Test func aChallengeAsksTheURLThenTheStorageThenTheDelegate() throws {
    let stored = BasicCredential(user: "s", password: "p")
    let given = BasicCredential(user: "d", password: "q")
    let challenged: [Step] = [.connected(reused: false), .head(401, basic)]
    let load = try run(
      "http://u:w@h/",
      [.started] + challenged + challenged + [.stored(stored)] + challenged + [
        .stored(stored), .challenge(.use(given)),
      ]
        + [.connected(reused: false), .head(200, []), .end])
    #expect(
      load.actions == [
        .connect(fresh: false), .send(authorization: nil), .discard,
        .connect(fresh: false), .send(authorization: "Basic dTp3"), .askStorage(realm: "r"), .discard,
        .connect(fresh: false), .send(authorization: "Basic czpw"), .askStorage(realm: "r"),
        .askChallenge(realm: "r", proposed: stored, previousFailures: 2), .discard,
        .connect(fresh: false), .send(authorization: "Basic ZDpx"), .keepCredential(realm: "r"), .deliver,
        .finish,
      ])
  }

  @Test func aChallengeNotAnsweredDeliversTheResponse() throws {
    let before: [Step] = [.started, .connected(reused: false), .head(401, basic), .stored(nil)]
    for answer in [LoadMachine.ChallengeAnswer.withoutCredential, .rejectSpace] {
      let load = try run("http://h/", before + [.challenge(answer), .end])
      #expect(load.actions.suffix(2) == [.deliver, .finish])
    }
    let cancelled = try run("http://h/", before + [.challenge(.cancel)])
    #expect(
      cancelled.actions.suffix(3) == [.tellChallengeCancelled, .discard, .fail(.cancelledAuthentication)])
    let unknown = try run(
      "http://h/",
      [.started, .connected(reused: false), .head(401, [(name: "WWW-Authenticate", value: "Other")])])
    #expect(unknown.actions.last == .deliver)
  }

  @Test func theClockStandsWhileAnAnswerIsAwaited() throws {
    let waiting = try run(
      "http://h/", [.started, .connected(reused: false), .head(401, basic), .stored(nil), .timedOut])
    #expect(waiting.waitsForAnswer)
    #expect(waiting.actions.last == .askChallenge(realm: "r", proposed: nil, previousFailures: 0))
    let loading = try run("http://h/", [.started, .connected(reused: false), .timedOut])
    #expect(loading.actions.last == .fail(.timedOut))
  }

  @Test func noEventInAnyStateTrapsOrSpeaksAfterTheEnd() throws {
    let every: [Step] = [
      .started, .canonical("http://h/"), .connected(reused: true), .head(200, []),
      .head(302, [(name: "Location", value: "/b")]),
      .head(401, basic), .redirect("http://h/b"), .redirect(nil), .stored(nil),
      .challenge(.use(BasicCredential(user: "u", password: "p"))), .challenge(.cancel), .end,
      .lost(received: false, sent: true), .timedOut, .cancelled,
    ]
    for first in every {
      for second in every {
        for third in every {
          let load = try run(
            "http://h/", [.started, .connected(reused: false), first, second, third])
          let ends = load.actions.filter { action in
            switch action {
            case .finish, .fail: true
            default: false
            }
          }
          #expect(ends.count <= 1)
          #expect(load.hasEnded || ends.isEmpty)
        }
      }
    }
  }
}
