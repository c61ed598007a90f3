internal import COpenSSL

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Musl
#endif

/// What a certificate that is made here says.
package struct CertificateTemplate: Hashable, Sendable {
  /// A name that a certificate is for.
  package enum AlternativeName: Hashable, Sendable {
    /// A DNS name, byte for byte: it may be wrong on purpose.
    case dns([UInt8])
    /// An IPv4 or IPv6 address in text.
    case address(String)

    /// The address when `text` is one, else the DNS name.
    package init(_ text: String) {
      if let name = try? ServerName(text), name.kind == .address {
        self = .address(name.text)
      } else {
        self = .dns(Array(text.utf8))
      }
    }
  }

  /// The subject's common name; no client compares it with a host any more.
  package var commonName: String
  /// The names it is for.
  package var names: [AlternativeName]
  /// First moment of validity, in seconds since 1970.
  package var notBefore: Int64
  /// Last moment of validity, in seconds since 1970.
  package var notAfter: Int64
  /// Its key.
  package var key: KeyKind

  /// A certificate for `hosts`, DNS names and addresses, named after the first of them. Without dates it is valid
  /// from a day ago for 30 days, so that no clock a little behind refuses it.
  package init(
    hosts: [String], commonName: String? = nil, notBefore: Int64? = nil, notAfter: Int64? = nil,
    key: KeyKind = .p256
  ) {
    self.init(
      names: hosts.map { AlternativeName($0) }, commonName: commonName ?? hosts.first ?? "Gannet",
      notBefore: notBefore, notAfter: notAfter, key: key)
  }

  /// The same, with each name's kind given.
  package init(
    names: [AlternativeName], commonName: String, notBefore: Int64? = nil, notAfter: Int64? = nil,
    key: KeyKind = .p256
  ) {
    let now = Int64(time(nil))
    self.commonName = commonName
    self.names = names
    self.notBefore = notBefore ?? now - 86_400
    self.notAfter = notAfter ?? now + 30 * 86_400
    self.key = key
  }
}

/// A certificate with what its owner needs to prove it.
package struct CertificateIdentity: Hashable, Sendable {
  /// The certificate, then the intermediate ones up to but without the root, as PEM text.
  package let certificatePEM: [UInt8]
  /// The unencrypted private key as PEM text.
  package let keyPEM: [UInt8]

  /// Joins a certificate chain and its key.
  package init(certificatePEM: [UInt8], keyPEM: [UInt8]) {
    self.certificatePEM = certificatePEM
    self.keyPEM = keyPEM
  }
}
