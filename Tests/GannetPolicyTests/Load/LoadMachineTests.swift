import GannetHTTP
import GannetPolicy
import Testing

@Suite struct LoadMachineTests {
  private let basic = [(name: "WWW-Authenticate", value: "Basic realm=\"r\"")]
  private let space = AuthenticationPolicy.Space(
    origin: Origin(scheme: "http", host: "h", port: 80), realm: "r")

  @Test func aPlainLoad() throws {
    let load = try runLoad(
      "http://h/", [.started, .connected(reused: false), .head(200, []), .end(isKept: false)])
    #expect(
      load.actions == [.connect(fresh: false), .send(nil), .deliver(keeps: false), .finish])
    #expect(load.hasEnded)
  }

  @Test func aURLThatIsNotCanonicalIsAskedAboutFirst() throws {
    let load = try runLoad("HTTP://H", [.started, .canonical("http://h/")])
    #expect(load.actions == [.askCanonical(try loadRequest("http://h/")), .connect(fresh: false)])
    let refused = try runLoad("http://h", [.started, .canonical(nil)])
    #expect(refused.actions.last == .fail(.refusedCanonical))
    // What the delegate gives instead is made canonical without asking again.
    let other = try runLoad("http://h", [.started, .canonical("http://OTHER")])
    #expect(other.actions.last == .connect(fresh: false))
    #expect(other.url == "http://other/")
  }

  @Test func aRedirectHasFourAnswers() throws {
    let toB = [(name: "Location", value: "/b")]
    let before: [LoadStep] = [.started, .connected(reused: false), .head(302, toB)]
    let asked: [LoadMachine.Action] = [
      .connect(fresh: false), .send(nil), .askRedirect(try loadRequest("http://h/b")),
    ]
    #expect(try runLoad("http://h/a", before).actions == asked)
    #expect(
      try runLoad("http://h/a", before + [.redirect("http://h/b")]).actions == asked + [
        .discard, .connect(fresh: false),
      ])
    let other = try runLoad("http://h/a", before + [.redirect("http://o/c")])
    #expect(other.url == "http://o/c")
    #expect(
      try runLoad("http://h/a", before + [.redirect(nil), .end(isKept: false)]).actions == asked + [
        .deliver(keeps: false), .finish,
      ])
    #expect(
      try runLoad("http://h/a", refusedFails: true, before + [.redirect(nil)]).actions == asked + [
        .discard, .fail(.refusedRedirect),
      ])
    let cancelled = try runLoad(
      "http://h/a", before + [.cancelled, .redirect("http://h/b"), .end(isKept: false)])
    #expect(cancelled.actions == asked)
  }

  @Test func redirectsAreCounted() throws {
    var steps: [LoadStep] = [.started]
    for _ in 0..<3 {
      steps += [
        .connected(reused: false), .head(302, [(name: "Location", value: "/a")]), .redirect("http://h/a"),
      ]
    }
    let load = try runLoad("http://h/a", limit: 2, steps)
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
    let load = try runLoad(
      "http://h/", method: method,
      [.started, .connected(reused: reused), .lost(received: received, sent: sent)])
    #expect(load.actions.last == (again ? .connect(fresh: true) : .fail(.connection)))
  }

  @Test func aFreshConnectionThatIsLostTooFails() throws {
    let load = try runLoad(
      "http://h/",
      [
        .started, .connected(reused: true), .lost(received: false, sent: true), .connected(reused: false),
        .lost(received: false, sent: true),
      ])
    #expect(load.actions.last == .fail(.connection))
  }

  @Test func aChallengeAsksTheURLThenTheStorageThenTheDelegate() throws {
    let stored = PasswordCredential(user: "s", password: "p")
    let given = PasswordCredential(user: "d", password: "q")
    let challenged: [LoadStep] = [.connected(reused: false), .head(401, basic)]
    let load = try runLoad(
      "http://u:w@h/",
      [.started] + challenged + challenged + [.stored(stored)] + challenged + [
        .stored(stored), .challenge(.use(given)),
      ]
        + [.connected(reused: false), .head(200, []), .end(isKept: false)])
    #expect(
      load.actions == [
        .connect(fresh: false), .send(nil), .discard,
        .connect(fresh: false), .send(.basic("Basic dTp3")), .askStorage(space), .discard,
        .connect(fresh: false), .send(.basic("Basic czpw")), .askStorage(space),
        .askChallenge(space, proposed: stored, previousFailures: 2), .discard,
        .connect(fresh: false), .send(.basic("Basic ZDpx")), .keepCredential(space),
        .deliver(keeps: false),
        .finish,
      ])
  }

  @Test func aChallengeNotAnsweredDeliversTheResponse() throws {
    let before: [LoadStep] = [.started, .connected(reused: false), .head(401, basic), .stored(nil)]
    for answer in [LoadMachine.ChallengeAnswer.withoutCredential, .rejectSpace] {
      let load = try runLoad("http://h/", before + [.challenge(answer), .end(isKept: false)])
      #expect(load.actions.suffix(2) == [.deliver(keeps: false), .finish])
    }
    let cancelled = try runLoad("http://h/", before + [.challenge(.cancel)])
    #expect(
      cancelled.actions.suffix(3) == [.tellChallengeCancelled, .discard, .fail(.cancelledAuthentication)])
    let unknown = try runLoad(
      "http://h/",
      [.started, .connected(reused: false), .head(401, [(name: "WWW-Authenticate", value: "Other")])])
    #expect(unknown.actions.last == .deliver(keeps: false))
  }

  /// What is told of a Digest login: refused as it was sent, accepted, and the nonce that goes on from there.
  @Test func aDigestLoginIsKeptOrDropped() throws {
    let challenge = [(name: "WWW-Authenticate", value: "Digest realm=r, nonce=\"m\", qop=auth, stale=true")]
    let (old, new) = (try digestLogin(nonce: "n"), try digestLogin(nonce: "m"))
    var stale = new
    stale.challenge.isStale = true
    let load = try runLoad(
      "http://h/",
      [
        .started, .recalled(nonce: "n"), .connected(reused: false), .head(401, challenge),
        .connected(reused: true), .head(404, [(name: "Authentication-Info", value: "nextnonce=\"o\"")]),
      ])
    #expect(
      load.actions == [
        .connect(fresh: false), .send(.digest(old)), .dropLogin(old), .discard, .connect(fresh: false),
        .send(.digest(stale)), .renewSession(stale, nonce: Array("o".utf8)), .deliver(keeps: false),
      ])
    let moved = try runLoad(
      "http://h/",
      [
        .started, .recalled(nonce: "n"), .connected(reused: false),
        .head(
          302, [(name: "Location", value: "/b"), (name: "Authentication-Info", value: "nextnonce=\"m\"")]),
        .redirect("http://h/b"), .connected(reused: true),
      ])
    #expect(moved.actions.contains(.keepLogin(new)))
    #expect(moved.actions.last == .send(.digest(new)))
  }

  /// A login of another load is sent where nothing else is known to be right.
  @Test func aLoginIsRecalledForItsOriginAlone() throws {
    let login = try digestLogin(nonce: "n")
    func sends(_ url: String, _ steps: [LoadStep]) throws -> LoadMachine.Action? {
      try runLoad(url, [.started] + steps + [.recalled(nonce: "n"), .connected(reused: false)]).actions.last
    }
    #expect(try sends("http://h/a", []) == .send(.digest(login)))
    #expect(try sends("http://h:81/a", []) == .send(nil))
    #expect(try sends("https://h/a", []) == .send(nil))
    // Refused, it is what the delegate is told of.
    let same = [(name: "WWW-Authenticate", value: "Digest realm=r, nonce=\"n\", qop=auth")]
    let refused = try runLoad(
      "http://h/",
      [.started, .recalled(nonce: "n"), .connected(reused: false), .head(401, same), .stored(nil)])
    let asked = AuthenticationPolicy.Space(login)
    #expect(
      refused.actions.last == .askChallenge(asked, proposed: login.credential, previousFailures: 1))
    // Once a challenge is answered, that answer counts.
    let answered = try sends(
      "http://u:w@h/a", [.connected(reused: false), .head(401, basic)])
    #expect(answered == .send(.basic("Basic dTp3")))
    var request = try loadRequest("http://h/")
    request.fields = ["authorization": "own"]
    var machine = LoadMachine(request, maximumRedirects: 1, refusedRedirectFails: false)
    var actions: [LoadMachine.Action] = []
    machine.started(into: &actions)
    let mayRecall = machine.mayRecall
    #expect(!mayRecall)
    machine.recalled(login)
    machine.connected(reused: false, into: &actions)
    #expect(actions.last == .send(nil))
    // What is stored was the answer to a request without it.
    let head = StoredHead(
      status: 200, fields: ["Cache-Control": "max-age=60", "ETag": "\"v\""], sent: [:], requestTime: 0,
      responseTime: 0)
    var asking = LoadMachine(
      try loadRequest("http://h/"), maximumRedirects: 1, refusedRedirectFails: false, usesCache: true)
    asking.started(into: &actions)
    asking.foundStored(head, at: 100, into: &actions)
    #expect(asking.conditions != nil)
    asking.recalled(login)
    asking.connected(reused: false, into: &actions)
    #expect(actions.last == .send(nil))
  }

  @Test func aSpacePassedOverLeadsToTheNext() throws {
    let offered = [(name: "WWW-Authenticate", value: "Digest realm=d, nonce=n, Basic realm=r")]
    let load = try runLoad(
      "http://h/",
      [.started, .connected(reused: false), .head(401, offered), .stored(nil), .challenge(.rejectSpace)])
    #expect(load.actions.last == .askStorage(space))
    let end = try runLoad(
      "http://h/",
      [
        .started, .connected(reused: false), .head(401, offered), .stored(nil), .challenge(.rejectSpace),
        .stored(nil), .challenge(.rejectSpace),
      ])
    #expect(end.actions.last == .deliver(keeps: false))
  }

  @Test func theClockStandsWhileAnAnswerIsAwaited() throws {
    let waiting = try runLoad(
      "http://h/", [.started, .connected(reused: false), .head(401, basic), .stored(nil), .timedOut])
    #expect(waiting.waitsForAnswer)
    #expect(waiting.actions.last == .askChallenge(space, proposed: nil, previousFailures: 0))
    let loading = try runLoad("http://h/", [.started, .connected(reused: false), .timedOut])
    #expect(loading.actions.last == .fail(.timedOut))
  }

  /// Every kind of other origin, with every status: the answer to a challenge stays where it was given, and does not come
  /// back with the load.
  @Test(arguments: [301, 302, 303, 307, 308])
  func theAnswerToAChallengeStaysWithItsOrigin(_ status: Int) throws {
    let places: [(from: String, to: String, stays: Bool)] = [
      ("http://a.test/x", "/y", true), ("http://a.test/x", "http://A.TEST:80/y", true),
      ("https://a.test/x", "https://a.test:443/y", true), ("http://a.test/x", "http://b.test/y", false),
      ("http://a.test/x", "http://a.test:81/y", false), ("https://a.test/x", "http://a.test/y", false),
      ("http://a.test/x", "https://a.test/y", false), ("http://a.test/x", "http://www.a.test/y", false),
      ("http://a.test/x", "http://a.test./y", false), ("http://localhost/x", "http://127.0.0.1/y", false),
    ]
    let answer = LoadMachine.ChallengeAnswer.use(PasswordCredential(user: "d", password: "q"))
    for place in places {
      let target = try HTTPURL(place.from).resolving(place.to).text
      let steps: [LoadStep] = [
        .started, .connected(reused: false), .head(401, basic), .stored(nil), .challenge(answer),
        .connected(reused: false), .head(status, [(name: "Location", value: place.to)]), .redirect(target),
        .connected(reused: false),
      ]
      let secret = "Basic ZDpx"
      let there = try runLoad(place.from, steps)
      #expect(there.actions.last == .send(place.stays ? .basic(secret) : nil), "\(place)")
      guard !place.stays else { continue }
      let back = try runLoad(
        place.from,
        steps + [
          .head(status, [(name: "Location", value: place.from)]), .redirect(place.from),
          .connected(reused: false),
        ])
      #expect(back.actions.last == .send(nil), "\(place), and back")
    }
  }
}
