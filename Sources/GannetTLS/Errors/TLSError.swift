/// What went wrong in a TLS layer, in OpenSSL's number and in a person's words.
package struct TLSError: Error, Hashable, Sendable {
  /// What kind of failure this is; decides which code the user's error gets.
  package enum Kind: Hashable, Sendable {
    /// The context or a name could not be set up: a missing trust store, a certificate that is none.
    case configuration
    /// The handshake or a record broke the protocol, or the two sides have nothing in common.
    case protocolFailure
    /// The peer's certificate was refused, and why.
    case verification(VerificationFailure)
    /// The server wants a certificate of the client, and there was none (any version: in TLS 1.3 this comes
    /// with the first read, after the handshake).
    case clientCertificateRequired
    /// The peer ended the connection before the handshake was done.
    case endedInHandshake
    /// The server selected an application protocol that was not offered.
    case unexpectedProtocol(String)
  }

  /// The kind.
  package let kind: Kind
  /// OpenSSL's packed error, as `openssl errstr` reads it; 0 when the failure is ours or the peer just left.
  package let code: UInt
  /// What happened, a sentence without its full stop.
  package let reason: String
  /// What is likely behind it, or nil.
  package let hint: String?

  /// Makes an error.
  package init(_ kind: Kind, code: UInt = 0, _ reason: String, hint: String? = nil) {
    self.kind = kind
    self.code = code
    self.reason = reason
    self.hint = hint
  }

  /// Why the peer's certificate was refused, when that is what happened.
  package var verification: VerificationFailure? {
    if case .verification(let failure) = kind { failure } else { nil }
  }
}

extension TLSError: CustomStringConvertible {
  /// The reason, with the hint behind it.
  package var description: String { hint.map { "\(reason); \($0)" } ?? reason }
}
