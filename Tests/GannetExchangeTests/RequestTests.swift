import GannetExchange
import GannetHTTP
import TestSupport
import Testing

/// The request's side of an exchange: when a body is sent, waited with, or given up, and what that means for the end
/// of the response and for the connection.
@Suite("requests of an exchange")
struct RequestTests {
  /// What happens, in order, and what must be true after it.
  enum Step: Sendable {
    case headSent, bodySent, timeLimit, stopped, endOfFile
    case input(String)
  }

  struct Row: Sendable, CustomTestStringConvertible {
    let testDescription: String
    var body = ExchangeMachine.RequestBody.follows
    let steps: [(Step, ExchangeMachine.Request)]
    let events: [String]
    var persistence = Persistence.reusable
    var leftOver = 0
    var error: String?
  }

  private static let go = "HTTP/1.1 100 Continue\r\n\r\n"
  private static let head = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
  private static let refusal = "HTTP/1.1 413 Large\r\nContent-Length: 3\r\n\r\n"
  private static let whole = ["200 length(5)", "data hello", "end"]

  private static let rows = [
    Row(
      testDescription: "no body", body: .none, steps: [(.headSent, .sent), (.input(head + "hello"), .none)],
      events: whole),
    Row(
      testDescription: "a body",
      steps: [
        (.headSent, .sendingBody), (.bodySent, .sent), (.input(head + "hello"), .none),
      ], events: whole),
    Row(
      testDescription: "a success within the body: its end waits for that of the body",
      steps: [
        (.headSent, .sendingBody), (.input(head + "hello"), .sendingBody), (.bodySent, .sent),
        (.input(""), .none),
      ], events: whole),
    Row(
      testDescription: "a success within the body, which then cannot be sent",
      steps: [
        (.headSent, .sendingBody), (.input(head + "hello"), .sendingBody), (.stopped, .stopped),
        (.input(""), .none),
      ], events: ["200 length(5)", "data hello", "end, not reusable"], persistence: .requestUnfinished),
    Row(
      testDescription: "a success within the body, and the end of the connection",
      steps: [
        (.headSent, .sendingBody), (.input(head + "hello"), .sendingBody), (.endOfFile, .none),
      ], events: ["200 length(5)", "data hello", "end, not reusable"], persistence: .requestUnfinished),
    Row(
      testDescription: "a success within the body, and bytes that answer nothing",
      steps: [(.headSent, .sendingBody), (.input(head + "helloX"), .none)],
      events: ["200 length(5)", "data hello", "end, not reusable"], persistence: .requestUnfinished,
      leftOver: 1),
    Row(
      testDescription: "such bytes later",
      steps: [
        (.headSent, .sendingBody), (.input(head + "hello"), .sendingBody), (.input("X"), .none),
      ], events: ["200 length(5)", "data hello", "end, not reusable"], persistence: .requestUnfinished,
      leftOver: 1),
    Row(
      testDescription: "a body sent within the response",
      steps: [
        (.headSent, .sendingBody), (.input(head), .sendingBody), (.bodySent, .sent), (.input("hello"), .none),
      ], events: whole),
    Row(
      testDescription: "a refusal within the body",
      steps: [(.headSent, .sendingBody), (.input(refusal), .stopped), (.input("big"), .none)],
      events: ["413 length(3)", "data big", "end, not reusable"], persistence: .requestUnfinished),
    Row(
      testDescription: "a refusal within the head", body: .none,
      steps: [(.input(refusal), .stopped), (.headSent, .stopped), (.input("big"), .none)],
      events: ["413 length(3)", "data big", "end, not reusable"], persistence: .requestUnfinished),
    Row(
      testDescription: "a redirect within the body needs no more of it",
      steps: [
        (.headSent, .sendingBody),
        (.input("HTTP/1.1 307 T\r\nConnection: close\r\nContent-Length: 0\r\n\r\n"), .none),
      ], events: ["307 length(0)", "end, not reusable"], persistence: .closeRequested),
    Row(
      testDescription: "100 asks for the body", body: .followsContinue,
      steps: [
        (.headSent, .awaitingContinue), (.bodySent, .awaitingContinue), (.input(go), .sendingBody),
        (.bodySent, .sent), (.input(head + "hello"), .none),
      ], events: ["informational 100"] + whole),
    Row(
      testDescription: "103 does not", body: .followsContinue,
      steps: [(.headSent, .awaitingContinue), (.input("HTTP/1.1 103 \r\n\r\n"), .awaitingContinue)],
      events: ["informational 103"]),
    Row(
      testDescription: "100 within the head", body: .followsContinue,
      steps: [(.input(go), .sendingHead), (.headSent, .sendingBody)], events: ["informational 100"]),
    Row(
      testDescription: "the time limit, then a late 100", body: .followsContinue,
      steps: [
        (.headSent, .awaitingContinue), (.timeLimit, .sendingBody), (.input(go), .sendingBody),
        (.bodySent, .sent), (.timeLimit, .sent), (.input(go + head + "hello"), .none),
      ], events: ["informational 100", "informational 100"] + whole),
    Row(
      testDescription: "a refusal in place of 100", body: .followsContinue,
      steps: [
        (.headSent, .awaitingContinue), (.input(refusal), .stopped), (.timeLimit, .stopped),
        (.input("big"), .none),
      ], events: ["413 length(3)", "data big", "end, not reusable"], persistence: .requestUnfinished),
    Row(
      testDescription: "a success in place of 100: the body is sent", body: .followsContinue,
      steps: [
        (.headSent, .awaitingContinue), (.input(head + "hello"), .sendingBody), (.bodySent, .sent),
        (.input(""), .none),
      ], events: whole),
    Row(
      testDescription: "the connection ends", body: .followsContinue,
      steps: [(.headSent, .awaitingContinue), (.endOfFile, .stopped)], events: [], persistence: .closed,
      error: "no-response at 0"),
  ]

