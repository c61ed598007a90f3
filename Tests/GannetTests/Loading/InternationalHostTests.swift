import Gannet
import TestSupport
import Testing

/// Hosts beyond ASCII as a load meets them. The tables are the build's (the package trait `IDN`), or none; how names are
/// encoded is tested with `HostNameEncoder`.
@Suite struct InternationalHostTests {
  private static let name = "b\u{FC}cher.test"

  @Test func aRequestAndALocation() throws {
    let server = ScriptedServer([
      [.ok("", status: "302 F", "Location: http://\(Self.name)/x\r\n")], [.ok("there")],
    ])
    let log = CallbackLog()
    var request = URLRequest(string: "http://h/")
    let lines = try Loading.run(request, Loading.configuration(server), log)
    request = URLRequest(string: "http://\(Self.name)/")
    guard HostNameEncoder.shared != nil else {
      // Without tables both are refused, and say what would have some.
      #expect(lines.last?.hasPrefix("fail redirectToNonExistentLocation") == true)
      let error = #expect(throws: ConnectionError.self) { try request.validate() }
      #expect(error?.code == .badURL && error?.phase == .preparing)
      #expect(error?.reason.contains("trait IDN") == true)
      #expect(URLConnection(request: request, delegate: nil) == nil)
      return
    }
    #expect(lines.last == "finish")
    #expect(server.peers.map(\.origin.host) == ["h", "xn--bcher-kva.test"])
    #expect(server.requests[1].hasPrefix("GET /x HTTP/1.1\r\nHost: xn--bcher-kva.test\r\n"))
    #expect(log.responses.last?.urlString == "http://xn--bcher-kva.test/x")
    // The canonical step shows it to the delegate.
    var offered: [String] = []
    log.answer = { request, response in
      if response == nil { offered.append(request.urlString) }
      return nil
    }
    _ = try Loading.run(request, Loading.configuration(ScriptedServer([])), log)
    #expect(offered == ["http://xn--bcher-kva.test/"])
  }
}
