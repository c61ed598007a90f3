package import GannetTLS

/// A certificate for this machine's own addresses, made in memory, and the authority to trust for it.
package struct LoopbackIdentity {
  /// What a server on loopback uses.
  package let context: TLSContext
  /// The authority's certificate as PEM text.
  package let authorityPEM: [UInt8]

  /// Makes both.
  package init() throws(TLSError) {
    let authority = try CertificateAuthority()
    let identity = try authority.issue(CertificateTemplate(hosts: ["localhost", "127.0.0.1", "::1"]))
    context = try TLSContext.server(certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM)
    authorityPEM = authority.certificatePEM
  }
}