  @Test("steps", arguments: rows)
  func steps(_ row: Row) {
    var client = Exchanging.Client(["POST"])
    client.machine.beganRequest(method: "POST", body: row.body)
    client.methods = []
    var outcome = Outcome()
    do throws(SyntaxError) {
      for (step, request) in row.steps {
        switch step {
        case .headSent: client.machine.sentHead()
        case .bodySent: client.machine.sentBody()
        case .timeLimit: client.machine.continueTimeLimitPassed()
        case .stopped: client.machine.stoppedSending()
        case .endOfFile:
          do throws(SyntaxError) {
            while let event = try client.machine.receivedEndOfFile() {
              Exchanging.note(event, of: [], client, in: &outcome)
            }
          } catch {
            outcome.error = error
          }
        case .input(let text):
          let bytes = Bytes.latin1(text)
          outcome.leftOver += bytes.count - (try Exchanging.take(&client, bytes, &outcome))
        }
        #expect(client.machine.request == request, "\(step)")
      }
    } catch {
      outcome.error = error
    }
    outcome.endData()
    #expect(outcome.events == row.events)
    #expect(outcome.error.map { "\($0.rule.rawValue) at \($0.offset)" } == row.error)
    #expect(outcome.leftOver == row.leftOver)
    #expect(client.machine.persistence == row.persistence)
  }

  @Test("the refusal of a tunnel's request body")
  func upgradeStopsTheBody() throws {
    var client = Exchanging.Client(["POST"])
    client.body = .follows
    client.mayUpgrade = true
    client.sendNext()
    var outcome = Outcome()
    _ = try Exchanging.take(&client, Bytes.latin1("HTTP/1.1 101 Up\r\n\r\n"), &outcome)
    #expect(outcome.events == ["101 upgrade", "end, not reusable"])
    #expect(client.machine.persistence == .upgraded)
  }
}
