import Foundation
import GannetTLS
import Testing

@Suite("trust")
struct TrustTests {
  @Test("one configuration, one context")
  func shared() throws {
    let pem = try CertificateAuthority().certificatePEM
    let first = try TLSContext.client(trust: .pem(pem))
    #expect(try TLSContext.client(trust: .pem(pem)) === first)
    #expect(try TLSContext.client(trust: .pem(pem), minimumVersion: .tls13) !== first)
    #expect(try TLSContext.client(trust: TLSContext.Trust.none) !== first)
  }

  @Test("many configurations do not pile up")
  func bounded() throws {
    let pem = try CertificateAuthority().certificatePEM
    weak var first: TLSContext?
    for count in 0..<70 {
      let context = try TLSContext.client(trust: .pem(pem + [UInt8](repeating: 10, count: count)))
      if count == 0 { first = context }
    }
    #expect(first == nil)
  }

  /// A trust that cannot be read, and the sentence it ends in.
  static let unreadable: [(trust: TLSContext.Trust, words: String)] = [
    (
      .file("/nowhere/ca.pem"),
      "no trusted certificates: the file /nowhere/ca.pem cannot be read: No such file or directory"
    ),
    (.file("/dev/null\0.pem"), "no trusted certificates: there is a NUL in the path /dev/null"),
    (.directory("/\0certs"), "no trusted certificates: there is a NUL in the path /"),
    (.directory("/nowhere/certs"), "no trusted certificates: the directory /nowhere/certs cannot be read"),
    (.pem([]), "there is no certificate in the PEM text given"),
    (.pem(Array("hello".utf8)), "there is no certificate in the PEM text given"),
    (.file("/dev/null"), "there is no certificate in the file /dev/null"),
    (
      .pem(Array("-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n".utf8)),
      "no trusted certificates could be read from the PEM text given"
    ),
  ]

  @Test("what cannot be read is named", arguments: unreadable)
  func missing(row: (trust: TLSContext.Trust, words: String)) {
    let error = #expect(throws: TLSError.self) { _ = try TLSContext.client(trust: row.trust) }
    #expect(error?.kind == .configuration)
    #expect(error?.reason.hasPrefix(row.words) == true)
  }

  @Test("an impossible range of versions")
  func versions() {
    #expect(throws: TLSError.self) {
      _ = try TLSContext.client(trust: .none, minimumVersion: .tls13, maximumVersion: .tls12)
    }
  }

  @Test("a server's certificate and key must fit and be there")
  func serverIdentity() throws {
    let one = try TestIdentity.server.get()
    let other = try CertificateAuthority().issue(CertificateTemplate(hosts: ["b.test"]))
    let cases: [(certificate: [UInt8], key: [UInt8], words: String)] = [
      (one.certificatePEM, other.keyPEM, "the private key does not fit the certificate"),
      ([], one.keyPEM, "no certificate could be read from the PEM text"),
      (one.certificatePEM, [], "no private key could be read from the PEM text"),
      (one.certificatePEM, one.certificatePEM, "no private key could be read from the PEM text"),
    ]
    for row in cases {
      let error = #expect(throws: TLSError.self) {
        _ = try TLSContext.server(certificatePEM: row.certificate, keyPEM: row.key)
      }
      #expect(error?.reason.hasPrefix(row.words) == true)
    }
  }

  @Test("a context is for one side only")
  func sides() throws {
    let identity = try TestIdentity.server.get()
    let server = try TLSContext.server(certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM)
    #expect(throws: TLSError.self) { _ = try TLSEngine(client: server, serverName: "a.test") }
    #expect(throws: TLSError.self) {
      _ = try TLSEngine(server: TLSContext.client(trust: TLSContext.Trust.none))
    }
  }

  @Test("an authority goes through PEM text and issues as before")
  func authorityAgain() throws {
    let first = try CertificateAuthority()
    let again = try CertificateAuthority(certificatePEM: first.certificatePEM, keyPEM: first.keyPEM)
    let leaf = try again.issue(CertificateTemplate(hosts: ["a.test"]))
    try TLSContext.client(trust: .pem(first.certificatePEM)).verify(
      chainPEM: leaf.certificatePEM, for: "a.test")
    #expect(throws: TLSError.self) { _ = try CertificateAuthority(certificatePEM: [], keyPEM: first.keyPEM) }
  }

  /// Sanitizers keep freed memory.
  private static let isSanitized = unsafe dlsym(nil, "__asan_init") != nil || dlsym(nil, "__tsan_init") != nil

  @Test("many connections leave nothing behind", .disabled(if: isSanitized, "a sanitizer holds freed memory"))
  func leaks() async {
    // In a process of its own: what is resident is the whole process's.
    await #expect(processExitsWith: .success) {
      try Self.connections(50)
      let before = try Self.residentPages()
      try Self.connections(600)
      // A pair holds some 100 KB, so that 600 kept would be 60 MB.
      #expect(try Self.residentPages() - before < 5000)
    }
  }

  private static func connections(_ count: Int) throws {
    for index in 0..<count {
      let pair = try makePair(
        host: index % 3 == 0 ? "wrong.test" : "a.test",
        clientCertificate: index % 3 == 1 ? .required : .notAsked)
      pair.exchange()
      if index % 3 == 2 {
        try pair.client.write([UInt8](repeating: 1, count: 1000))
        pair.move(from: pair.client, to: pair.server)
        #expect(try pair.server.readAll().bytes.count == 1000)
      }
    }
  }

  private static func residentPages() throws -> Int {
    let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
    return try #require(Int(text.split(separator: " ")[1]))
  }

  @Test("one context on many threads")
  func threads() async throws {
    let done = try await withThrowingTaskGroup(of: Int.self) { group in
      for _ in 0..<4 {
        group.addTask {
          var done = 0
          for _ in 0..<20 {
            let pair = try makePair()
            pair.exchange()
            if pair.client.isEstablished { done += 1 }
          }
          return done
        }
      }
      return try await group.reduce(0, +)
    }
    #expect(done == 80)
  }
}
