internal import COpenSSL

/// The words of TLS alerts (RFC 8446 section 6), for a sentence about what the peer said.
enum Alert {
  static let closeNotify: Int32 = 0
  static let handshakeFailure: Int32 = 40
  static let noRenegotiation: Int32 = 100
  static let certificateRequired: Int32 = 116

  /// OpenSSL numbers a received alert N as reason 1000 + N.
  static func number(inReason reason: Int32) -> Int32? {
    let number = reason - SSL_AD_REASON_OFFSET
    return 0...255 ~= number ? number : nil
  }

  /// What the alert means, then its name in the standard.
  static func words(_ number: Int32) -> String {
    switch number {
    case 10: "it got a message it did not expect (unexpected_message)"
    case 20: "it got a damaged record (bad_record_mac)"
    case 22: "it got a record that is too long (record_overflow)"
    case 40: "it found nothing in common with us (handshake_failure)"
    case 42: "it finds our certificate damaged (bad_certificate)"
    case 43: "it does not support our certificate's kind (unsupported_certificate)"
    case 44: "our certificate was revoked (certificate_revoked)"
    case 45: "our certificate has expired (certificate_expired)"
    case 46: "it does not accept our certificate (certificate_unknown)"
    case 47: "it got a value out of range (illegal_parameter)"
    case 48: "it does not know our certificate's authority (unknown_ca)"
    case 49: "it denies access (access_denied)"
    case 50: "it could not decode a message (decode_error)"
    case 51: "a signature or key was wrong (decrypt_error)"
    case 70: "it does not speak our versions of TLS (protocol_version)"
    case 71: "it wants stronger ciphers (insufficient_security)"
    case 80: "it failed inside (internal_error)"
    case 86: "it suspects a downgrade (inappropriate_fallback)"
    case 90: "it was cancelled there (user_canceled)"
    case 100: "it refuses a new handshake (no_renegotiation)"
    case 109: "it misses an extension (missing_extension)"
    case 110: "it does not support an extension (unsupported_extension)"
    case 112: "it does not know this host name (unrecognized_name)"
    case 113: "it got a bad certificate status (bad_certificate_status_response)"
    case 115: "it does not know the pre-shared key (unknown_psk_identity)"
    case 116: "it requires a client certificate (certificate_required)"
    case 120: "it speaks none of the protocols offered (no_application_protocol)"
    default: "alert \(number)"
    }
  }

  /// Whether the alert is about a certificate that its receiver gave.
  static func concernsCertificate(_ number: Int32) -> Bool {
    42...46 ~= number || number == 48 || number == 49
  }
}
