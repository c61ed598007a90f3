import GannetTLS
import Testing

@Suite("TLS handshake")
struct HandshakeTests {
  @Test(
    "both versions, at many cuts", arguments: [TLSContext.Version.tls12, .tls13],
    [1, 2, 3, 5, 7, 64, 1000, .max])
  func handshake(version: TLSContext.Version, cut: Int) throws {
    let pair = try makePair(cut: cut, versions: version...version)
    pair.exchange()
    #expect(pair.clientError == nil)
    #expect(pair.serverError == nil)
    #expect(pair.client.isEstablished && pair.server.isEstablished)
    #expect(pair.client.negotiatedVersion == (version == .tls12 ? "TLSv1.2" : "TLSv1.3"))
    #expect(pair.client.cipher == pair.server.cipher)
    #expect(pair.client.selectedProtocol == "http/1.1")
    #expect(pair.client.peerCertificate?.names == ["a.test", "127.0.0.1", "::1"])

    try pair.client.write(Array("GET / HTTP/1.1\r\n\r\n".utf8))
    pair.move(from: pair.client, to: pair.server)
    #expect(try pair.server.readAll().bytes == Array("GET / HTTP/1.1\r\n\r\n".utf8))
    try pair.server.write(Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    pair.server.shutdown()
    pair.move(from: pair.server, to: pair.client)
    let answer = try pair.client.readAll(5)
    #expect(answer.bytes == Array("HTTP/1.1 200 OK\r\n\r\n".utf8))
    #expect(answer.end == .closed)
  }
}
