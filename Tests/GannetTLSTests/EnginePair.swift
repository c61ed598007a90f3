import GannetTLS

/// A client's and a server's engine joined in memory: what one sends, the other receives, in pieces of `cut` bytes.
final class EnginePair {
  let client: TLSEngine
  let server: TLSEngine
  /// Largest piece of ciphertext handed over at once.
  var cut: Int
  /// What each side has thrown.
  private(set) var clientError: TLSError?
  private(set) var serverError: TLSError?

  init(client: TLSEngine, server: TLSEngine, cut: Int = .max) {
    self.client = client
    self.server = server
    self.cut = cut
  }

  /// Hands over what both have to send, until neither has; each side's handshake goes on after each piece.
  func exchange() {
    step(client)
    step(server)
    while client.hasCiphertext || server.hasCiphertext {
      move(from: client, to: server)
      move(from: server, to: client)
    }
  }

  /// Hands `sender`'s ciphertext to `receiver`, whose handshake goes on after each piece.
  func move(from sender: TLSEngine, to receiver: TLSEngine) {
    var wire: [UInt8] = []
    sender.drainCiphertext(into: &wire)
    var start = 0
    while start < wire.count {
      let end = min(wire.count, start + min(cut, wire.count))
      receiver.receive(wire.span.extracting(start..<end))
      step(receiver)
      start = end
    }
  }

  private func step(_ engine: TLSEngine) {
    do throws(TLSError) {
      _ = try engine.handshake()
    } catch {
      if engine === client { clientError = error } else { serverError = error }
    }
  }
}

extension TLSEngine {
  /// Everything that can be read now, and what ended the reading.
  func readAll(_ pieceBytes: Int = 20_000) throws(TLSError) -> (bytes: [UInt8], end: ReadResult) {
    var bytes: [UInt8] = []
    var buffer = [UInt8](repeating: 0, count: pieceBytes)
    while true {
      var span = buffer.mutableSpan
      let result = try read(into: &span)
      guard case .bytes(let count) = result else { return (bytes, result) }
      bytes += buffer[..<count]
    }
  }

  func write(_ bytes: [UInt8]) throws(TLSError) { try write(bytes.span) }
}

/// One authority and one server's certificate for all tests of this module.
enum TestIdentity {
  static let authority = Result { () throws(TLSError) in try CertificateAuthority() }
  static let server = authority.flatMap { authority in
    Result { () throws(TLSError) in
      try authority.issue(CertificateTemplate(hosts: ["a.test", "127.0.0.1", "::1"]))
    }
  }
}

/// A pair that trusts the test authority.
func makePair(
  host: String = "a.test", cut: Int = .max,
  versions: ClosedRange<TLSContext.Version> = TLSContext.Version.tls12...TLSContext.Version.tls13,
  identity: CertificateIdentity? = nil, trust: TLSContext.Trust? = nil,
  clientCertificate: TLSContext.ClientCertificate = .notAsked, forcedProtocol: String? = nil,
  protocols: [String] = ["http/1.1"], at time: Int64? = nil
) throws(TLSError) -> EnginePair {
  let authority = try TestIdentity.authority.get()
  let issued = try TestIdentity.server.get()
  let identity = identity ?? issued
  let serverContext = try TLSContext.server(
    certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM, minimumVersion: versions.lowerBound,
    maximumVersion: versions.upperBound, clientCertificate: clientCertificate, forcedProtocol: forcedProtocol)
  let clientContext = try TLSContext.client(trust: trust ?? .pem(authority.certificatePEM))
  return EnginePair(
    client: try TLSEngine(
      client: clientContext, serverName: host, protocols: protocols, verificationTime: time),
    server: try TLSEngine(server: serverContext), cut: cut)
}
