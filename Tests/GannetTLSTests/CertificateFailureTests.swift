import GannetTLS
import Testing

@Suite("certificates that are refused")
struct CertificateFailureTests {
  /// 2024-01-01 and the day after, for certificates that must not depend on the clock.
  static let start: Int64 = 1_704_067_200
  static let day: Int64 = 86_400

  /// What a server shows, for which host and when, and the sentence it must end in.
  struct Case: CustomTestStringConvertible {
    let name: String
    var host = "a.test"
    var time: Int64 = start + day
    let words: String
    let failure: VerificationFailure
    let make: @Sendable () throws -> (identity: CertificateIdentity, trust: [UInt8])
    var testDescription: String { name }
  }

  static func template(_ names: [CertificateTemplate.AlternativeName], key: KeyKind = .p256)
    -> CertificateTemplate
  {
    CertificateTemplate(
      names: names, commonName: "leaf", notBefore: start, notAfter: start + 10 * day, key: key)
  }

  static func makeRoot() throws -> CertificateAuthority {
    try CertificateAuthority(
      CertificateTemplate(
        hosts: [], commonName: "root", notBefore: start - day, notAfter: start + 100 * day))
  }

  static func issued(_ names: [CertificateTemplate.AlternativeName], key: KeyKind = .p256) throws -> (
    CertificateIdentity, [UInt8]
  ) {
    let root = try makeRoot()
    return (try root.issue(template(names, key: key)), root.certificatePEM)
  }

  static func dns(_ text: String) -> CertificateTemplate.AlternativeName { .dns(Array(text.utf8)) }

  static var cases: [Case] {
    [
      Case(
        name: "expired", time: start + 11 * day,
        words: "the certificate expired on 2024-01-11 (subject CN=leaf)",
        failure: .expired(notAfter: start + 10 * day)
      ) { try issued([dns("a.test")]) },
      Case(
        name: "not yet valid", time: start - 60,
        words: "the certificate is not valid before 2024-01-01 (subject CN=leaf)",
        failure: .notYetValid(notBefore: start)
      ) { try issued([dns("a.test")]) },
      Case(
        name: "self-signed", words: "the certificate is self-signed (subject CN=leaf)", failure: .selfSigned
      ) {
        (try CertificateAuthority.selfSigned(template([dns("a.test")])), try makeRoot().certificatePEM)
      },
      Case(
        name: "unknown authority",
        words: "the certificate's authority is not known (subject CN=leaf, issuer CN=root)",
        failure: .unknownAuthority
      ) { (try issued([dns("a.test")]).0, try makeRoot().certificatePEM) },
      Case(
        name: "unknown authority, root sent along",
        words: "the certificate's authority is not known (subject CN=other root, issuer CN=other root)",
        failure: .unknownAuthority
      ) {
        let other = try CertificateAuthority(
          CertificateTemplate(
            hosts: [], commonName: "other root", notBefore: start - day, notAfter: start + 100 * day))
        let leaf = try other.issue(template([dns("a.test")]))
        return (
          CertificateIdentity(
            certificatePEM: leaf.certificatePEM + other.certificatePEM, keyPEM: leaf.keyPEM),
          try makeRoot().certificatePEM
        )
      },
      Case(
        name: "missing intermediate",
        words: "the certificate's authority is not known (subject CN=leaf, issuer CN=middle)",
        failure: .unknownAuthority
      ) {
        let root = try makeRoot()
        let middle = try root.issueAuthority(
          CertificateTemplate(hosts: [], commonName: "middle", notBefore: start, notAfter: start + 50 * day))
        let bare = try CertificateAuthority(certificatePEM: middle.certificatePEM, keyPEM: middle.keyPEM)
        return (try bare.issue(template([dns("a.test")])), root.certificatePEM)
      },
      Case(
        name: "wrong host", host: "c.test", words: "the certificate is for a.test, b.test, not for c.test",
        failure: .wrongHost(expected: "c.test", found: ["a.test", "b.test"])
      ) { try issued([dns("a.test"), dns("b.test")]) },
      Case(
        name: "no names", words: "the certificate names no host, so it is not for a.test",
        failure: .wrongHost(expected: "a.test", found: [])
      ) { try issued([]) },
      Case(
        name: "common name only", host: "leaf", words: "the certificate names no host, so it is not for leaf",
        failure: .wrongHost(expected: "leaf", found: [])
      ) { try issued([]) },
      Case(
        name: "NUL in a name", words: "the certificate is for a.test\\x00.evil.test, not for a.test",
        failure: .wrongHost(expected: "a.test", found: ["a.test\\x00.evil.test"])
      ) { try issued([dns("a.test\0.evil.test")]) },
      Case(
        name: "address as DNS name", host: "127.0.0.1",
        words: "the certificate is for 127.0.0.1, not for 127.0.0.1 (it names that address as a DNS name)",
        failure: .wrongHost(expected: "127.0.0.1", found: ["127.0.0.1"])
      ) { try issued([dns("127.0.0.1")]) },
      Case(name: "revoked", words: "the certificate was revoked (subject CN=leaf)", failure: .revoked) {
        let root = try makeRoot()
        let leaf = try root.issue(template([dns("a.test")]))
        return (leaf, root.certificatePEM + (try root.revocationList(revoking: [leaf], dates: template([]))))
      },
      Case(
        name: "weak key",
        words: "the certificate was refused: EE certificate key too weak (subject CN=leaf)",
        failure: .other(code: 66)
      ) { try issued([dns("a.test")], key: .rsa(bits: 1024)) },
    ]
  }

