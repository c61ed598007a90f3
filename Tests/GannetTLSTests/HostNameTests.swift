import GannetTLS
import TestSupport
import Testing

@Suite("host names")
struct HostNameTests {
  /// A certificate's names, a host, and whether they fit.
  static let cases: [(names: [String], host: String, fits: Bool)] = [
    (["*.google.test", "google.test"], "google.test", true),
    (["*.google.test", "google.test"], "www.google.test", true),
    (["*.a.test"], "x.y.a.test", false),
    (["*.a.test"], "a.test", false),
    (["*.test"], "a.test", false),
    (["*"], "test", false),
    (["f*.a.test"], "foo.a.test", false),
    (["*o.a.test"], "foo.a.test", false),
    (["f*o.a.test"], "foo.a.test", false),
    (["*.*.test"], "a.b.test", false),
    (["a.*.test"], "a.b.test", false),
    (["A.TEST"], "a.test", true),
    (["a.test"], "A.Test", true),
    (["a.test"], "a.test.", true),
    (["a.test."], "a.test", false),
    (["xn--bcher-kva.test"], "xn--bcher-kva.test", true),
    (["x*.a.test"], "xn--bcher-kva.a.test", false),
    (["a_b.test"], "a_b.test", true),
    (["127.0.0.1"], "127.0.0.1", true),
    (["127.0.0.1"], "127.0.0.2", false),
    (["::1"], "[::1]", true),
    (["0:0:0:0:0:0:0:1"], "::1", true),
    (["fe80::1"], "fe80::1%eth0", true),
    (["fe80::1"], "[fe80::1%25eth0]", true),
    (["::ffff:127.0.0.1"], "127.0.0.1", false),
    (["a.test"], "127.0.0.1", false),
  ]

  @Test("table", arguments: cases)
  func table(names: [String], host: String, fits: Bool) throws {
    let template = CertificateTemplate(hosts: names, commonName: host)
    #expect(try Self.fits(template, host) == fits)
  }

  static func fits(_ template: CertificateTemplate, _ host: String) throws(TLSError) -> Bool {
    let identity = try CertificateAuthority.selfSigned(template)
    do {
      try TLSContext.client(trust: .pem(identity.certificatePEM))
        .verify(chainPEM: identity.certificatePEM, for: host)
      return true
    } catch {
      guard case .wrongHost? = error.verification else { throw error }
      return false
    }
  }

  @Test(
    "hosts that no certificate can name",
    arguments: [
      "", ".", ".a.test", "a..test", "a.test..", "*.a.test", " a.test", "a.test\0", "b\u{fc}cher.test",
      "a/b", "[::1", "::1]", "1:2", "foo:bar", String(repeating: "a", count: 64) + ".test", "[a.test]x",
    ])
  func refused(host: String) {
    let error = #expect(throws: TLSError.self) { _ = try ServerName(host) }
    #expect(error?.kind == .configuration)
  }

  @Test(
    "a name is sent, an address is not",
    arguments: [("a.test.", true), ("127.0.0.1", false), ("[::1]", false)])
  func sentName(host: String, isSent: Bool) throws {
    let client = try TLSEngine(client: TLSContext.client(trust: TLSContext.Trust.none), serverName: host)
    _ = try client.handshake()
    var hello: [UInt8] = []
    client.drainCiphertext(into: &hello)
    // Extension 0, a list of one name of type 0 and 6 bytes: `a.test` without its dot.
    let named: [UInt8] = [0, 0, 0, 11, 0, 9, 0, 0, 6] + Array("a.test".utf8) + [0]
    #expect(hello.contains(named) == isSent)
    #expect(!hello.contains(Array("127.0.0.1".utf8)))
  }
}

extension [UInt8] {
  /// Whether `other` lies somewhere in it.
  func contains(_ other: [UInt8]) -> Bool {
    guard other.count <= count else { return false }
    return (0...(count - other.count)).contains { self[$0..<($0 + other.count)].elementsEqual(other) }
  }
}
