import Foundation
import GannetHTTP
import GannetPolicy
import TestSupport
import Testing

/// Every event in every state of a load, tried on the machine itself: none traps, nothing is asked after the end, a load
/// ends once, and what they lead to is the diagram in `docs`.
@Suite("states of a load", .longWork)
struct LoadDiagramTests {
  /// What can happen, and its words in the diagram.
  private static let happenings: [(words: String, step: LoadStep)] = [
    ("started", .started), ("canonical form taken", .canonical("http://h/")),
    ("canonical form refused", .canonical(nil)), ("connected", .connected(reused: false)),
    ("connected as before", .connected(reused: true)), ("body begun", .beganStream),
    ("head", .head(200, [])), ("head of a redirect", .head(302, [(name: "Location", value: "/b")])),
    ("head of a redirect to nowhere", .head(302, [(name: "Location", value: "ftp://h/")])),
    ("head of a challenge", .head(401, [(name: "WWW-Authenticate", value: "Basic realm=\"r\"")])),
    ("head of a Digest challenge", .head(401, [(name: "WWW-Authenticate", value: digest)])),
    ("login recalled", .recalled(nonce: "m")), ("space passed over", .challenge(.rejectSpace)),
    ("head that refuses to say 100", .head(417, [])), ("redirect taken", .redirect("http://h/b")),
    ("redirect refused", .redirect(nil)), ("credential found", .stored(stored)),
    ("no credential found", .stored(nil)), ("credential given", .challenge(.use(given))),
    ("no credential given", .challenge(.withoutCredential)), ("challenge cancelled", .challenge(.cancel)),
    ("body given", .newBody(.stream(2))), ("no body given", .newBody(nil)),
    ("end of the body", .end(isKept: false)),
    ("end of a body that is kept", .end(isKept: true)), ("stored", .storing(true)),
    ("not stored", .storing(false)), ("fresh response found", .found(response, now: 0)),
    ("stale response found", .found(response, now: 100)), ("nothing found", .found(nil, now: 0)),
    ("head of a 304", .head(304, [])), ("head to be stored", .head(200, [(name: "ETag", value: "\"v1\"")])),
    ("lost", .lost(received: false, sent: true)), ("lost on the way", .lost(received: true, sent: true)),
    ("timed out", .timedOut), ("cancelled", .cancelled),
  ]

  private static let response = StoredHead(
    status: 200, fields: ["Cache-Control": "max-age=60", "ETag": "\"v1\""], sent: [:], requestTime: 0,
    responseTime: 0)
  private static let digest = "Digest realm=\"d\", nonce=\"n\", stale=true, Basic realm=\"b\""
  private static let stored = PasswordCredential(user: "s", password: "p")
  private static let given = PasswordCredential(user: "d", password: "q")

  /// A load at some place, and how it got there.
  private struct Place {
    var start: Start
    var steps: [LoadStep] = []
    var actions: [LoadMachine.Action] = []
    var state = LoadMachine.State.ready
    var redirects = 0
    var expectsContinue = false
    var hasConditions = false

    /// What the next steps depend on, as far as it shows.
    var key: String {
      var (authorization, fresh, failures): (AuthenticationPolicy.Answer?, Bool, Int) = (nil, false, 0)
      for action in actions {
        switch action {
        case .send(let sent): authorization = sent
        case .connect(let isFresh): fresh = isFresh
        case .askChallenge(_, _, let count): failures = min(count, 1)
        default: break
        }
      }
      let begun = steps.contains { if case .beganStream = $0 { true } else { false } }
      return
        "\(start) \(state) \(authorization.map { "\($0)" } ?? "") \(fresh) \(failures) \(redirects) \(expectsContinue) \(begun) \(hasConditions)"
    }

    func after(_ steps: [LoadStep]) throws -> Place {
      var machine = try start.machine()
      var place = self
      place.steps += steps
      place.actions = []
      for step in place.steps { try step.apply(to: &machine, &place.actions) }
      place.state = machine.state
      place.redirects = machine.redirectCount
      place.expectsContinue = machine.expectsContinue
      place.hasConditions = machine.conditions != nil
      return place
    }
  }

  /// The loads that are begun.
  private enum Start: CaseIterable {
    case plain, notCanonical, stream, failingWhenRefused, cached, onlyCached

    func machine() throws -> LoadMachine {
      var request = try loadRequest(self == .notCanonical ? "http://H" : "http://u:w@h/a")
      if self == .stream {
        request.method = "PUT"
        request.body = .stream(1)
        request.expectsContinue = true
      }
      if self == .onlyCached { request.cachePolicy = .returnDontLoad }
      return LoadMachine(
        request, maximumRedirects: 1, refusedRedirectFails: self == .failingWhenRefused,
        usesCache: self == .cached || self == .onlyCached)
    }
  }

