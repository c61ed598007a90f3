import GannetTLS
import TestSupport
import Testing

/// The scenarios of badssl.com that need no network, remade with certificates of our own.
@Suite("TLS scenarios", .longWork)
struct ScenarioTests {
  /// What a server shows and whether it is taken.
  struct Case: CustomTestStringConvertible {
    let name: String
    let isAccepted: Bool
    let make: @Sendable (CertificateAuthority) throws -> CertificateIdentity
    var testDescription: String { name }
  }

  static func hosts(_ count: Int) -> [String] { ["a.test"] + (1..<count).map { "subdomain\($0).a.test" } }

  static let cases: [Case] = [
    Case(name: "no common name", isAccepted: true) {
      try $0.issue(CertificateTemplate(hosts: ["a.test"], commonName: ""))
    },
    Case(name: "1000 names", isAccepted: true) { try $0.issue(CertificateTemplate(hosts: hosts(1000))) },
    // OpenSSL reads at most 100 KiB of certificates, which bounds what a server can make a client hold.
    Case(name: "10000 names", isAccepted: false) { try $0.issue(CertificateTemplate(hosts: hosts(10_000))) },
    Case(name: "RSA 2048", isAccepted: true) {
      try $0.issue(CertificateTemplate(hosts: ["a.test"], key: .rsa(bits: 2048)))
    },
    Case(name: "RSA 4096", isAccepted: true) {
      try $0.issue(CertificateTemplate(hosts: ["a.test"], key: .rsa(bits: 4096)))
    },
    Case(name: "chain in the wrong order", isAccepted: true) { root in
      let middle = try root.issueAuthority(CertificateTemplate(hosts: [], commonName: "middle"))
      let lower = try middle.issueAuthority(CertificateTemplate(hosts: [], commonName: "lower"))
      let bare = try CertificateAuthority(certificatePEM: lower.certificatePEM, keyPEM: lower.keyPEM)
      let leaf = try bare.issue(CertificateTemplate(hosts: ["a.test"]))
      return CertificateIdentity(
        certificatePEM: leaf.certificatePEM + middle.certificatePEM + lower.certificatePEM,
        keyPEM: leaf.keyPEM)
    },
    // A missing intermediate certificate is not fetched (AIA): that would be a load of its own, in plain HTTP.
    Case(name: "incomplete chain", isAccepted: false) { root in
      let middle = try root.issueAuthority(CertificateTemplate(hosts: [], commonName: "middle"))
      return try CertificateAuthority(certificatePEM: middle.certificatePEM, keyPEM: middle.keyPEM)
        .issue(CertificateTemplate(hosts: ["a.test"]))
    },
  ]

  @Test("with a trusted root", arguments: cases, [TLSContext.Version.tls12, .tls13])
  func scenario(row: Case, version: TLSContext.Version) throws {
    let root = try CertificateAuthority()
    let pair = try makePair(
      versions: version...version, identity: row.make(root), trust: .pem(root.certificatePEM))
    pair.exchange()
    #expect(pair.client.isEstablished == row.isAccepted, "\(String(describing: pair.clientError))")
  }
}
