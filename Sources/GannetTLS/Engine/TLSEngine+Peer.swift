internal import COpenSSL

extension TLSEngine {
  /// The version agreed on, as `TLSv1.3`.
  package var negotiatedVersion: String {
    // SAFETY: the answer is a constant string.
    unsafe String(cString: SSL_get_version(connection))
  }

  /// The cipher agreed on, as `TLS_AES_128_GCM_SHA256`; nil before that.
  package var cipher: String? {
    // SAFETY: the answers are constants of the library.
    guard let cipher = unsafe SSL_get_current_cipher(connection) else { return nil }
    return unsafe String(cString: SSL_CIPHER_get_name(cipher))
  }

  /// The protocol that the server selected by ALPN; nil when it selected none.
  package var selectedProtocol: String? {
    var name: UnsafePointer<UInt8>?
    var count: UInt32 = 0
    // SAFETY: the connection lends its bytes, which are copied at once.
    unsafe SSL_get0_alpn_selected(connection, &name, &count)
    guard let name = unsafe name, count > 0 else { return nil }
    return unsafe String(decoding: UnsafeBufferPointer(start: name, count: Int(count)), as: UTF8.self)
  }

  /// The peer's certificate; nil when it gave none or the handshake is not that far.
  package var peerCertificate: CertificateSummary? {
    // SAFETY: the certificate is lent by the connection.
    guard let certificate = unsafe SSL_get0_peer_certificate(connection) else { return nil }
    return unsafe CertificateSummary(certificate)
  }
}

extension ServerName {
  /// Makes a verification demand this name: of the certificate's DNS names or addresses only, never its common
  /// name, and without wildcards inside a label. False when OpenSSL refuses it.
  func require(in parameters: OpaquePointer?) -> Bool {
    // SAFETY: the caller holds the parameters; OpenSSL copies the name.
    unsafe X509_VERIFY_PARAM_set_hostflags(
      parameters, UInt32(X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS | X509_CHECK_FLAG_NEVER_CHECK_SUBJECT))
    switch kind {
    case .dns: return unsafe X509_VERIFY_PARAM_set1_host(parameters, text, text.utf8.count) == 1
    case .address: return unsafe X509_VERIFY_PARAM_set1_ip_asc(parameters, text) == 1
    }
  }
}
