import GannetTLS
import TestSupport
import Testing

@Suite("vectors: TLS", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct TLSVectorTests {
  /// Host names where we do not do what the suite says, and why.
  static let nameDifferences = [
    "curl/hostcheck/7": "a host that is not ASCII has to come in its A-label form",
    "curl/hostcheck/20": "no host begins with a space",
    "curl/hostcheck/22": "a host is no pattern",
    "curl/hostcheck/25": "a host that is not ASCII has to come in its A-label form",
    "go/matchHostnames/12": "no host has an empty label",
    "go/matchHostnames/23": "a certificate's name with a trailing dot fits nothing (RFC 5280 has none)",
    "go/matchHostnames/27": "OpenSSL takes no wildcard right below a top-level name",
    "go/matchHostnames/28": "no host has a colon, but for an IPv6 address",
  ]

  @Test("host names")
  func names() throws {
    for row in try VectorFile.rows("tls/hostname-match.jsonl") {
      let bytes = try #require(row.latin1("host"))
      let host = String(decoding: bytes, as: UTF8.self)
      let expected: Bool
      var fits = false
      if row.has("valid_input") {
        expected = row.flag("valid_input")
        fits = (try? ServerName(host)) != nil
      } else {
        expected = row.flag("match")
        let template = CertificateTemplate(
          names: [.dns(try #require(row.latin1("pattern")))], commonName: "x")
        fits = (try? HostNameTests.fits(template, host)) ?? false
      }
      #expect((fits == expected) == (Self.nameDifferences[row.id] == nil), "\(row.id): \(fits)")
    }
  }

  /// Chains where we do not do what OpenSSL did with the suite's own flags, and why.
  static let chainDifferences = [
    "pathlen::max-chain-depth-0-exhausted": "the suite's own limit of the chain's length is not set here",
    "webpki::san::wildcard-embedded-leftmost-san": "stricter, as the suite wants: no wildcard inside a label",
    "webpki::san::no-san": "stricter, as the suite wants: the common name is not looked at",
    "webpki::forbidden-weak-rsa-key-in-root":
      "stricter, as the suite wants: the security level holds for keys",
    "webpki::forbidden-weak-rsa-in-leaf": "stricter, as the suite wants: the security level holds for keys",
  ]

  @Test("x509-limbo, as OpenSSL 3.0 decides it")
  func limbo() throws {
    var run = 0
    var right = 0
    for row in try VectorFile.rows("tls/x509-limbo.jsonl") where row.string("validation_kind") == "SERVER" {
      let name = try #require(row.object("expected_peer_name")?["value"])
      let trust = (row.strings("trusted_certs") + row.strings("crls")).joined(separator: "\n")
      let chain = ([row.string("peer_certificate") ?? ""] + row.strings("untrusted_intermediates"))
        .joined(separator: "\n")
      let time = try row.string("validation_time").map { try #require(seconds($0)) } ?? 1_782_864_000
      run += 1
      var error: TLSError?
      do throws(TLSError) {
        try TLSContext.client(trust: .pem(Array(trust.utf8)))
          .verify(chainPEM: Array(chain.utf8), for: name, at: time)
      } catch let failure {
        error = failure
      }
      let accepted = error == nil
      let theirs = row.string("openssl_default") == "SUCCESS"
      #expect(
        (accepted == theirs) == (Self.chainDifferences[row.id] == nil),
        "\(row.id): \(String(describing: error))")
      if accepted == (row.string("expected_result") == "SUCCESS") { right += 1 }
    }
    #expect(run == 115)
    // Where we differ from the suite it is OpenSSL 3.0 that does: docs/CONFORMANCE.md says how.
    #expect(right == 79)
  }

  /// Seconds since 1970 of `2024-01-01T00:00:00+00:00`.
  private func seconds(_ text: String) -> Int64? {
    let numbers = text.prefix(19).split(whereSeparator: { !$0.isNumber }).compactMap { Int64($0) }
    guard numbers.count == 6, text.hasSuffix("+00:00") || text.hasSuffix("Z") else { return nil }
    let (year, month, day) = (numbers[0], numbers[1], numbers[2])
    let shifted = month > 2 ? year : year - 1
    let monthFromMarch = (month + 9) % 12
    let days =
      365 * shifted + shifted / 4 - shifted / 100 + shifted / 400 + (153 * monthFromMarch + 2) / 5 + day - 1
      - 719_468
    return days * 86_400 + numbers[3] * 3600 + numbers[4] * 60 + numbers[5]
  }
}