  @Test("in words", arguments: cases, [TLSContext.Version.tls12, .tls13])
  func refused(row: Case, version: TLSContext.Version) throws {
    let (identity, trust) = try row.make()
    let client = try TLSContext.client(trust: .pem(trust), minimumVersion: version, maximumVersion: version)
    if row.failure != .other(code: 66) {  // OpenSSL lets no server of its own use so weak a key
      for cut in [1, 100, Int.max] {
        let server = try TLSContext.server(certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM)
        let pair = EnginePair(
          client: try TLSEngine(client: client, serverName: row.host, verificationTime: row.time),
          server: try TLSEngine(server: server), cut: cut)
        pair.exchange()
        #expect(pair.clientError?.verification == row.failure)
        #expect(pair.clientError?.reason == row.words)
        #expect(pair.clientError?.code != 0)
        #expect(pair.serverError?.reason.contains("the client") == true, "the alert must reach the server")
        #expect(!pair.client.isEstablished)
        let again = #expect(throws: TLSError.self) { _ = try pair.client.handshake() }
        #expect(again == pair.clientError)
      }
    }
    let error = #expect(throws: TLSError.self) {
      try client.verify(chainPEM: identity.certificatePEM, for: row.host, at: row.time)
    }
    #expect(error?.verification == row.failure)
    #expect(error?.reason == row.words)
  }

  @Test("a list that names another certificate revokes nothing")
  func notRevoked() throws {
    let root = try Self.makeRoot()
    let leaf = try root.issue(Self.template([Self.dns("a.test")]))
    let other = try root.issue(Self.template([Self.dns("b.test")]))
    let list = try root.revocationList(revoking: [other], dates: Self.template([]))
    let client = try TLSContext.client(trust: .pem(root.certificatePEM + list))
    try client.verify(chainPEM: leaf.certificatePEM, for: "a.test", at: Self.start + Self.day)
  }

  @Test("an intermediate authority is followed; a leaf given as trusted is enough")
  func accepted() throws {
    let root = try Self.makeRoot()
    let middle = try root.issueAuthority(
      CertificateTemplate(
        hosts: [], commonName: "middle", notBefore: Self.start, notAfter: Self.start + 50 * Self.day))
    let leaf = try middle.issue(Self.template([Self.dns("a.test")]))
    let time = Self.start + Self.day
    for trust in [root.certificatePEM, middle.certificatePEM, leaf.certificatePEM] {
      try TLSContext.client(trust: .pem(trust)).verify(chainPEM: leaf.certificatePEM, for: "a.test", at: time)
    }
    let own = try CertificateAuthority.selfSigned(Self.template([Self.dns("a.test")]))
    try TLSContext.client(trust: .pem(own.certificatePEM))
      .verify(chainPEM: own.certificatePEM, for: "a.test", at: time)
  }

  @Test("nothing is verified where nothing is trusted")
  func unverified() throws {
    let own = try CertificateAuthority.selfSigned(
      CertificateTemplate(hosts: ["b.test"], notBefore: Self.start, notAfter: Self.start + 1))
    let pair = try makePair(identity: own, trust: TLSContext.Trust.none)
    pair.exchange()
    #expect(pair.client.isEstablished)
    #expect(pair.client.peerCertificate?.names == ["b.test"])
  }
}
