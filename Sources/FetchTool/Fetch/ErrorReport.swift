package import Gannet

extension ExitCode {
  /// The exit status of a load that failed.
  package init(_ error: ConnectionError) {
    self =
      switch error.code {
      case .unsupportedURL: .unsupportedScheme
      case .badURL: .badURL
      case .cannotFindHost, .dnsLookupFailed: .cannotResolve
      case .cannotConnectToHost: .cannotConnect
      case .timedOut: .timedOut
      case .httpTooManyRedirects: .tooManyRedirects
      case .redirectToNonExistentLocation: .redirectRefused
      case .zeroByteResource: .emptyReply
      case .networkConnectionLost: ExitCode(lost: error)
      case .badServerResponse, .cannotParseResponse: .badResponse
      case .dataLengthExceedsMaximum: .tooLarge
      case .cannotDecodeContentData, .cannotDecodeRawData: .badEncoding
      case .userCancelledAuthentication, .userAuthenticationRequired: .loginDenied
      case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid:
        .badCertificate
      case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired: .tlsFailed
      case .fileDoesNotExist, .noPermissionsToReadFile, .cannotOpenFile: .cannotRead
      case .cannotCreateFile, .cannotWriteToFile, .cannotRemoveFile, .cannotMoveFile: .cannotWrite
      case .cancelled, .unknown, .resourceUnavailable: .receiveFailed
      case .requestBodyStreamExhausted: .sendFailed
      }
  }

  private init(lost error: ConnectionError) {
    switch (error.phase, error.cause) {
    case (.sending, _): self = .sendFailed
    case (_, .syntax("no-response", _, _)): self = .emptyReply
    case (_, .syntax): self = .cutShort
    default: self = .receiveFailed
    }
  }
}

extension ConnectionError {
  /// The line for standard error: the URL, the phase, and the reason.
  var sentence: String { "\(url): \(phase.rawValue): \(reason)" }
}
