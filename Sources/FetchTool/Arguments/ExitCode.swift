/// How `gannet` ends: curl's numbers where curl has one for it.
package enum ExitCode: Int32, CaseIterable, Sendable {
  case finished = 0
  case unsupportedScheme = 1
  case badUsage = 2
  case badURL = 3
  case cannotResolve = 6
  case cannotConnect = 7
  case badResponse = 8
  case cutShort = 18
  case failedStatus = 22
  case cannotWrite = 23
  case cannotRead = 26
  case timedOut = 28
  case tlsFailed = 35
  case cannotReadFileURL = 37
  case cannotListen = 45
  case tooManyRedirects = 47
  case emptyReply = 52
  case sendFailed = 55
  case receiveFailed = 56
  case badCertificate = 60
  case badEncoding = 61
  case redirectRefused = 62
  case tooLarge = 63
  case badAuthorityFile = 77

  /// How the fetcher itself ends: by all but what only servers meet.
  package static let ofFetch = allCases.filter { $0 != .cannotListen }

  /// What it says, for the help text.
  package var meaning: String {
    switch self {
    case .finished: "finished"
    case .unsupportedScheme: "the URL's scheme is not supported"
    case .badUsage: "the command line is wrong"
    case .badURL: "the URL is malformed"
    case .cannotResolve: "the host's name was not found"
    case .cannotConnect: "no connection to the host"
    case .badResponse: "the response breaks the syntax of HTTP, or has no parts to save"
    case .cutShort: "the response ended before it was complete"
    case .failedStatus: "the status is 400 or above, and --fail was given"
    case .cannotWrite: "the output cannot be written"
    case .cannotRead: "a file that was named, or standard input, cannot be read"
    case .timedOut: "a time limit was reached"
    case .tlsFailed: "the TLS handshake failed"
    case .cannotReadFileURL: "the file of a file URL cannot be read"
    case .cannotListen: "the server's port cannot be listened on"
    case .tooManyRedirects: "too many redirects"
    case .emptyReply: "the server closed without an answer"
    case .sendFailed: "sending failed"
    case .receiveFailed: "receiving failed"
    case .badCertificate: "the server's certificate is not trusted"
    case .badEncoding: "the content coding cannot be decoded"
    case .redirectRefused: "a redirect cannot be followed"
    case .tooLarge: "a limit on what a server may send was passed"
    case .badAuthorityFile: "the file of --cacert cannot be used"
    }
  }
}
