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

  @Test(
    arguments: [("method", 2), ("field name", 2), ("field value", 2), ("bad-host", 3)] as [(String, Int32)])
  func whatCannotBeSentIsTheCommandLinesFault(_ rule: String, _ status: Int32) {
    let error = ConnectionError(
      .badURL, phase: .preparing, url: "", cause: .syntax(rule: rule, byte: 32, offset: 0), reason: "")
    #expect(ExitCode(error).rawValue == status)
  }

  @Test(
    arguments: [
      ("localhost:29080/x", 1, "http://localhost:29080/x"), ("127.0.0.1:1/x", 3, "http://127.0.0.1:1/x"),
      ("[::1]:1/", 3, "http://[::1]:1/"), ("a/b", 3, "http://a/b"), ("https//x", 3, "https://x"),
      ("/a/b", 3, nil), ("", 3, nil), ("mailto:me", 1, nil), ("ftp://a/", 1, nil), ("http://", 3, nil),
    ] as [(String, Int32, String?)])
  func hintsAtTheURLThatWasMeant(_ text: String, _ status: Int32, _ meant: String?) {
    let error = ToolError(unloadable: text)
    #expect(error.code.rawValue == status)
    if let meant {
      #expect(error.sentence.hasSuffix("; did you mean \(meant)?"))
    } else {
      #expect(!error.sentence.contains("did you mean"))
    }
  }

  @Test(arguments: [
    ("http://u:secret@a/b@c", "http://a/b@c"), ("http://u:secret@a^b/", "http://a^b/"),
    ("u@a//b", "u@a//b"), ("//u:se@cret@a", "//a"), ("nonsense", "nonsense"),
  ])
  func messagesHaveNoPassword(_ url: String, _ shown: String) { #expect(urlForMessage(url) == shown) }

  @Test func namesTheByteThatNoHostHas() {
    #expect(ToolError(unloadable: "http://a^b/").sentence.hasSuffix(": “^” at offset 8"))
    #expect(ToolError(unloadable: "http://a\nb/").sentence.hasSuffix(": byte 10 at offset 8"))
  }

  @Test(arguments: [(1.0, "1 second"), (2, "2 seconds"), (0.5, "0.5 seconds")])
  func secondsAreWritten(_ seconds: Double, _ text: String) {
    #expect(Duration.seconds(seconds).secondsText == text)
  }

  @Test func noFailureIsASuccess() {
    for code in ConnectionError.Code.allCases {
      #expect(ExitCode(ConnectionError(code, phase: .preparing, url: "", reason: "")) != .finished)
    }
  }

  @Test func everyStatusIsInTheHelpText() {
    #expect(HelpText.serve.contains("45  \(ExitCode.cannotListen.meaning)\n"))
    for code in ExitCode.ofFetch {
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
