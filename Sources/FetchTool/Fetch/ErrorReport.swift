package import Gannet
import GannetHTTP

extension ExitCode {
  /// The exit status of a load that failed.
  package init(_ error: ConnectionError) {
    self =
      switch error.code {
      case .unsupportedURL: .unsupportedScheme
      case .badURL: error.isAboutRequest ? .badUsage : .badURL
      case .cannotFindHost, .dnsLookupFailed: .cannotResolve
      case .cannotConnectToHost, .notConnectedToInternet: .cannotConnect
      case .timedOut: .timedOut
      case .httpTooManyRedirects: .tooManyRedirects
      case .redirectToNonExistentLocation: .redirectRefused
      case .zeroByteResource: .emptyReply
      case .networkConnectionLost: ExitCode(lost: error)
      case .badServerResponse, .cannotParseResponse: .badResponse
      case .dataLengthExceedsMaximum: .tooLarge
      case .cannotDecodeContentData, .cannotDecodeRawData: .badEncoding
      case .serverCertificateHasBadDate, .serverCertificateUntrusted, .serverCertificateHasUnknownRoot,
        .serverCertificateNotYetValid:
        .badCertificate
      case .secureConnectionFailed, .clientCertificateRejected, .clientCertificateRequired: .tlsFailed
      case .fileDoesNotExist, .fileIsDirectory, .noPermissionsToReadFile, .cannotOpenFile:
        error.url.lowercased().hasPrefix("file:") ? .cannotReadFileURL : .cannotRead
      case .cannotCreateFile, .cannotWriteToFile, .cannotRemoveFile, .cannotMoveFile: .cannotWrite
      case .cancelled, .unknown, .resourceUnavailable, .userCancelledAuthentication,
        .userAuthenticationRequired:
        .receiveFailed
      case .requestBodyStreamExhausted: error.isAboutSource ? .cannotRead : .sendFailed
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

extension URLRequest {
  /// Why the method or a field cannot be sent, with the flag that gave it.
  var unsendable: String? {
    for field in fields {
      if let error = Self.failure("GET", [(name: field.name, value: field.value)]) {
        return "-H \"\(field.name)\": \(error.reason)"
      }
    }
    let method = httpMethod ?? "GET"
    return Self.failure(method, []).map { "-X \"\(method)\": \($0.reason)" }
  }

  private static func failure(_ method: String, _ fields: [(name: String, value: String)]) -> RequestError? {
    var bytes: [UInt8] = []
    let head = RequestHead(method: method, target: "/", fields: FieldList(fields))
    do throws(RequestError) { try head.append(to: &bytes) } catch { return error }
    return nil
  }
}

extension ExitCode {
  /// The flag that helps with a failure, for the end of its sentence.
  static func flag(for error: ConnectionError) -> String? {
    switch error.code {
    case .serverCertificateHasUnknownRoot: " (--cacert FILE trusts another authority)"
    case .requestBodyStreamExhausted where error.phase == .preparing:
      " (standard input is there only once; -T FILE can be sent again)"
    case .serverCertificateUntrusted where error.reason.hasPrefix("the certificate is self-signed"):
      " (--cacert FILE)"
    default: nil
    }
  }
}

extension ConnectionError {
  /// The line for standard error: the URL, the phase, and the reason.
  var sentence: String { "\(url): \(phase.rawValue): \(reason)" }

  /// Whether what the body comes from could not be read.
  fileprivate var isAboutSource: Bool {
    guard case .body = cause else { return false }
    return true
  }

  /// Whether the method or a field of the request cannot be sent.
  fileprivate var isAboutRequest: Bool {
    guard case .syntax(let rule, _, _) = cause else { return false }
    return [.method, .fieldName, .fieldValue].contains(RequestError.Part(rawValue: rule))
  }
}
