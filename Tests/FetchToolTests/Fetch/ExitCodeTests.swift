import FetchTool
import Gannet
import Testing

@Suite("Fetch: exit statuses")
struct ExitCodeTests {
  static func lost(_ phase: ConnectionError.Phase, _ cause: ConnectionError.Cause?) -> ConnectionError {
    ConnectionError(.networkConnectionLost, phase: phase, url: "http://a/", cause: cause, reason: "r")
  }

  @Test(
    arguments: [
      (lost(.receiving, .syntax(rule: "no-response", byte: nil, offset: 0)), 52),
      (lost(.receiving, .syntax(rule: "truncated-body", byte: nil, offset: 9)), 18),
      (lost(.receiving, .system(errno: 104)), 56), (lost(.sending, .system(errno: 32)), 55),
      (lost(.receiving, .tls(code: 0, "no close_notify")), 56),
    ] as [(ConnectionError, Int32)])
  func tellsLostConnectionsApart(_ error: ConnectionError, _ status: Int32) {
    #expect(ExitCode(error).rawValue == status)
  }

  @Test(
    arguments: [
      (.unsupportedURL, 1), (.badURL, 3), (.cannotFindHost, 6), (.dnsLookupFailed, 6),
      (.cannotConnectToHost, 7),
      (.timedOut, 28), (.httpTooManyRedirects, 47), (.secureConnectionFailed, 35),
      (.serverCertificateUntrusted, 60),
      (.serverCertificateHasBadDate, 60), (.badServerResponse, 8), (.cannotDecodeContentData, 61),
      (.dataLengthExceedsMaximum, 63),
    ] as [(ConnectionError.Code, Int32)])
  func followsCurl(_ code: ConnectionError.Code, _ status: Int32) {
    #expect(ExitCode(ConnectionError(code, phase: .preparing, url: "", reason: "")).rawValue == status)
  }

  @Test func noFailureIsASuccess() {
    for code in ConnectionError.Code.allCases {
      #expect(ExitCode(ConnectionError(code, phase: .preparing, url: "", reason: "")) != .finished)
    }
  }

  @Test func everyStatusIsInTheHelpText() {
    for code in ExitCode.allCases {
      #expect(HelpText.fetch.contains("\(code.rawValue)  \(code.meaning)\n"))
    }
  }

  @Test func everyFlagIsInTheHelpText() {
    for flag in FetchOptions.flags {
      #expect(HelpText.fetch.contains("--\(flag.name)"))
      if let letter = flag.letter { #expect(HelpText.fetch.contains("-\(letter), --\(flag.name)")) }
    }
  }
}
