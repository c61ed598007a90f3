internal import COpenSSL

/// A digest of bytes that come in pieces. Use it on one thread at a time.
// SAFETY: the context is private, made in `init`, freed in `deinit`, and lent to nobody.
@safe package final class MessageDigest {
  /// The functions there are.
  package enum Function: Hashable, Sendable, CaseIterable {
    /// RFC 1321; for old protocols that prescribe it. OpenSSL lacks it where it follows FIPS 140.
    case md5
    /// FIPS 180-4.
    case sha256
    /// FIPS 180-4: SHA-512/256.
    case sha512To256

    fileprivate var name: String {
      switch self {
      case .md5: "MD5"
      case .sha256: "SHA-256"
      case .sha512To256: "SHA-512/256"
      }
    }
  }

  private let function: Function
  private let state: OpaquePointer

  /// Begins a digest. Throws when OpenSSL cannot: no memory, or the function is switched off.
  package init(_ function: Function) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the context is ours alone until `deinit` frees it.
    guard let state = unsafe EVP_MD_CTX_new() else {
      throw TLSError.configuration("\(function.name) cannot begin")
    }
    self.function = function
    unsafe self.state = state
    try begin()
  }

  deinit {
    // SAFETY: nothing uses the context after this.
    unsafe EVP_MD_CTX_free(state)
  }

  /// The digest of these bytes. Throws when OpenSSL cannot make it.
  package static func digest(of bytes: Span<UInt8>, _ function: Function) throws(TLSError) -> [UInt8] {
    let digest = try MessageDigest(function)
    try digest.update(bytes)
    return try digest.finish()
  }

  /// Adds bytes.
  package func update(_ bytes: Span<UInt8>) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: OpenSSL reads the span within this closure; the context is ours.
    let result = unsafe bytes.withUnsafeBytes { unsafe EVP_DigestUpdate(state, $0.baseAddress, $0.count) }
    guard result == 1 else { throw TLSError.configuration("\(function.name) failed") }
  }

  /// Gives the bytes of the digest, and begins the next.
  package func finish() throws(TLSError) -> [UInt8] {
    ERR_clear_error()
    var digest = [UInt8](repeating: 0, count: function == .md5 ? 16 : 32)
    // SAFETY: the array has room for the function's digest.
    let result = unsafe digest.withUnsafeMutableBufferPointer {
      unsafe EVP_DigestFinal_ex(state, $0.baseAddress, nil)
    }
    guard result == 1 else { throw TLSError.configuration("\(function.name) failed") }
    try begin()
    return digest
  }

  private func begin() throws(TLSError) {
    // SAFETY: the context is ours; the function is a constant of OpenSSL's.
    let result =
      switch function {
      case .md5: unsafe EVP_DigestInit_ex(state, EVP_md5(), nil)
      case .sha256: unsafe EVP_DigestInit_ex(state, EVP_sha256(), nil)
      case .sha512To256: unsafe EVP_DigestInit_ex(state, EVP_sha512_256(), nil)
      }
    guard result == 1 else { throw TLSError.configuration("\(function.name) cannot begin") }
  }
}
