import GannetTLS
import Testing

@Suite("TLS failures of the protocol")
struct ProtocolFailureTests {
  static func client(_ trust: TLSContext.Trust = .none) throws(TLSError) -> TLSEngine {
    let engine = try TLSEngine(client: TLSContext.client(trust: trust), serverName: "a.test")
    _ = try engine.handshake()
    return engine
  }

  /// What a server answers to a ClientHello that does not speak TLS.
  static let strangers: [(answer: String, hint: String)] = [
    ("HTTP/1.1 400 Bad Request\r\n\r\n", "the server speaks plain HTTP"),
    ("HTTP/1.0 200 OK\r\n\r\n", "the server speaks plain HTTP"),
    ("SSH-2.0-OpenSSH_9.2\r\n", "the server does not speak TLS: its first bytes are “SSH-2.0-”"),
    ("220 mail.test ESMTP\r\n", "the server does not speak TLS: its first bytes are “220 mail”"),
    ("<html>", "the server does not speak TLS: its first bytes are “<html>”"),
    ("\0\0\0\0\0\0", "the server does not speak TLS: its first bytes are “......”"),
  ]

  @Test("no TLS at all", arguments: strangers, [1, 3, Int.max])
  func stranger(row: (answer: String, hint: String), cut: Int) throws {
    let client = try Self.client()
    let bytes = Array(row.answer.utf8)
    let error = #expect(throws: TLSError.self) {
      var start = 0
      while start < bytes.count {
        let end = min(bytes.count, start + min(cut, bytes.count))
        client.receive(bytes.span.extracting(start..<end))
        start = end
        if start >= min(8, bytes.count) { _ = try client.handshake() }
      }
    }
    #expect(error?.kind == .protocolFailure)
    #expect(error?.reason == "the TLS handshake failed: the server did not answer in TLS")
    #expect(error?.hint == row.hint)
  }

  @Test("plain HTTP to a TLS server")
  func plainClient() throws {
    let identity = try TestIdentity.server.get()
    let server = try TLSEngine(
      server: TLSContext.server(certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM))
    server.receive(Array("GET / HTTP/1.1\r\nHost: a.test\r\n\r\n".utf8).span)
    let error = #expect(throws: TLSError.self) { _ = try server.handshake() }
    #expect(error?.hint == "the client speaks plain HTTP")
  }

  @Test("the server leaves in the handshake", arguments: [0, 1, 4, 100, 700])
  func endOfFile(count: Int) throws {
    let pair = try makePair(versions: .tls12...(.tls12))
    _ = try pair.client.handshake()
    var hello: [UInt8] = []
    pair.client.drainCiphertext(into: &hello)
    pair.server.receive(hello.span)
    _ = try pair.server.handshake()
    var answer: [UInt8] = []
    pair.server.drainCiphertext(into: &answer)
    pair.client.receive(answer.span.extracting(first: count))
    pair.client.receivedEndOfFile()
    let error = #expect(throws: TLSError.self) { _ = try pair.client.handshake() }
    #expect(error?.kind == .endedInHandshake)
    #expect(error?.reason == "the server closed the connection during the TLS handshake")
    #expect(error?.hint == nil)
  }

  @Test("a plain HTTP server that closes before 5 bytes")
  func shortStranger() throws {
    let client = try Self.client()
    client.receive(Array("HTT".utf8).span)
    client.receivedEndOfFile()
    let error = #expect(throws: TLSError.self) { _ = try client.handshake() }
    #expect(error?.kind == .endedInHandshake)
    #expect(error?.hint == "the server does not speak TLS: its first bytes are “HTT”")
  }

  /// An alert and its words.
  static let alerts: [(number: UInt8, words: String)] = [
    (40, "the server refused the handshake: it found nothing in common with us (handshake_failure)"),
    (70, "the server refused the handshake: it does not speak our versions of TLS (protocol_version)"),
    (80, "the server refused the handshake: it failed inside (internal_error)"),
    (112, "the server refused the handshake: it does not know this host name (unrecognized_name)"),
    (
      120,
      "the server refused the handshake: it speaks none of the protocols offered (no_application_protocol)"
    ),
    (99, "the server refused the handshake: alert 99"),
  ]

  @Test("alerts", arguments: alerts)
  func alert(row: (number: UInt8, words: String)) throws {
    let client = try Self.client()
    client.receive([21, 3, 3, 0, 2, 2, row.number].span)
    let error = #expect(throws: TLSError.self) { _ = try client.handshake() }
    #expect(error?.kind == .protocolFailure)
    #expect(error?.reason == row.words)
    #expect(error?.code ?? 0 != 0)
  }

  @Test("no version in common")
  func versions() throws {
    let identity = try TestIdentity.server.get()
    let server = try TLSContext.server(
      certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM, maximumVersion: .tls12)
    let client = try TLSContext.client(trust: TLSContext.Trust.none, minimumVersion: .tls13)
    let pair = EnginePair(
      client: try TLSEngine(client: client, serverName: "a.test"), server: try TLSEngine(server: server))
    pair.exchange()
    #expect(
      pair.clientError?.reason
        == "the server refused the handshake: it does not speak our versions of TLS (protocol_version)")
    #expect(pair.serverError?.reason == "the TLS handshake failed: unsupported protocol")
  }

  @Test("a protocol that was not offered", arguments: [TLSContext.Version.tls12, .tls13])
  func unexpectedProtocol(version: TLSContext.Version) throws {
    let pair = try makePair(versions: version...version, forcedProtocol: "h2")
    pair.exchange()
    #expect(pair.clientError?.kind == .unexpectedProtocol("h2"))
    #expect(pair.clientError?.reason == "the server selected the protocol “h2”, which was not offered")
  }

  @Test("no ALPN on either side")
  func noProtocol() throws {
    let pair = try makePair(protocols: [])
    pair.exchange()
    #expect(pair.client.isEstablished && pair.client.selectedProtocol == nil)
    let other = try makePair(protocols: ["spdy/1"])
    other.exchange()
    #expect(other.client.isEstablished && other.client.selectedProtocol == nil)
  }

  @Test("a client certificate is required", arguments: [TLSContext.Version.tls12, .tls13], [1, Int.max])
  func clientCertificate(version: TLSContext.Version, cut: Int) throws {
    let pair = try makePair(cut: cut, versions: version...version, clientCertificate: .required)
    pair.exchange()
    // TLS 1.3: the client is done before the server has seen that there is no certificate.
    let error = #expect(throws: TLSError.self) { _ = try pair.client.readAll() }
    #expect(error?.kind == .clientCertificateRequired)
    #expect(error?.reason.hasPrefix("the server requires a client certificate") == true)
    #expect(pair.serverError?.reason == "the TLS handshake failed: peer did not return a certificate")
  }

  @Test("a client certificate is asked for and not needed", arguments: [TLSContext.Version.tls12, .tls13])
  func optionalCertificate(version: TLSContext.Version) throws {
    let pair = try makePair(versions: version...version, clientCertificate: .optional)
    pair.exchange()
    #expect(pair.clientError == nil && pair.serverError == nil)
    try pair.client.write([1])
    pair.move(from: pair.client, to: pair.server)
    #expect(try pair.server.readAll().bytes == [1])
  }

  @Test("a new handshake is refused, without a loop")
  func renegotiation() throws {
    let identity = try TestIdentity.server.get()
    let server = try #require(RawServer(identity))
    let client = try Self.client(.pem(TestIdentity.authority.get().certificatePEM))
    var wire: [UInt8] = []
    for _ in 0..<4 {
      client.drainCiphertext(into: &wire)
      let answer = server.exchange(wire)
      wire = []
      client.receive(answer.span)
      if try client.handshake() { break }
    }
    #expect(client.isEstablished)
    client.receive(server.write("before").span)
    client.receive(server.renegotiate().span)
    let (bytes, end) = try client.readAll()
    #expect(bytes == Array("before".utf8))
    #expect(end == .wantsInput)
    // The refusal goes out; OpenSSL's server ends the connection over it.
    client.drainCiphertext(into: &wire)
    #expect(!wire.isEmpty)
    client.receive(server.exchange(wire).span)
    let error = #expect(throws: TLSError.self) { _ = try client.readAll() }
    #expect(error?.hint == "it asked for a new handshake (renegotiation), which is refused")
  }
}
