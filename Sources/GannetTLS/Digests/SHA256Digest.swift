internal import COpenSSL

/// A SHA-256 digest (FIPS 180-4) of bytes that come in pieces. Use it on one thread at a time.
// SAFETY: the context is private, made in `init`, freed in `deinit`, and lent to nobody.
@safe package final class SHA256Digest {
  private let state: OpaquePointer

  /// Begins a digest. Throws when OpenSSL cannot: no memory, or the algorithm is switched off.
  package init() throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the context is ours alone until `deinit` frees it.
    guard let state = unsafe EVP_MD_CTX_new() else { throw TLSError.configuration("SHA-256 cannot begin") }
    unsafe self.state = state
    try begin()
  }

  deinit {
    // SAFETY: nothing uses the context after this.
    unsafe EVP_MD_CTX_free(state)
  }

  /// Adds bytes.
  package func update(_ bytes: Span<UInt8>) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: OpenSSL reads the span within this closure; the context is ours.
    let result = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(state, $0.baseAddress, $0.count) }
    guard result == 1 else { throw TLSError.configuration("SHA-256 failed") }
  }

  /// Gives the 32 bytes of the digest, and begins the next.
  package func finish() throws(TLSError) -> [UInt8] {
    ERR_clear_error()
    var digest = [UInt8](repeating: 0, count: 32)
    // SAFETY: a SHA-256 digest is 32 bytes, and the array has room for them.
    let result = unsafe digest.withUnsafeMutableBufferPointer {
      unsafe EVP_DigestFinal_ex(state, $0.baseAddress, nil)
    }
    guard result == 1 else { throw TLSError.configuration("SHA-256 failed") }
    try begin()
    return digest
  }

  private func begin() throws(TLSError) {
    // SAFETY: the context is ours; the algorithm is a constant of OpenSSL's.
    guard unsafe EVP_DigestInit_ex(state, EVP_sha256(), nil) == 1 else {
      throw TLSError.configuration("SHA-256 cannot begin")
    }
  }
}