  private static func name(_ state: LoadMachine.State) -> String {
    String("\(state)".prefix { $0.isLetter })
  }

  private typealias Edges = [(ends: String, words: [String])]

  /// Every place that happenings lead to, and the steps between states.
  private static func explored() throws -> (places: [Place], edges: Edges) {
    var places: [Place] = try Start.allCases.map { try Place(start: $0).after([]) }
    var seen = Set(places.map(\.key))
    var edges: Edges = []
    var index = 0
    while index < places.count {
      let place = places[index]
      index += 1
      for (words, step) in happenings {
        let next = try place.after([step])
        note(words, from: place, to: next, in: &edges)
        if seen.insert(next.key).inserted { places.append(next) }
      }
    }
    return (places, edges)
  }

  private static func note(_ words: String, from place: Place, to next: Place, in edges: inout Edges) {
    guard next.state != place.state || next.actions.count > place.actions.count else { return }
    let ends = "\(name(place.state)) --> \(name(next.state))"
    let index = edges.firstIndex { $0.ends == ends } ?? edges.count
    if index == edges.count { edges.append((ends, [])) }
    if !edges[index].words.contains(words) { edges[index].words.append(words) }
  }

  private static func drawn() throws -> String {
    let edges = try explored().edges
    let from = edges.map { $0.ends.prefix { $0 != " " } }
    let order = from.indices.sorted {
      (from.firstIndex(of: from[$0]) ?? 0, $0) < (from.firstIndex(of: from[$1]) ?? 0, $1)
    }
    let lines = order.map { "  \(edges[$0].ends): \(edges[$0].words.joined(separator: ", "))" }
    return
      ([
        "%% Made by LoadDiagramTests from the machine itself; WRITE_DOCS=1 swift test draws it anew.",
        "stateDiagram-v2", "  [*] --> ready",
      ] + lines + ["  ended --> [*]"]).joined(separator: "\n") + "\n"
  }

  @Test("every state is reached, and each but the last is left")
  func complete() throws {
    let (places, edges) = try Self.explored()
    let reached = Set(places.map { Self.name($0.state) })
    #expect(
      reached == [
        "ready", "askingCanonical", "connecting", "askingNewBody", "exchanging", "askingRedirect",
        "askingStorage", "askingDelegate", "delivering", "ended", "lookingUp", "deliveringStored",
        "askingStoring",
      ])
    let left = Set(edges.map { String($0.ends.prefix { $0 != " " }) })
    #expect(left == reached.subtracting(["ended"]))
  }

  @Test("the diagram in docs is what the machine does")
  func diagram() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../../docs/load-states.mmd")
    let drawn = try Self.drawn()
    if ProcessInfo.processInfo.environment["WRITE_DOCS"] != nil { try Data(drawn.utf8).write(to: file) }
    #expect(try String(contentsOf: file, encoding: .utf8) == drawn)
  }

  @Test("every event in every state")
  func everyEvent() throws {
    let places = try Self.explored().places
    #expect(places.count > 40)
    for place in places {
      for (words, step) in Self.happenings { Self.check(try place.after([step]), after: words) }
    }
  }

  /// A load ends at most once, with its last action, and is then in the state that says so; a question is asked only
  /// where its answer is awaited.
  private static func check(_ place: Place, after words: String) {
    let ends = place.actions.indices.filter { index in
      switch place.actions[index] {
      case .finish, .fail: true
      default: false
      }
    }
    let isRight =
      switch ends.count {
      case 0: true
      case 1: ends[0] == place.actions.count - 1 && place.state == .ended
      default: false
      }
    if !isRight { Issue.record("\(place.key) after \(words): \(place.actions)") }
    let asked: LoadMachine.Action? = place.actions.last
    let isAwaited =
      switch (place.state, asked) {
      case (.askingCanonical, .askCanonical?), (.askingRedirect, .askRedirect?): true
      case (.askingNewBody, .askNewBody?), (.askingStorage, .askStorage?), (.askingDelegate, .askChallenge?):
        true
      case (.lookingUp, .lookUp?), (.deliveringStored, .deliverStored?), (.askingStoring, .askStoring?): true
      case (.lookingUp, _), (.deliveringStored, _), (.askingStoring, _): false
      case (.askingCanonical, _), (.askingRedirect, _), (.askingNewBody, _), (.askingStorage, _): false
      case (.askingDelegate, _): false
      case (.ready, _), (.connecting, _), (.exchanging, _), (.delivering, _), (.ended, _): true
      }
    if !isAwaited { Issue.record("\(place.key) after \(words): asked \(String(describing: asked))") }
  }
}
