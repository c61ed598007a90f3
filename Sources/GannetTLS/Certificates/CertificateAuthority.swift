internal import COpenSSL

/// An authority that lives in memory and issues certificates: for servers of our own on loopback, and for tests.
package struct CertificateAuthority: Hashable, Sendable {
  /// The authority's own certificate as PEM text: what a client trusts.
  package let certificatePEM: [UInt8]
  /// Its unencrypted private key as PEM text.
  package let keyPEM: [UInt8]
  /// The authorities above it, without the root: what a server sends beside a certificate issued here.
  private let chainPEM: [UInt8]

  /// Makes a root authority. `template.names` are not used.
  package init(
    _ template: CertificateTemplate = CertificateTemplate(hosts: [], commonName: "Gannet authority")
  )
    throws(TLSError)
  {
    let key = try PrivateKey(template.key)
    let builder = try CertificateBuilder(template, key: key)
    try builder.makeAuthority()
    try builder.signItself(with: key)
    certificatePEM = try builder.pem()
    keyPEM = try key.pem()
    chainPEM = []
  }

  /// Takes an authority made before.
  package init(certificatePEM: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
    _ = try CertificateChain(pem: certificatePEM)
    _ = try PrivateKey(pem: keyPEM)
    self.init(certificatePEM, keyPEM, chainPEM: [])
  }

  private init(_ certificatePEM: [UInt8], _ keyPEM: [UInt8], chainPEM: [UInt8]) {
    self.certificatePEM = certificatePEM
    self.keyPEM = keyPEM
    self.chainPEM = chainPEM
  }

  /// Issues a server's certificate.
  package func issue(_ template: CertificateTemplate) throws(TLSError) -> CertificateIdentity {
    let key = try PrivateKey(template.key)
    let builder = try CertificateBuilder(template, key: key)
    try builder.makeServer(template.names)
    try sign(builder)
    return CertificateIdentity(certificatePEM: try builder.pem() + chainPEM, keyPEM: try key.pem())
  }

  /// Issues the certificate of an authority below this one.
  package func issueAuthority(_ template: CertificateTemplate) throws(TLSError) -> CertificateAuthority {
    let key = try PrivateKey(template.key)
    let builder = try CertificateBuilder(template, key: key)
    try builder.makeAuthority()
    try sign(builder)
    let own = try builder.pem()
    return CertificateAuthority(own, try key.pem(), chainPEM: own + chainPEM)
  }

  /// Makes a server's certificate that no authority signed.
  package static func selfSigned(_ template: CertificateTemplate) throws(TLSError) -> CertificateIdentity {
    let key = try PrivateKey(template.key)
    let builder = try CertificateBuilder(template, key: key)
    try builder.makeServer(template.names)
    try builder.signItself(with: key)
    return CertificateIdentity(certificatePEM: try builder.pem(), keyPEM: try key.pem())
  }

  /// A list, as PEM text, of the certificates that this authority takes back; valid as long as `template` says.
  package func revocationList(
    revoking identities: [CertificateIdentity], dates template: CertificateTemplate
  ) throws(TLSError) -> [UInt8] {
    let issuer = try CertificateChain(pem: certificatePEM)
    let key = try PrivateKey(pem: keyPEM)
    let builder = try RevocationListBuilder(issuer: issuer, template)
    for identity in identities {
      try builder.revoke(CertificateChain(pem: identity.certificatePEM), at: template.notBefore)
    }
    try builder.sign(with: key)
    return try builder.pem()
  }

  private func sign(_ builder: borrowing CertificateBuilder) throws(TLSError) {
    let issuer = try CertificateChain(pem: certificatePEM)
    let key = try PrivateKey(pem: keyPEM)
    try builder.sign(as: issuer, with: key)
  }
}
