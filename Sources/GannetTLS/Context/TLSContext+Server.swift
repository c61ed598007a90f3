internal import COpenSSL

extension TLSContext {
  /// Whether a server asks its clients for a certificate.
  package enum ClientCertificate: Hashable, Sendable {
    case notAsked, optional, required
  }

  /// A server's context. `certificatePEM` holds the server's certificate first, then the intermediate ones;
  /// `keyPEM` its private key. It selects `http/1.1` by ALPN where a client offers it, or `forcedProtocol`
  /// whatever the client offers (which is wrong, so that a client can be tried against it).
  package static func server(
    certificatePEM: [UInt8], keyPEM: [UInt8], minimumVersion: Version = .tls12,
    maximumVersion: Version = .tls13, clientCertificate: ClientCertificate = .notAsked,
    forcedProtocol: String? = nil
  ) throws(TLSError) -> TLSContext {
    guard minimumVersion <= maximumVersion else {
      throw TLSError(.configuration, "the lowest version of TLS is above the highest")
    }
    let context = try TLSContext(
      server: true, versions: minimumVersion...maximumVersion, forcing: forcedProtocol)
    try context.useCertificate(pem: certificatePEM, keyPEM: keyPEM)
    switch clientCertificate {
    case .notAsked: break
    // SAFETY: the context is not shared yet.
    case .optional: unsafe SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, noteVerification)
    case .required:
      unsafe SSL_CTX_set_verify(
        context.handle, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, noteVerification)
    }
    return context
  }

  private func useCertificate(pem: [UInt8], keyPEM: [UInt8]) throws(TLSError) {
    ERR_clear_error()
    let chain = try CertificateChain(pem: pem)
    let key = try PrivateKey(pem: keyPEM)
    // SAFETY: the context is not shared yet, and takes references of its own.
    for index in 0..<chain.count {
      let added =
        index == 0
        ? unsafe SSL_CTX_use_certificate(handle, chain.certificate(at: 0)) == 1
        : unsafe gannet_SSL_CTX_add1_chain_cert(handle, chain.certificate(at: index)) == 1
      guard added else {
        throw TLSError.configuration("certificate \(index + 1) of the chain cannot be used")
      }
    }
    guard unsafe SSL_CTX_use_PrivateKey(handle, key.handle) == 1 else {
      throw TLSError.configuration("the private key does not fit the certificate")
    }
  }
}
