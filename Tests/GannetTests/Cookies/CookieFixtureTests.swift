import Gannet
import GannetSockets
import TestSupport
import Testing

/// A recorded login: nginx sets cookies on the redirect, and answers 403 to who does not send the one for it.
@Suite struct CookieFixtureTests {
  @Test func aLoginSendsTheBytesThatWereRecorded() throws {
    let recording = try Fixtures.recording("nginx/login")
    var sent: [[UInt8]] = []
    var answers: [Answer] = []
    for record in recording.records {
      switch record.event {
      case .sent(let bytes):
        sent.append(bytes)
        answers.append(Answer(""))
      case .received(let bytes): answers[answers.count - 1].bytes += bytes
      case .endOfFile, .reset: break
      }
    }
    let server = ScriptedServer([answers])
    var request = URLRequest(string: recording.load.url)
    request.httpMethod = recording.load.method
    request.fields = FieldList(recording.load.fields.map { (name: $0.name, value: $0.value) })
    request.httpBody = recording.load.body.map { Data($0) }
    let log = CallbackLog()
    #expect(try Loading.run(request, Loading.configuration(server), log).last == "finish")
    #expect(log.responses.map(\.statusCode) == [200])
    #expect(server.peers.map(\.sent) == [sent.flatMap { $0 }])
    #expect(server.requests[0].contains("GET /account HTTP/1.1\r\n"))
    #expect(server.requests[0].contains("\r\nCookie: session=********\r\n"))
  }
}
