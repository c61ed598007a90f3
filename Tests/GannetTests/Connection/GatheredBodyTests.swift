import Gannet
import GannetSockets
import TestSupport
import Testing

/// What `sendSynchronousRequest` and `data(for:)` gather is bounded.
@Suite struct GatheredBodyTests {
  @Test(arguments: [(5, true), (4, false), (0, false)])
  func aBodyPastTheLimitFails(_ maximum: Int, _ fits: Bool) throws {
    let server = ScriptedServer([[.ok("hello")]], cut: .everyByte)
    var configuration = Loading.configuration(server)
    configuration.maximumGatheredBytes = maximum
    let request = URLRequest(string: "http://h/")
    if fits {
      #expect(try load(request, configuration).0 == Data("hello".utf8))
    } else {
      let error = #expect(throws: ConnectionError.self) { try load(request, configuration) }
      #expect(error?.code == .dataLengthExceedsMaximum)
      #expect(error?.cause == .limit("maximumGatheredBytes"))
    }
    #expect(server.peers.count == 1 && server.peers[0].isClosed)
  }

  private func load(
    _ request: URLRequest, _ configuration: URLConnection.Configuration
  ) throws(ConnectionError) -> (Data, HTTPURLResponse) {
    try URLConnection.sendSynchronousRequest(request, configuration: configuration)
  }
}
