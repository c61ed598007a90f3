internal import COpenSSL

/// A certificate while it is made. Frees it with itself.
// SAFETY: the certificate is private, owned from `init` to `deinit`, and lent only to OpenSSL's calls.
@safe struct CertificateBuilder: ~Copyable {
  private let certificate: OpaquePointer

  /// A version-3 certificate with the template's subject and dates, a random serial number and `key`'s public half.
  init(_ template: CertificateTemplate, key: borrowing PrivateKey) throws(TLSError) {
    ERR_clear_error()
    // SAFETY: the certificate is ours until `deinit`; its parts are lent.
    guard let certificate = unsafe X509_new() else {
      throw TLSError.configuration("no certificate could be made")
    }
    let name = unsafe X509_get_subject_name(certificate)
    let text = Array(template.commonName.utf8)
    let made =
      unsafe X509_set_version(certificate, 2) == 1
      && ASN1_INTEGER_set_uint64(X509_get_serialNumber(certificate), .random(in: 1...UInt64(Int64.max))) == 1
      && ASN1_TIME_set(X509_getm_notBefore(certificate), Int(template.notBefore)) != nil
      && ASN1_TIME_set(X509_getm_notAfter(certificate), Int(template.notAfter)) != nil
      && (text.isEmpty
        || X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_UTF8, text, Int32(clamping: text.count), -1, 0)
          == 1)
      && X509_set_pubkey(certificate, key.handle) == 1
    guard made else {
      // SAFETY: nothing else refers to the certificate on this way out.
      unsafe X509_free(certificate)
      throw TLSError.configuration("the certificate's fields cannot be set")
    }
    // SAFETY: owned from here until `deinit`.
    unsafe self.certificate = certificate
  }

  // SAFETY: the last use of the certificate.
  deinit { unsafe X509_free(certificate) }

  /// Makes it an authority's.
  func makeAuthority() throws(TLSError) {
    try add(NID_basic_constraints, "critical,CA:TRUE")
    try add(NID_key_usage, "critical,keyCertSign,cRLSign")
    try add(NID_subject_key_identifier, "hash")
  }

  /// Makes it a server's, for `names`.
  func makeServer(_ names: [CertificateTemplate.AlternativeName]) throws(TLSError) {
    try add(NID_basic_constraints, "critical,CA:FALSE")
    try add(NID_key_usage, "critical,digitalSignature")
    try add(NID_ext_key_usage, "serverAuth")
    try add(NID_subject_key_identifier, "hash")
    if !names.isEmpty { try add(names) }
  }

  /// Signs it with its own key.
  func signItself(with key: borrowing PrivateKey) throws(TLSError) {
    // SAFETY: the certificate is ours until `deinit`.
    try unsafe sign(issuer: certificate, with: key)
  }

  /// Signs it with the key of the first certificate of `issuer`.
  func sign(as issuer: borrowing CertificateChain, with key: borrowing PrivateKey) throws(TLSError) {
    // SAFETY: the issuer's certificate is held during the call.
    let authority = unsafe issuer.certificate(at: 0) ?? certificate
    try unsafe addExtension(NID_authority_key_identifier, "keyid", issuer: authority)
    try unsafe sign(issuer: authority, with: key)
  }

  private func sign(issuer: OpaquePointer, with key: borrowing PrivateKey) throws(TLSError) {
    // SAFETY: the caller holds the issuer's certificate.
    let named = unsafe X509_set_issuer_name(certificate, X509_get_subject_name(issuer)) == 1
    guard named, unsafe X509_sign(certificate, key.handle, EVP_sha256()) > 0 else {
      throw TLSError.configuration("the certificate cannot be signed")
    }
  }

  /// The certificate as PEM text.
  func pem() throws(TLSError) -> [UInt8] {
    // SAFETY: the BIO is ours until freed.
    let bio = try unsafe memoryBIO([])
    defer { unsafe BIO_free(bio) }
    guard unsafe PEM_write_bio_X509(bio, certificate) == 1 else {
      throw TLSError.configuration("the certificate cannot be written")
    }
    return unsafe bytes(of: bio)
  }

  private func add(_ number: Int32, _ value: String) throws(TLSError) {
    // SAFETY: the certificate is ours until `deinit`.
    try unsafe addExtension(number, value, issuer: certificate)
  }

  private func addExtension(_ number: Int32, _ value: String, issuer: OpaquePointer) throws(TLSError) {
    // SAFETY: plain storage that X509V3_set_ctx fills.
    var context = unsafe X509V3_CTX()
    // SAFETY: the context only refers to certificates held during this call; the extension is copied, then freed.
    unsafe X509V3_set_ctx(&context, issuer, certificate, nil, nil, 0)
    guard let made = unsafe X509V3_EXT_conf_nid(nil, &context, number, value) else {
      throw TLSError.configuration("the extension \(value) cannot be made")
    }
    defer { unsafe X509_EXTENSION_free(made) }
    guard unsafe X509_add_ext(certificate, made, -1) == 1 else {
      throw TLSError.configuration("the extension \(value) cannot be added")
    }
  }

  private func add(_ names: [CertificateTemplate.AlternativeName]) throws(TLSError) {
    // SAFETY: the list is ours until freed, and owns each name pushed to it.
    guard let list = unsafe gannet_sk_GENERAL_NAME_new_null() else {
      throw TLSError.configuration("no memory")
    }
    defer { unsafe GENERAL_NAMES_free(list) }
    for name in names {
      let made =
        switch name {
        case .dns(let bytes): unsafe CertificateBuilder.dnsName(bytes)
        case .address(let text): unsafe CertificateBuilder.address(text)
        }
      guard let made = unsafe made, unsafe gannet_sk_GENERAL_NAME_push(list, made) > 0 else {
        throw TLSError.configuration("the name \(name) cannot be held")
      }
    }
    let value = unsafe UnsafeMutableRawPointer(list)
    // SAFETY: the certificate and the list are ours; OpenSSL encodes the list and keeps nothing of it.
    guard unsafe X509_add1_ext_i2d(certificate, NID_subject_alt_name, value, 0, UInt(X509V3_ADD_APPEND)) == 1
    else { throw TLSError.configuration("the names cannot be added") }
  }

  private static func dnsName(_ bytes: [UInt8]) -> UnsafeMutablePointer<GENERAL_NAME>? {
    // SAFETY: the string belongs to the name once set; the bytes are copied.
    guard let name = unsafe GENERAL_NAME_new(), let text = unsafe ASN1_IA5STRING_new() else { return nil }
    unsafe ASN1_STRING_set(text, bytes, Int32(clamping: bytes.count))
    unsafe GENERAL_NAME_set0_value(name, GEN_DNS, text)
    return unsafe name
  }

  private static func address(_ text: String) -> UnsafeMutablePointer<GENERAL_NAME>? {
    // SAFETY: the string belongs to the name once set.
    guard let address = unsafe a2i_IPADDRESS(text), let name = unsafe GENERAL_NAME_new() else { return nil }
    unsafe GENERAL_NAME_set0_value(name, GEN_IPADD, address)
    return unsafe name
  }
}
