internal import COpenSSL

extension TLSContext {
  /// Verifies a server's chain as a handshake with this client's context would: its own certificate first, then the
  /// intermediate ones, as PEM text. `time`, in seconds since 1970, stands in for now. Throws `.verification`; does
  /// nothing for a context that verifies nothing.
  package func verify(chainPEM: [UInt8], for host: String, at time: Int64? = nil) throws(TLSError) {
    let engine = try TLSEngine(client: self, serverName: host, verificationTime: time)
    let chain = try CertificateChain(pem: chainPEM)
    // SAFETY: the verification is freed before the engine, the chain and the context that it refers to.
    guard unsafe SSL_get_verify_mode(engine.connection) != SSL_VERIFY_NONE else { return }
    guard let verification = unsafe X509_STORE_CTX_new() else { throw TLSError.configuration("no memory") }
    defer { unsafe X509_STORE_CTX_free(verification) }
    let store = unsafe SSL_CTX_get_cert_store(handle)
    let place = SSL_get_ex_data_X509_STORE_CTX_idx()
    guard unsafe X509_STORE_CTX_init(verification, store, chain.certificate(at: 0), chain.handle) == 1,
      unsafe X509_STORE_CTX_set_ex_data(verification, place, UnsafeMutableRawPointer(engine.connection)) == 1,
      unsafe X509_STORE_CTX_set_default(verification, "ssl_server") == 1
    else { throw TLSError.configuration("the verification cannot begin") }
    let parameters = unsafe X509_STORE_CTX_get0_param(verification)
    unsafe X509_VERIFY_PARAM_set_auth_level(parameters, SSL_get_security_level(engine.connection))
    unsafe X509_VERIFY_PARAM_set1(parameters, SSL_get0_param(engine.connection))
    unsafe X509_STORE_CTX_set_verify_cb(verification, noteVerification)
    ERR_clear_error()
    guard unsafe X509_verify_cert(verification) != 1 else { return }
    throw engine.failureFromOpenSSL()
  }
}
