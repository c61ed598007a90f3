internal import COpenSSL

/// A revocation list while it is made. Frees it with itself.
// SAFETY: the list is private, owned from `init` to `deinit`, and lent only to OpenSSL's calls.
@safe struct RevocationListBuilder: ~Copyable {
  private let list: OpaquePointer

  /// An empty list of `issuer`'s with the template's dates.
  init(issuer: borrowing CertificateChain, _ template: CertificateTemplate) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the list is ours until `deinit`; the dates are copied, then freed.
    guard let list = unsafe X509_CRL_new(), let from = unsafe ASN1_TIME_set(nil, Int(template.notBefore)),
      let until = unsafe ASN1_TIME_set(nil, Int(template.notAfter))
    else { throw TLSError.configuration("no revocation list could be made") }
    defer {
      unsafe ASN1_STRING_free(from)
      unsafe ASN1_STRING_free(until)
    }
    let made =
      unsafe X509_CRL_set_version(list, 1) == 1
      && X509_CRL_set_issuer_name(list, X509_get_subject_name(issuer.certificate(at: 0))) == 1
      && X509_CRL_set1_lastUpdate(list, from) == 1 && X509_CRL_set1_nextUpdate(list, until) == 1
    guard made else {
      unsafe X509_CRL_free(list)
      throw TLSError.configuration("the revocation list's fields cannot be set")
    }
    // SAFETY: owned from here until `deinit`.
    unsafe self.list = list
  }

  // SAFETY: the last use of the list.
  deinit { unsafe X509_CRL_free(list) }

  /// Takes back the first certificate of `chain`.
  func revoke(_ chain: consuming CertificateChain, at seconds: Int64) throws(TLSError) {
    // SAFETY: the entry belongs to the list once added; the date is copied, then freed.
    guard let entry = unsafe X509_REVOKED_new(), let date = unsafe ASN1_TIME_set(nil, Int(seconds)) else {
      throw TLSError.configuration("no memory")
    }
    defer { unsafe ASN1_STRING_free(date) }
    let added =
      unsafe X509_REVOKED_set_serialNumber(entry, X509_get_serialNumber(chain.certificate(at: 0))) == 1
      && X509_REVOKED_set_revocationDate(entry, date) == 1 && X509_CRL_add0_revoked(list, entry) == 1
    guard added else {
      unsafe X509_REVOKED_free(entry)
      throw TLSError.configuration("the certificate cannot be revoked")
    }
  }

  /// Signs the list.
  func sign(with key: borrowing PrivateKey) throws(TLSError) {
    // SAFETY: the list and the key are ours.
    unsafe X509_CRL_sort(list)
    guard unsafe X509_CRL_sign(list, key.handle, EVP_sha256()) > 0 else {
      throw TLSError.configuration("the revocation list cannot be signed")
    }
  }

  /// The list as PEM text.
  func pem() throws(TLSError) -> [UInt8] {
    // SAFETY: the BIO is ours until freed.
    let bio = try unsafe memoryBIO([])
    defer { unsafe BIO_free(bio) }
    guard unsafe PEM_write_bio_X509_CRL(bio, list) == 1 else {
      throw TLSError.configuration("the revocation list cannot be written")
    }
    return unsafe bytes(of: bio)
  }
}
