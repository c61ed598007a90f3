internal import COpenSSL
internal import Synchronization

extension TLSContext {
  /// What makes one client context different from another.
  private struct Configuration: Hashable {
    let trust: Trust
    let versions: ClosedRange<Version>
  }

  /// Contexts in use, so that a second load does not read the trust store again. The lock is held while a store
  /// is read: a second thread that wants it waits instead of reading it too.
  private static let store = Mutex<[Configuration: TLSContext]>([:])
  /// Contexts kept at most; past that the store is emptied (engines keep theirs alive).
  private static let storedContexts = 64

  /// A client's context for `trust`: the stored one, or a new one. Throws `.configuration`, naming the paths
  /// tried, when no trusted authority could be read.
  package static func client(
    trust: Trust, minimumVersion: Version = .tls12, maximumVersion: Version = .tls13
  ) throws(TLSError) -> TLSContext {
    guard minimumVersion <= maximumVersion else {
      throw TLSError(.configuration, "the lowest version of TLS is above the highest")
    }
    let configuration = Configuration(trust: trust, versions: minimumVersion...maximumVersion)
    let result = store.withLock {
      (contexts: inout sending [Configuration: TLSContext]) -> Result<TLSContext, TLSError> in
      if let context = contexts[configuration] { return .success(context) }
      return Result { () throws(TLSError) in try makeClient(configuration) }.map { context in
        if contexts.count >= storedContexts { contexts = [:] }
        contexts[configuration] = context
        return context
      }
    }
    return try result.get()
  }

  private static func makeClient(_ configuration: Configuration) throws(TLSError) -> TLSContext {
    let context = try TLSContext(server: false, versions: configuration.versions)
    // SAFETY: the context is not shared yet, so it may still be configured.
    unsafe SSL_CTX_set_client_cert_cb(context.handle, noteCertificateRequest)
    guard configuration.trust != .none else {
      unsafe SSL_CTX_set_verify(context.handle, SSL_VERIFY_NONE, nil)
      return context
    }
    unsafe SSL_CTX_set_verify(context.handle, SSL_VERIFY_PEER, noteVerification)
    // Any certificate that was given as trusted ends a chain, also one that is not self-signed.
    unsafe X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(context.handle), UInt(X509_V_FLAG_PARTIAL_CHAIN))
    try context.loadTrust(configuration.trust)
    return context
  }
}

/// Remembers that the server asked for a certificate; none is given.
private let noteCertificateRequest:
  @convention(c) (
    OpaquePointer?, UnsafeMutablePointer<OpaquePointer?>?, UnsafeMutablePointer<OpaquePointer?>?
  ) -> Int32 = { connection, _, _ in
    // SAFETY: OpenSSL calls this within a call of the engine, which owns the connection and its wire.
    if let connection = unsafe connection, let wire = unsafe Wire.of(connection) {
      unsafe wire.pointee.certificateRequested = true
    }
    return 0
  }

/// Keeps the first failure of a verification, with the certificate it was about, while OpenSSL still has it.
let noteVerification: SSL_verify_cb = { succeeded, verification in
  // SAFETY: OpenSSL calls this within a call of the engine, and lends the certificate.
  guard succeeded == 0, let verification = unsafe verification else { return succeeded }
  let place = SSL_get_ex_data_X509_STORE_CTX_idx()
  guard let connection = unsafe X509_STORE_CTX_get_ex_data(verification, place),
    let wire = unsafe Wire.of(OpaquePointer(connection)), unsafe wire.pointee.refusal == nil
  else { return 0 }
  let code = unsafe X509_STORE_CTX_get_error(verification)
  let certificate =
    unsafe X509_STORE_CTX_get_current_cert(verification) ?? X509_STORE_CTX_get0_cert(verification)
  if let certificate = unsafe certificate {
    unsafe wire.pointee.refusal = (code, CertificateSummary(certificate))
  }
  return 0
}
