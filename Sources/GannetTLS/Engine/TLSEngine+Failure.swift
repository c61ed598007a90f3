internal import COpenSSL

extension TLSEngine {
  private var peer: String { context.isServer ? "the client" : "the server" }

  /// The failure that OpenSSL left in its queue, told by what the callbacks noticed.
  func failureFromOpenSSL() -> TLSError {
    let code = TLSError.takeFirstError()
    // SAFETY: the wire is ours, and no call into OpenSSL is running.
    if let refusal = unsafe wire.pointee.refusal {
      let failure = VerificationFailure(
        code: refusal.code, certificate: refusal.certificate, expecting: serverName)
      return TLSError(
        .verification(failure), code: code, failure.sentence(about: refusal.certificate), hint: failure.hint)
    }
    if let error = unexpectedProtocol { return error }
    if !isEstablished, let foreign = foreignProtocol {
      return TLSError(
        .protocolFailure, code: code, "the TLS handshake failed: \(peer) did not answer in TLS", hint: foreign
      )
    }
    guard let reason = TLSError.tlsReason(of: code) else {
      return TLSError(.protocolFailure, code: code, "TLS failed: \(TLSError.words(of: code))")
    }
    if let alert = Alert.number(inReason: reason) { return failure(byAlert: alert, code) }
    let when = isEstablished ? "TLS failed" : "the TLS handshake failed"
    return TLSError(
      .protocolFailure, code: code, "\(when): \(TLSError.words(of: code))", hint: hint(for: reason))
  }

  private func failure(byAlert alert: Int32, _ code: UInt) -> TLSError {
    let words = Alert.words(alert)
    // SAFETY: the wire is ours, and no call into OpenSSL is running.
    let requested = unsafe wire.pointee.certificateRequested
    // Before TLS 1.3 there was no alert of its own: servers send what they like once the certificate is missing.
    let isAboutCertificate = alert == Alert.handshakeFailure || Alert.concernsCertificate(alert)
    if !context.isServer, alert == Alert.certificateRequired || (requested && isAboutCertificate) {
      let detail = alert == Alert.certificateRequired ? "" : ": \(words)"
      return TLSError(
        .clientCertificateRequired, code: code, "the server requires a client certificate\(detail)")
    }
    guard unsafe !wire.pointee.refusedRenegotiation else {
      return TLSError(
        .protocolFailure, code: code, "\(peer) ended the connection: \(words)",
        hint: "it asked for a new handshake (renegotiation), which is refused")
    }
    let what = isEstablished ? "ended the connection" : "refused the handshake"
    return TLSError(.protocolFailure, code: code, "\(peer) \(what): \(words)")
  }

  /// The server selected a protocol that was not offered. Newer releases of OpenSSL refuse that themselves, as a
  /// "bad extension"; older ones accept it.
  var unexpectedProtocol: TLSError? {
    // SAFETY: the wire is ours, and no call into OpenSSL is running.
    guard !isEstablished, let selected = unsafe wire.pointee.selectedProtocol,
      !offeredProtocols.contains(selected)
    else { return nil }
    return TLSError(
      .unexpectedProtocol(selected), "the server selected the protocol “\(selected)”, which was not offered")
  }

  /// The peer left before the handshake was done.
  func endedInHandshake() -> TLSError {
    TLSError(
      .endedInHandshake, "\(peer) closed the connection during the TLS handshake",
      hint: foreignProtocol)
  }

  /// What the peer speaks, when its first bytes are no TLS record.
  private var foreignProtocol: String? {
    // SAFETY: the wire is ours, and no call into OpenSSL is running.
    let bytes = unsafe wire.pointee.firstBytes
    guard let first = bytes.first, !(20...24 ~= first) else { return nil }
    if bytes.starts(with: "HTTP/".utf8) { return "\(peer) speaks plain HTTP" }
    let methods = ["GET ", "HEAD ", "POST ", "PUT ", "OPTIONS ", "CONNECT "]
    if context.isServer, methods.contains(where: { bytes.starts(with: $0.utf8.prefix(8)) }) {
      return "\(peer) speaks plain HTTP"
    }
    let shown = bytes.map { 0x20...0x7e ~= $0 ? String(Unicode.Scalar($0)) : "." }.joined()
    return "\(peer) does not speak TLS: its first bytes are “\(shown)”"
  }

  private func hint(for reason: Int32) -> String? {
    switch reason {
    case SSL_R_UNSUPPORTED_PROTOCOL, SSL_R_WRONG_SSL_VERSION, SSL_R_VERSION_TOO_LOW:
      "\(peer) speaks only versions of TLS that are too old to be safe"
    case SSL_R_DH_KEY_TOO_SMALL: "\(peer) uses keys that are too small to be safe"
    default: nil
    }
  }
}

extension VerificationFailure {
  /// What is likely behind the failure.
  var hint: String? {
    switch self {
    case .selfSigned: "trust it by giving its certificate as a trusted one"
    case .unknownAuthority:
      "the server may not send its intermediate certificate, or its authority is private"
    case .notYetValid: "the clock of this machine may be wrong"
    case .expired, .wrongHost, .revoked, .other: nil
    }
  }
}

/// Remembers what the server's ALPN extension says: a list of one name (RFC 7301 section 3.1).
let noteSelectedProtocol:
  @convention(c) (
    OpaquePointer?, Int32, Int32, UnsafePointer<UInt8>?, Int32, UnsafeMutableRawPointer?
  ) -> Void = { connection, isFromServer, type, data, count, _ in
    // SAFETY: OpenSSL calls this within a call of the engine, and lends `count` bytes.
    guard isFromServer == 1, type == TLSEXT_TYPE_application_layer_protocol_negotiation, count > 3,
      let connection = unsafe connection, let wire = unsafe Wire.of(connection), let data = unsafe data
    else { return }
    let name = unsafe UnsafeBufferPointer(start: data + 3, count: Int(count) - 3)
    unsafe wire.pointee.selectedProtocol = String(decoding: name, as: UTF8.self)
  }
