internal import COpenSSL

/// Certificates read from PEM text, in its order. Frees them with itself.
// SAFETY: the stack is private to this module, owned from `init` to `deinit`; a lent certificate is used while it lives.
@safe struct CertificateChain: ~Copyable {
  /// A `STACK_OF(X509)`.
  let handle: OpaquePointer

  /// Reads every certificate; throws when there is none, or one is damaged.
  init(pem: [UInt8]) throws(TLSError) {
    // SAFETY: the BIO is ours until freed.
    let bio = try unsafe memoryBIO(pem)
    // SAFETY: the BIO and the stack are ours; a pushed certificate belongs to the stack.
    defer { unsafe BIO_free(bio) }
    guard let stack = unsafe gannet_sk_X509_new_null() else { throw TLSError.configuration("no memory") }
    while let certificate = unsafe PEM_read_bio_X509(bio, nil, nil, nil) {
      guard unsafe gannet_sk_X509_push(stack, certificate) > 0 else {
        unsafe X509_free(certificate)
        break
      }
    }
    let code = ERR_peek_last_error()
    let endedCleanly = code & 0x7f_ffff == UInt(PEM_R_NO_START_LINE)
    guard unsafe gannet_sk_X509_num(stack) > 0, endedCleanly else {
      unsafe gannet_sk_X509_pop_free(stack)
      throw TLSError.configuration("no certificate could be read from the PEM text")
    }
    ERR_clear_error()
    // SAFETY: owned from here until `deinit`.
    unsafe handle = stack
  }

  /// How many there are; at least one.
  // SAFETY: the stack is ours until `deinit`.
  var count: Int { Int(unsafe gannet_sk_X509_num(handle)) }

  /// The certificate at `index`, lent.
  func certificate(at index: Int) -> OpaquePointer? {
    // SAFETY: the stack answers nil for a place it does not have.
    unsafe gannet_sk_X509_value(handle, Int32(clamping: index))
  }

  // SAFETY: the last use of the stack.
  deinit { unsafe gannet_sk_X509_pop_free(handle) }
}

/// A private key. Frees it with itself.
// SAFETY: the key is private to this module, owned from `init` to `deinit`.
@safe struct PrivateKey: ~Copyable {
  /// An `EVP_PKEY`.
  let handle: OpaquePointer

  /// Reads an unencrypted key.
  init(pem: [UInt8]) throws(TLSError) {
    // SAFETY: the BIO is ours until freed.
    let bio = try unsafe memoryBIO(pem)
    // SAFETY: the BIO is ours until freed; so is the key, until `deinit`. An encrypted key is refused: the
    // callback gives no password, where OpenSSL's own would ask on the terminal.
    defer { unsafe BIO_free(bio) }
    guard let key = unsafe PEM_read_bio_PrivateKey(bio, nil, { _, _, _, _ in -1 }, nil) else {
      throw TLSError.configuration("no private key could be read from the PEM text")
    }
    unsafe handle = key
  }

  /// Makes a key.
  init(_ kind: KeyKind) throws(TLSError) {
    // SAFETY: the key is ours until `deinit`.
    let made =
      switch kind {
      case .p256: unsafe gannet_EVP_EC_gen("P-256")
      case .rsa(let bits): unsafe gannet_EVP_RSA_gen(UInt32(clamping: bits))
      }
    guard let key = unsafe made else { throw TLSError.configuration("no key could be made") }
    unsafe handle = key
  }

  /// The key as unencrypted PEM text.
  func pem() throws(TLSError) -> [UInt8] {
    // SAFETY: the BIO is ours until freed.
    let bio = try unsafe memoryBIO([])
    defer { unsafe BIO_free(bio) }
    guard unsafe PEM_write_bio_PrivateKey(bio, handle, nil, nil, 0, nil, nil) == 1 else {
      throw TLSError.configuration("the key could not be written")
    }
    return unsafe bytes(of: bio)
  }

  // SAFETY: the last use of the key.
  deinit { unsafe EVP_PKEY_free(handle) }
}

/// Which key a certificate made here has.
package enum KeyKind: Hashable, Sendable {
  /// The curve that every client takes.
  case p256
  /// RSA of so many bits; below 2048 a client refuses it.
  case rsa(bits: Int)
}
