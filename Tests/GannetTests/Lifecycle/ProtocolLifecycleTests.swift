import Gannet
import GannetSockets
import TestSupport
import Testing

/// A protocol class that says too much: what is said after the end or the cancel, also from inside `stopLoading()` and
/// later, is not heard (docs/CONTRACT.md, rule 14).
@Suite(.longWork) struct ProtocolLifecycleTests {
  private final class Talker: URLProtocol, @unchecked Sendable {
    override class func canInit(with request: URLRequest) -> Bool { request.urlString.hasPrefix("talk:") }

    override class func canonicalRequest(for request: URLRequest) -> URLRequest {
      var request = request
      if request.urlString == "talk:///first" { request.setValue("yes", forHTTPHeaderField: "X-Canonical") }
      return request
    }

    override func startLoading() {
      guard request.urlString == "talk:///first" else { return sayAll() }
      let response = HTTPURLResponse(urlString: request.urlString, statusCode: 302)
      client?.urlProtocol(
        self, wasRedirectedTo: URLRequest(string: "talk:///second"), redirectResponse: response)
    }

    override func stopLoading() {
      sayAll()
      SecondThread.shared.run { [self] in sayAll() }
      EventLoop.running?.perform { [self] _ in sayAll() }
    }

    private func sayAll() {
      client?.urlProtocol(
        self, didReceive: HTTPURLResponse(urlString: request.urlString, statusCode: 200))
      for _ in 0..<3 { client?.urlProtocol(self, didLoad: Data("x".utf8)) }
      client?.urlProtocolDidFinishLoading(self)
      client?.urlProtocol(self, didFailWithError: CancellationError())
    }
  }

  private static func run(at place: CancelPlace) throws -> LoadWatch.Report {
    let loop = try EventLoop()
    let handle = loop.handle
    let load = try WatchedLoad(
      of: URLRequest(string: "talk:///first"), from: ScriptedServer([]), WatchedDelegate.Answers(), at: place,
      on: .loop(handle), protocols: [Talker.self]
    ) { handle.isCurrent }
    #expect(loop.turnUntilIdle(), "\(place)")
    #expect(load.faults() == [], "\(place): \(load.watch.report.trace)")
    loop.shutDown()
    #expect(load.census.living() == "", "\(place)")
    return load.watch.report
  }

  @Test func whatIsSaidAfterTheEndIsNotHeard() throws {
    let whole = try Self.run(at: .nowhere)
    #expect(
      whole.calls == [.willSend, .willSend, .response, .data, .data, .data, .metrics, .finish])
    for number in 1...whole.calls.count {
      for place in [CancelPlace.callback(number), .callbackElsewhere(number)] {
        #expect(try Self.run(at: place).calls == Array(whole.calls.prefix(number)), "\(place)")
      }
    }
  }
}
