import GannetCoding
import GannetHTTP
import GannetPolicy
import GannetSockets
import GannetTLS

// What the layers throw, as the one error that users see. Each conversion is exhaustive.

extension ConnectionError {
  /// The system has no descriptors left for the loop that a load was to run on.
  package init(noHost error: SystemError, for request: URLRequest) {
    self.init(
      .unknown, phase: .preparing, url: request.safeURLString, cause: .system(errno: error.errno),
      reason: "there is no event loop for this load: \(error)")
  }

  /// A part of the request cannot be sent; nothing of it was.
  init(_ error: RequestError, url: String) {
    self.init(
      .badURL, phase: .preparing, url: url,
      cause: .syntax(rule: error.part.rawValue, byte: error.byte, offset: Int64(error.offset)),
      reason: error.reason)
  }

  /// HTTP/1.0 has no chunks, and the body needs them; nothing was sent.
  init(chunksInHTTP10 url: String) {
    self.init(
      .badURL, phase: .preparing, url: url,
      reason: "a body of unknown length, or with trailers, cannot be sent as HTTP/1.0, which has no chunks")
  }

  /// The request's body cannot be sent whole.
  init(_ error: RequestBodyError, phase: Phase, url: String) {
    switch error {
    case .unopened(let path, let error):
      self.init(
        Code(opening: error), phase: phase, url: url, cause: .system(errno: error.errno),
        reason: "the file to send, \(path), cannot be opened: \(error.words)")
    case .unreadable(let error):
      self.init(
        .cannotOpenFile, phase: phase, url: url, cause: .system(errno: error.errno),
        reason: "the file to send cannot be read on (\(error.words))")
    case .tooShort(let missing):
      self.init(
        .requestBodyStreamExhausted, phase: phase, url: url,
        reason: "the request's body ended \(missing) bytes before its announced length")
    case .tooLong(let announced):
      self.init(
        .requestBodyStreamExhausted, phase: phase, url: url,
        reason: "the request's body has more than its announced \(announced) bytes")
    case .spent:
      self.init(
        .requestBodyStreamExhausted, phase: phase, url: url,
        reason: "the request's body can be read once, and has been")
    case .trailersInPart:
      self.init(
        .badURL, phase: phase, url: url,
        reason: "a part of the form has trailers, which only a whole body can have")
    case .failed(let words):
      self.init(
        .requestBodyStreamExhausted, phase: phase, url: url, cause: .body(words),
        reason: "the request's body could not be had: \(words)")
    case .badTrailers(let error):
      self.init(
        .requestBodyStreamExhausted, phase: phase, url: url,
        cause: .syntax(rule: error.part.rawValue, byte: error.byte, offset: Int64(error.offset)),
        reason: "the trailers of the request's body: \(error.reason)")
    }
  }

  /// The peer broke HTTP's syntax, passed a limit, or ended too early.
  init(_ error: SyntaxError, phase: Phase, url: String) {
    let code: Code =
      error.rule.isTruncation
      ? .networkConnectionLost : error.rule.isLimit ? .dataLengthExceedsMaximum : .badServerResponse
    let cause: Cause =
      error.rule.isLimit
      ? .limit(error.rule.rawValue)
      : .syntax(rule: error.rule.rawValue, byte: error.byte, offset: error.offset)
    self.init(
      code, phase: phase, url: url, cause: cause,
      reason: error.reason + (error.looksLikeTLS ? ": is this an https URL?" : ""))
  }

  /// The body's content coding could not be undone.
  init(_ error: ContentCodingError, url: String) {
    self.init(
      .cannotDecodeContentData, phase: .receiving, url: url,
      cause: .syntax(rule: "content-coding", byte: nil, offset: error.offset), reason: error.reason)
  }

  /// The host was not found, or no address of it could be connected to.
  init(_ failure: ConnectFailure, url: String) {
    let code: Code =
      if failure.isTimeout { .timedOut } else {
        switch failure.phase {
        case .resolving: failure.isTemporary ? .dnsLookupFailed : .cannotFindHost
        case .connecting: .cannotConnectToHost
        }
      }
    let phase: Phase =
      switch failure.phase {
      case .resolving: .resolving
      case .connecting: .connecting
      }
    self.init(
      code, phase: phase, url: url, cause: failure.errno.map { .system(errno: $0) }, reason: failure.words)
  }

  /// TLS failed: in the handshake, or later.
  init(_ error: TLSError, phase: Phase, url: String) {
    let code: Code =
      switch error.kind {
      case .configuration, .protocolFailure, .unexpectedProtocol: .secureConnectionFailed
      case .endedInHandshake: .secureConnectionFailed
      case .clientCertificateRequired: .clientCertificateRequired
      case .verification(let failure):
        switch failure {
        case .expired: .serverCertificateHasBadDate
        case .notYetValid: .serverCertificateNotYetValid
        case .unknownAuthority: .serverCertificateHasUnknownRoot
        case .selfSigned, .wrongHost, .revoked, .other: .serverCertificateUntrusted
        }
      }
    self.init(
      code, phase: phase, url: url, cause: .tls(code: error.code, error.reason), reason: error.description)
  }

  /// A redirect cannot be followed.
  init(_ failure: RedirectPolicy.Failure, url: String) {
    switch failure {
    case .tooMany(let limit):
      self.init(
        .httpTooManyRedirects, phase: .receiving, url: url, cause: .limit("maximumRedirects"),
        reason: "more than \(limit) redirects")
    case .badLocation(let location, let error):
      self.init(
        .redirectToNonExistentLocation, phase: .receiving, url: url,
        cause: .syntax(rule: error.rule.rawValue, byte: error.byte, offset: Int64(error.offset)),
        reason: "the redirect's Location\(shown(location)) is no URL: \(error.reason)")
    case .differingLocations:
      self.init(
        .badServerResponse, phase: .receiving, url: url,
        reason: "the redirect has Location fields that differ")
    case .unsupportedScheme(let scheme):
      self.init(
        .unsupportedURL, phase: .receiving, url: url,
        reason: "the redirect leads to a URL of the scheme \(scheme), which cannot be loaded")
    }
  }
}

extension SyntaxError {
  /// Whether the answer begins as a record of TLS: an alert (21) or a handshake's (22).
  fileprivate var looksLikeTLS: Bool { rule == .statusLine && offset == 0 && (byte == 21 || byte == 22) }
}

/// A server's text for a message: cut, and left out when a password may be in it.
private func shown(_ location: String) -> String {
  location.contains("@") ? "" : " \(location.prefix(200))"
}

extension TLSContext.Trust {
  /// The trust of a configuration, in OpenSSL's terms.
  init(_ trust: URLConnection.Trust) {
    switch trust {
    case .system: self = .system
    case .file(let path): self = .file(path)
    case .pem(let text): self = .pem([UInt8](text.utf8))
    case .unverified: self = .none
    }
  }
}

extension ConnectionError.Code {
  /// What it is called that a file cannot be opened to be read.
  init(opening error: SystemError) {
    if error.isMissingFile {
      self = .fileDoesNotExist
    } else if error.isFolder {
      self = .fileIsDirectory
    } else {
      self = error.isRefusal ? .noPermissionsToReadFile : .cannotOpenFile
    }
  }
}
