import GannetHTTP
import GannetPolicy

/// One thing that happens to a load, for tables.
enum LoadStep: Sendable {
  case started
  case canonical(String?)
  case connected(reused: Bool)
  case head(Int, [(name: String, value: String)])
  case redirect(String?)
  case stored(PasswordCredential?)
  case challenge(LoadMachine.ChallengeAnswer)
  case recalled(nonce: String)
  case found(StoredHead?, now: Int64)
  case beganStream
  case newBody(LoadMachine.Body?)
  case end(isKept: Bool)
  case storing(Bool)
  case lost(received: Bool, sent: Bool)
  case timedOut
  case cancelled

  func apply(to machine: inout LoadMachine, _ actions: inout [LoadMachine.Action]) throws {
    switch self {
    case .started: machine.started(into: &actions)
    case .canonical(let url):
      machine.answeredCanonical(try url.map { try loadRequest($0) }, into: &actions)
    case .connected(let reused): machine.connected(reused: reused, into: &actions)
    case .head(let status, let fields):
      machine.received(ResponseHead(status: status, fields: FieldList(fields)), into: &actions)
    case .redirect(let url): machine.answeredRedirect(try url.map { try loadRequest($0) }, into: &actions)
    case .stored(let credential): machine.foundStoredCredential(credential, into: &actions)
    case .challenge(let answer): machine.answeredChallenge(answer, into: &actions)
    case .recalled(let nonce): machine.recalled(try digestLogin(nonce: nonce))
    case .beganStream: machine.beganStream()
    case .newBody(let body): machine.answeredNewBody(body, into: &actions)
    case .found(let head, let now): machine.foundStored(head, at: now, into: &actions)
    case .end(let isKept): machine.receivedEnd(isKept: isKept, into: &actions)
    case .storing(let stores): machine.answeredStoring(stores, into: &actions)
    case .lost(let received, let sent):
      machine.lost(receivedAnything: received, sentAnything: sent, into: &actions)
    case .timedOut: machine.timedOut(into: &actions)
    case .cancelled: machine.cancelled()
    }
  }
}

func loadRequest(_ url: String, method: String = "GET") throws -> LoadMachine.Request {
  LoadMachine.Request(method: method, url: try HTTPURL(url), fields: FieldList())
}

/// What came of a run.
struct LoadRun {
  var actions: [LoadMachine.Action]
  var hasEnded: Bool
  var waitsForAnswer: Bool
  var url: String
}

func runLoad(
  _ url: String, method: String = "GET", limit: Int = 20, refusedFails: Bool = false, _ steps: [LoadStep]
) throws -> LoadRun {
  var machine = LoadMachine(
    try loadRequest(url, method: method), maximumRedirects: limit, refusedRedirectFails: refusedFails)
  var actions: [LoadMachine.Action] = []
  for step in steps { try step.apply(to: &machine, &actions) }
  return LoadRun(
    actions: actions, hasEnded: machine.state.hasEnded, waitsForAnswer: machine.state.waitsForAnswer,
    url: machine.request.url.text)
}
