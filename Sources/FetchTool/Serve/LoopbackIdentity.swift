import GannetTLS

/// A certificate for this machine's own addresses, made in memory, and the authority to trust for it.
struct LoopbackIdentity {
  /// What a server on loopback uses.
  let context: TLSContext
  /// The authority's certificate as PEM text.
  let authorityPEM: [UInt8]

  init() throws(TLSError) {
    let authority = try CertificateAuthority()
    let identity = try authority.issue(CertificateTemplate(hosts: ["localhost", "127.0.0.1", "::1"]))
    context = try TLSContext.server(certificatePEM: identity.certificatePEM, keyPEM: identity.keyPEM)
    authorityPEM = authority.certificatePEM
  }
}
