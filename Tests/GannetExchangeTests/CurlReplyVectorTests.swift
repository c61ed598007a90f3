import GannetExchange
import GannetHTTP
import TestSupport
import Testing

/// The answers of curl's own tests, each as the input of a connection that ends with it, at every cut.
@Suite(
  "vectors: answers of curl's tests", .longWork,
  .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct CurlReplyVectorTests {
  /// The exit codes that speak of what the server sent: an unsupported version, a weird answer, a part of one, none, a
  /// failure in receiving it, an unknown coding.
  static let answerCodes = ["1", "8", "18", "52", "56", "61"]

  @Test("an answer is read where curl reads it, refused where curl refuses it")
  func ends() throws {
    var tally = Conformance("curl-tests/curl-http, answers", differences: Self.endDifferences)
    for row in try CurlCase.all() where row.otherProtocol == nil {
      let answers = Self.answers(of: row)
      if answers.isEmpty { continue }
      tally.note(row.id, Self.endDifference(row, answers))
    }
    tally.finish(rows: 653)
  }

  @Test("the body of an answer is what curl prints")
  func bodies() throws {
    var tally = Conformance("curl-tests/curl-http, bodies", differences: Self.bodyDifferences)
    for row in try CurlCase.all() where row.otherProtocol == nil && row.exitCode == "0" {
      let answers = Self.answers(of: row)
      guard answers.count == 1, answers[0].key == "data", let output = row.output else { continue }
      let whole = ExchangeVectorTests.Reading(Self.outcome(of: answers[0], in: row, cuts: []).whole)
      guard let message = whole.messages.first else { continue }  // the other test speaks of it
      let wanted = Self.body(of: output)
      tally.note(
        row.id,
        message.body == wanted
          ? nil : "\(message.body.prefix(80).debugDescription), not \(wanted.prefix(80).debugDescription)")
    }
    tally.finish(rows: 369)
  }

  /// The answers that are there as bytes. One of no bytes is an answer only where curl says that nothing came.
  private static func answers(of row: CurlCase) -> [CurlCase.Answer] {
    row.answers.filter { answer in
      !Bytes.text(answer.bytes).contains("%repeat[") && (!answer.bytes.isEmpty || row.exitCode == "52")
    }
  }

  private static func outcome(
    of answer: CurlCase.Answer, in row: CurlCase, cuts: [Cut]? = nil
  ) -> (whole: Outcome, mismatches: [(cut: Cut, outcome: Outcome)]) {
    let method =
      answer.key.hasPrefix("connect") ? "CONNECT" : row.requests?.hasPrefix("HEAD ") == true ? "HEAD" : "GET"
    return Exchanging.outcomes(
      of: answer.bytes, cuts: cuts ?? Self.cuts(of: answer.bytes), Exchanging.Client([method]))
  }

  /// Every cut of a short answer; of a long one those in the first 1 KiB, where its head is, and some of the rest.
  private static func cuts(of bytes: [UInt8]) -> [Cut] {
    let all = Cut.all(of: bytes.count)
    return all.count <= 1024
      ? all : all.prefix(1024) + all.enumerated().filter { $0.offset % 61 == 0 }.map(\.element)
  }

  private static func endDifference(_ row: CurlCase, _ answers: [CurlCase.Answer]) -> String? {
    var refused: String?
    for answer in answers {
      let (whole, mismatches) = outcome(of: answer, in: row)
      if let mismatch = mismatches.first { return "\(answer.key): \(mismatch.cut) gives something else" }
      // Bytes after a response end the connection, and are no matter of that response.
      if let error = whole.error, error.rule != .unexpectedBytes { refused = "\(answer.key): \(whole)" }
    }
    let isRefused = answerCodes.contains(row.exitCode)
    if isRefused { return refused == nil ? "no error, but curl says \(row.exitCode)" : nil }
    return refused
  }

  /// What comes after the heads, informational ones included.
  private static func body(of output: String) -> String {
    var rest = output.unicodeScalars[...]
    while true {
      let text = String(String.UnicodeScalarView(rest))
      guard text.hasPrefix("HTTP/1.") else { return text }
      var end = rest.startIndex
      var isAtLineStart = false
      for index in rest.indices {
        let scalar = rest[index]
        end = rest.index(after: index)
        if scalar == "\n" {
          if isAtLineStart { break }
          isAtLineStart = true
        } else if scalar != "\r" {
          isAtLineStart = false
        }
      }
      let isInformational = text.dropFirst(9).first == "1"
      rest = rest[end...]
      if !isInformational { return String(String.UnicodeScalarView(rest)) }
    }
  }

  private static func tests(_ numbers: Int...) -> [String] { numbers.map { "test\($0)" } }

  private static let endDifferences: [(reason: String, ids: [String])] = [
    ("HTTP/0.9 is refused, asked for or not", tests(66, 306, 1266)),
    ("a later HTTP/1.x is read as 1.1 (RFC 9110 section 2.5)", tests(129)),
    ("a chunk's lines end with CRLF only (CVE-2025-22871)", tests(341, 1116, 1417, 1677)),
    (
      "no transfer coding was asked for, so none under chunked is undone (RFC 9112 section 7.4)",
      tests(1124, 1125, 1171, 1617)
    ),
    (
      "a final coding that is not chunked ends with the connection (RFC 9112 section 6.3)",
      tests(387, 418, 1546, 1723, 2119)
    ),
    ("a length past 2^63-1 is an error, not all that comes", tests(393)),
    ("two Location fields are the redirect's matter, not the head's", tests(580, 772)),
    (
      "the program ends the load in the middle, or does it again: this answer is one that is cut short",
      tests(1555, 1909, 3034, 3035, 3223)
    ),
    ("101 answers a request to switch, which is not sent here", tests(1801)),
    (
      "the exit code is not the answer's: a proxy that is not there, a redirect that is not allowed",
      tests(325, 1244)
    ),
    ("the answer is in base64", tests(2100)),
  ]

  private static let bodyDifferences: [(reason: String, ids: [String])] = [
    ("the content coding is undone by another layer", tests(220, 222, 224, 230, 232, 316, 1122)),
    ("chunks are not taken off, with --raw", tests(326)),
    ("a chunk's lines end with CRLF only (CVE-2025-22871)", tests(341, 1116, 1417, 1677)),
    ("what is printed is not checked, but how it was saved", tests(339)),
    (
      "what is printed is of several loads, of one with its challenge, or of the program itself",
      tests(528, 598, 645, 653, 676, 999, 1075, 1554, 3207)
    ),
    ("the command does not want the body: it has it already, or it is too old", tests(92, 194, 1424, 1475)),
    ("trailers are printed", tests(1493)),
  ]
}
