internal import COpenSSL

/// What a person wants to know of a certificate.
package struct CertificateSummary: Hashable, Sendable {
  /// The subject, as `CN=a.test,O=Example`.
  package let subject: String
  /// The issuer, in the same form.
  package let issuer: String
  /// The DNS names and addresses it is for, in its order.
  package let names: [String]
  /// First moment of validity, in seconds since 1970.
  package let notBefore: Int64
  /// Last moment of validity, in seconds since 1970.
  package let notAfter: Int64
}

extension CertificateSummary {
  /// Reads a certificate; what cannot be read is left empty, since this is for words only.
  init(_ certificate: OpaquePointer) {
    // SAFETY: the caller holds the certificate during this call; the getters lend its parts.
    unsafe subject = CertificateSummary.text(of: X509_get_subject_name(certificate))
    unsafe issuer = CertificateSummary.text(of: X509_get_issuer_name(certificate))
    unsafe names = CertificateSummary.alternativeNames(of: certificate)
    unsafe notBefore = CertificateSummary.seconds(X509_get0_notBefore(certificate))
    unsafe notAfter = CertificateSummary.seconds(X509_get0_notAfter(certificate))
  }

  private static func text(of name: OpaquePointer?) -> String {
    // SAFETY: the BIO is ours until freed; its bytes are copied before that.
    guard let name = unsafe name, let bio = unsafe BIO_new(BIO_s_mem()) else { return "" }
    defer { unsafe BIO_free(bio) }
    guard unsafe X509_NAME_print_ex(bio, name, 0, gannet_XN_FLAG_READABLE()) >= 0 else { return "" }
    return unsafe String(decoding: bytes(of: bio), as: UTF8.self)
  }

  /// Days and seconds from 1970 are exact for any ASN.1 time; nothing else reads both its forms without a `tm`.
  private static func seconds(_ time: UnsafePointer<ASN1_TIME>?) -> Int64 {
    // SAFETY: the epoch is ours until freed; `time` is lent by the certificate.
    guard let epoch = unsafe ASN1_TIME_set(nil, 0) else { return 0 }
    defer { unsafe ASN1_STRING_free(epoch) }
    var days: Int32 = 0
    var seconds: Int32 = 0
    guard unsafe ASN1_TIME_diff(&days, &seconds, epoch, time) == 1 else { return 0 }
    return Int64(days) * 86400 + Int64(seconds)
  }

  private static func alternativeNames(of certificate: OpaquePointer) -> [String] {
    // SAFETY: the decoded extension is ours until freed; its names are copied before that.
    guard let extensionValue = unsafe X509_get_ext_d2i(certificate, NID_subject_alt_name, nil, nil) else {
      return []
    }
    let list = OpaquePointer(extensionValue)
    defer { unsafe GENERAL_NAMES_free(list) }
    var names: [String] = []
    for index in 0..<max(0, unsafe gannet_sk_GENERAL_NAME_num(list)) {
      guard let name = unsafe gannet_sk_GENERAL_NAME_value(list, index) else { continue }
      if let text = unsafe text(of: name) { names.append(text) }
    }
    return names
  }

  private static func text(of name: UnsafeMutablePointer<GENERAL_NAME>) -> String? {
    var type: Int32 = 0
    // SAFETY: the value belongs to `name`, which the caller holds; both kinds read here are ASN.1 strings.
    guard let value = unsafe GENERAL_NAME_get0_value(name, &type) else { return nil }
    guard type == GEN_DNS || type == GEN_IPADD else { return nil }
    let string = unsafe value.assumingMemoryBound(to: ASN1_STRING.self)
    let count = Int(unsafe ASN1_STRING_length(string))
    let bytes = unsafe UnsafeBufferPointer(start: ASN1_STRING_get0_data(string), count: max(0, count))
    if type == GEN_DNS { return unsafe printable(bytes) }
    return unsafe addressText(bytes)
  }

  /// Bytes that are not printable ASCII are shown as `\xNN`: a NUL in a name is an attack, and must be seen.
  private static func printable(_ bytes: UnsafeBufferPointer<UInt8>) -> String {
    var text = ""
    for index in bytes.indices {
      // SAFETY: the index is one of the buffer's.
      let byte = unsafe bytes[index]
      if 0x21...0x7e ~= byte {
        text.unicodeScalars.append(Unicode.Scalar(byte))
      } else {
        text += "\\x" + (byte < 16 ? "0" : "") + String(byte, radix: 16)
      }
    }
    return text
  }

  private static func addressText(_ bytes: UnsafeBufferPointer<UInt8>) -> String? {
    // SAFETY: the caller holds the bytes; the count is checked before each use.
    if bytes.count == 4 { return unsafe bytes.map { String($0) }.joined(separator: ".") }
    guard bytes.count == 16 else { return nil }
    let groups = (0..<8).map { unsafe UInt16(bytes[2 * $0]) << 8 | UInt16(bytes[2 * $0 + 1]) }
    return compressed(groups)
  }

  /// IPv6 text with its longest run of zeros left out (RFC 5952 section 4).
  private static func compressed(_ groups: [UInt16]) -> String {
    var best = 0..<0
    var start = 0
    while start < groups.count {
      var end = start
      while end < groups.count, groups[end] == 0 { end += 1 }
      if end - start > best.count { best = start..<end }
      start = max(end, start + 1)
    }
    let text = groups.map { String($0, radix: 16) }
    guard best.count > 1 else { return text.joined(separator: ":") }
    return text[..<best.lowerBound].joined(separator: ":") + "::"
      + text[best.upperBound...].joined(separator: ":")
  }
}

/// A copy of what lies in a memory BIO.
func bytes(of bio: OpaquePointer) -> [UInt8] {
  var data: UnsafeMutablePointer<CChar>?
  // SAFETY: the BIO lends its bytes until it changes; they are copied at once.
  let count = unsafe gannet_BIO_get_mem_data(bio, &data)
  guard let data = unsafe data, count > 0 else { return [] }
  return unsafe [UInt8](UnsafeRawBufferPointer(start: data, count: count))
}
