internal import COpenSSL

/// Why a peer's certificate was refused (RFC 5280 section 6, RFC 9110 section 4.3.4).
package enum VerificationFailure: Hashable, Sendable {
  /// A certificate's last day is over; when it ended, in seconds since 1970.
  case expired(notAfter: Int64)
  /// A certificate's first day is still to come, in seconds since 1970.
  case notYetValid(notBefore: Int64)
  /// The peer's only certificate is signed by itself and is not among the trusted ones.
  case selfSigned
  /// No trusted authority was found for the chain.
  case unknownAuthority
  /// The certificate is for other names: the one expected, and those found.
  case wrongHost(expected: String, found: [String])
  /// The authority has revoked the certificate.
  case revoked
  /// Anything else, by OpenSSL's `X509_V_ERR_…` number.
  case other(code: Int32)
}

extension VerificationFailure {
  /// What OpenSSL's verification result means, for the certificate it was about.
  init(code: Int32, certificate: CertificateSummary, expecting name: ServerName?) {
    switch code {
    case X509_V_ERR_CERT_HAS_EXPIRED: self = .expired(notAfter: certificate.notAfter)
    case X509_V_ERR_CERT_NOT_YET_VALID: self = .notYetValid(notBefore: certificate.notBefore)
    case X509_V_ERR_DEPTH_ZERO_SELF_SIGNED_CERT: self = .selfSigned
    case X509_V_ERR_SELF_SIGNED_CERT_IN_CHAIN, X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT_LOCALLY,
      X509_V_ERR_UNABLE_TO_GET_ISSUER_CERT, X509_V_ERR_UNABLE_TO_VERIFY_LEAF_SIGNATURE,
      X509_V_ERR_CERT_UNTRUSTED:
      self = .unknownAuthority
    case X509_V_ERR_HOSTNAME_MISMATCH, X509_V_ERR_IP_ADDRESS_MISMATCH:
      self = .wrongHost(expected: name?.text ?? "", found: certificate.names)
    case X509_V_ERR_CERT_REVOKED: self = .revoked
    default: self = .other(code: code)
    }
  }

  /// The failure as a sentence about `certificate`, without its full stop.
  func sentence(about certificate: CertificateSummary) -> String {
    let subject = certificate.subject
    switch self {
    case .expired(let date): return "the certificate expired on \(calendarDate(date)) (subject \(subject))"
    case .notYetValid(let date):
      return "the certificate is not valid before \(calendarDate(date)) (subject \(subject))"
    case .selfSigned: return "the certificate is self-signed (subject \(subject))"
    case .unknownAuthority:
      return "the certificate's authority is not known (subject \(subject), issuer \(certificate.issuer))"
    case .wrongHost(let expected, let found):
      guard !found.isEmpty else { return "the certificate names no host, so it is not for \(expected)" }
      let note = found.contains(expected) ? " (it names that address as a DNS name)" : ""
      return "the certificate is for \(listed(found)), not for \(expected)\(note)"
    case .revoked: return "the certificate was revoked (subject \(subject))"
    case .other(let code):
      // SAFETY: OpenSSL answers with a constant string for any number.
      let words = unsafe String(cString: X509_verify_cert_error_string(Int(code)))
      return "the certificate was refused: \(words) (subject \(subject))"
    }
  }

  private func listed(_ names: [String]) -> String {
    let shown = 10  // a content network's certificate may hold hundreds
    guard names.count > shown else { return names.joined(separator: ", ") }
    return names.prefix(shown).joined(separator: ", ") + " and \(names.count - shown) more"
  }
}

/// The date in UTC of `seconds` since 1970, as `2024-01-31`.
func calendarDate(_ seconds: Int64) -> String {
  // Days are counted from 1 March of year 0, so that the leap day is the last of its year.
  let day = (seconds - (seconds < 0 ? 86_399 : 0)) / 86_400 + 719_468
  let era = (day >= 0 ? day : day - 146_096) / 146_097
  let dayOfEra = day - era * 146_097
  let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36524 - dayOfEra / 146_096) / 365
  let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
  let shifted = (5 * dayOfYear + 2) / 153
  let dayOfMonth = dayOfYear - (153 * shifted + 2) / 5 + 1
  let month = shifted < 10 ? shifted + 3 : shifted - 9
  let year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
  return "\(padded(year, 4))-\(padded(month, 2))-\(padded(dayOfMonth, 2))"
}

private func padded(_ value: Int64, _ width: Int) -> String {
  let digits = String(value)
  return String(repeating: "0", count: max(0, width - digits.count)) + digits
}
