/// Why a load failed: what went wrong, for which URL, in which phase, and the cause underneath.
///
/// Foundation owns the name `URLError`; the codes have the numbers of Apple's `NSURLErrorDomain`.
public struct ConnectionError: Error, Hashable, Sendable {
  /// What went wrong, as a code.
  public let code: Code
  /// How far the load had come.
  public let phase: Phase
  /// The URL that failed, without a password.
  public let url: String
  /// What lies underneath, where there is something.
  public let cause: Cause?
  /// A sentence for a person: what was wrong, where, and why.
  public let reason: String

  /// Makes an error.
  public init(_ code: Code, phase: Phase, url: String, cause: Cause? = nil, reason: String) {
    self.code = code
    self.phase = phase
    self.url = url
    self.cause = cause
    self.reason = reason
  }
}

extension ConnectionError {
  /// The phases of a load, in order.
  public enum Phase: String, Sendable, CaseIterable {
    /// Before anything was done: the URL, the request's fields, a refused canonical step.
    case preparing
    /// Looking up the host's addresses.
    case resolving
    /// Opening the connection.
    case connecting
    /// The TLS handshake.
    case handshaking
    /// Sending the request.
    case sending
    /// The request is sent; no byte of the answer has come.
    case awaiting
    /// The answer is coming.
    case receiving
  }

  /// What lies underneath an error.
  public enum Cause: Hashable, Sendable {
    /// A system call failed with this `errno`.
    case system(errno: CInt)
    /// OpenSSL's packed error code and its reason. The code is 0 when the failure was decided by the
    /// verification of the certificate, and the text then names it.
    case tls(code: UInt, String)
    /// The rule of HTTP syntax that was broken, the byte that broke it (nil when the input ended), and its offset from the
    /// first byte of the response; of a URL, or of a part of the request, in that text; of `content-coding` in what that
    /// coding has read.
    case syntax(rule: String, byte: UInt8?, offset: Int64)
    /// The name of the limit that was reached.
    case limit(String)
    /// The sequence that makes the request's body threw this, in its own words.
    case body(String)
  }

  /// The codes, with the numbers of Apple's `NSURLErrorDomain`.
  public enum Code: Int, Sendable, CaseIterable {
    case unknown = -1
    case cancelled = -999
    case badURL = -1000
    case timedOut = -1001
    case unsupportedURL = -1002
    case cannotFindHost = -1003
    case cannotConnectToHost = -1004
    case networkConnectionLost = -1005
    case dnsLookupFailed = -1006
    case httpTooManyRedirects = -1007
    case resourceUnavailable = -1008
    /// For a `URLProtocol` to tell. Gannet cannot know whether there is a network: without a route the code is
    /// `cannotConnectToHost`, its cause the `errno`.
    case notConnectedToInternet = -1009
    case redirectToNonExistentLocation = -1010
    case badServerResponse = -1011
    case userCancelledAuthentication = -1012
    /// For a `URLProtocol` to tell: Gannet itself does not.
    case userAuthenticationRequired = -1013
    /// For a `URLProtocol` to tell: Gannet itself does not.
    case zeroByteResource = -1014
    /// For a `URLProtocol` to tell: Gannet itself does not.
    case cannotDecodeRawData = -1015
    case cannotDecodeContentData = -1016
    /// For a `URLProtocol` to tell: Gannet itself does not.
    case cannotParseResponse = -1017
    case requestBodyStreamExhausted = -1021
    case fileDoesNotExist = -1100
    case fileIsDirectory = -1101
    case noPermissionsToReadFile = -1102
    case dataLengthExceedsMaximum = -1103
    case secureConnectionFailed = -1200
    case serverCertificateHasBadDate = -1201
    case serverCertificateUntrusted = -1202
    case serverCertificateHasUnknownRoot = -1203
    case serverCertificateNotYetValid = -1204
    /// For a `URLProtocol` to tell: Gannet itself does not.
    case clientCertificateRejected = -1205
    case clientCertificateRequired = -1206
    case cannotCreateFile = -3000
    case cannotOpenFile = -3001
    case cannotWriteToFile = -3003
    /// For a `URLProtocol` to tell: Gannet itself does not.
    case cannotRemoveFile = -3004
    case cannotMoveFile = -3005

    /// The code's name, as in this enumeration.
    public var name: String { String(describing: self) }
  }
}

extension ConnectionError: CustomStringConvertible {
  /// One line: the URL, the phase, the reason with the byte and its place where there is one, and the code.
  public var description: String {
    "\(url): \(phase.rawValue): \(reason)\(place) (\(code.name) \(code.rawValue))"
  }

  /// Where the rule of syntax was broken, as ` (byte 0x0D at offset 17)`; empty when it was none.
  package var place: String {
    guard case .syntax(_, let byte, let offset) = cause else { return "" }
    guard let byte else { return " (at offset \(offset))" }
    let digits = String(byte, radix: 16, uppercase: true)
    return " (byte 0x\(digits.count == 1 ? "0" : "")\(digits) at offset \(offset))"
  }
}
