import GannetExchange
import GannetHTTP
import TestSupport
import Testing

/// Whole connections of other parsers' tests, and of attacks on clients. Each row runs at every cut.
@Suite("vectors: exchanges", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"), .longWork)
struct ExchangeVectorTests {
  /// One response as the machine told it.
  struct Message {
    var head: String
    var body: String = ""
    var hasEnded = false
    var isReusable = false
  }

  /// What came of an input: its final responses, and how it ended.
  struct Reading {
    var messages: [Message] = []
    var outcome: Outcome

    init(_ outcome: Outcome) {
      self.outcome = outcome
      for event in outcome.events where !event.hasPrefix("informational") && !event.hasPrefix("trailers") {
        if event.hasPrefix("data ") {
          messages[messages.count - 1].body = String(event.dropFirst(5))
        } else if event.hasPrefix("end") {
          messages[messages.count - 1].hasEnded = true
          messages[messages.count - 1].isReusable = event == "end"
        } else {
          messages.append(Message(head: event))
        }
      }
    }
  }

  static func difference(
    _ bytes: [UInt8], answering method: String = "GET", endOfFile: Bool = true,
    _ compare: (Reading) -> String?
  ) -> String? {
    let client = Exchanging.Client(Array(repeating: method, count: 50))
    let (whole, mismatches) = Exchanging.outcomes(of: bytes, endOfFile: endOfFile, client)
    if let mismatch = mismatches.first { return "\(mismatch.cut): \(mismatch.outcome), not \(whole)" }
    return compare(Reading(whole))
  }

  @Test("llhttp: messages, their ends and what is left")
  func llhttp() throws {
    var tally = Conformance(
      "response-parsing/llhttp-response, exchanges",
      differences: [
        (
          "a tolerance of ours: several spaces, bare LF, blanks after a chunk size, a first line with a blank",
          [
            "response/invalid.md:234", "response/sample.md:333", "response/transfer-encoding.md:7",
            "response/invalid.md:215",
          ]
        ),
        (
          "other protocols and versions are not HTTP/1.x",
          [
            "response/lenient-version.md:7", "response/sample.md:43", "response/sample.md:63",
          ]
        ),
        ("a line ended by CR alone is an error", ["response/invalid.md:154"]),
      ])
    for row in try VectorFile.rows("response-parsing/llhttp-response.jsonl") {
      let messages = row["expect"]?["messages"]?.array ?? []
      var input = row["input"]?.bytes ?? []
      // The rows lost the CRLF at their end, as the offsets show.
      let ends = messages.flatMap { [$0["headers_end_off"]?.int, $0["end_off"]?.int].compactMap { $0 } }
      if ends.contains(where: { $0 > input.count }) { input += [.carriageReturn, .lineFeed] }
      let reason = row["expect"]?["error"]?["reason"]?.string
      tally.note(
        row.id,
        Self.difference(input, endOfFile: false) {
          Self.llhttpDifference($0, messages: messages, reason: reason)
        })
    }
    tally.finish(rows: 63)
  }

  private static func llhttpDifference(_ reading: Reading, messages: [JSONValue], reason: String?) -> String?
  {
    let outcome = reading.outcome
    switch reason {
    case "Pause on CONNECT/Upgrade":
      return outcome.error?.rule == .unexpectedSwitch
        || reading.messages.last?.head.hasSuffix("upgrade") == true
        ? nil : "\(outcome)"
    case "Data after `Connection: close`": return outcome.leftOver > 0 ? nil : "nothing left: \(outcome)"
    case let reason?: return outcome.error == nil ? "no error, but \(reason)" : nil
    case nil: break
    }
    if outcome.error != nil { return "\(outcome)" }
    let begun = messages.filter { message in
      let status = message["status"]?.int ?? 0
      return message["headers_end_off"] != nil && (status >= 200 || status == 101)
    }
    guard begun.count == reading.messages.count else { return "\(outcome)" }
    for (message, wanted) in zip(reading.messages, begun) {
      if message.hasEnded != (wanted["complete"]?.bool ?? false) { return "\(outcome)" }
      // The rows lost the line ends within bodies.
      let body = Bytes.latin1(message.body).filter { $0 != .carriageReturn && $0 != .lineFeed }
      if body != wanted["body"]?.bytes ?? [] { return "body \(message.body)" }
    }
    return nil
  }

  @Test("Go: whole responses")
  func go() throws {
    var tally = Conformance("response-parsing/go-response, exchanges")
    let rows = try VectorFile.rows("response-parsing/go-response.jsonl").filter {
      $0["suite"]?.string == "parse"
    }
    for row in rows {
      let method = row["request_method"]?.string ?? "GET"
      let difference = Self.difference(row["input"]?.bytes ?? [], answering: method) { reading in
        guard let message = reading.messages.first, message.hasEnded else { return "\(reading.outcome)" }
        let body = row["expect"]?["body"]?.string ?? ""
        return message.body == body ? nil : "\(reading.outcome)"
      }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 14)
  }

  @Test("h11: framing, keep-alive, what is refused at once")
  func h11() throws {
    var tally = Conformance(
      "response-parsing/h11-framing, exchanges",
      differences: [("empty lines before a status line are skipped", ["h11/early-invalid/23"])])
    for row in try VectorFile.rows("response-parsing/h11-framing.jsonl") {
      tally.note(row.id, Self.h11Difference(row))
    }
    tally.finish(rows: 24)
  }

  private static func h11Difference(_ row: VectorFile.Row) -> String? {
    switch row["suite"]?.string {
    case "framing":
      let length = row["content_length"]?.int.map { "Content-Length: \($0)\r\n" } ?? ""
      let coding = row["transfer_encoding"]?.string.map { "Transfer-Encoding: \($0)\r\n" } ?? ""
      let head = "HTTP/1.1 \(row["status"]?.int ?? 0) x\r\n\(length)\(coding)\r\n"
      let framing = ["until-close": "close", "length 100": "length(100)"]
      let wanted = row["expect"]?.string ?? ""
      let method = row["request_method"]?.string ?? ""
      return difference(Bytes.latin1(head), answering: method, endOfFile: false) { reading in
        reading.messages.first?.head.hasSuffix(" " + (framing[wanted] ?? wanted)) == true
          ? nil : "\(reading.outcome)"
      }
    case "keep-alive":
      let fields = (row["headers"]?.array ?? []).map { pair in
        (pair.array ?? []).compactMap(\.string).joined(separator: ": ") + "\r\n"
      }
      let head = "HTTP/\(row["version"]?.string ?? "") 200 OK\r\nContent-Length: 0\r\n\(fields.joined())\r\n"
      return difference(Bytes.latin1(head)) { reading in
        reading.messages.first?.isReusable == row["expect"]?.bool ? nil : "\(reading.outcome)"
      }
    default:
      return difference(row["input"]?.bytes ?? [], endOfFile: false) {
        $0.outcome.error == nil ? "no error" : nil
      }
    }
  }

  @Test("attacks that clients fell for")
  func attacks() throws {
    let refused = [
      "CVE-2021-22960", "CVE-2023-30589", "CVE-2025-22871", "CVE-2021-32715", "CVE-2017-13089",
      "CVE-2017-13090",
    ]
    let readToTheEnd = ["CVE-2022-32213", "CVE-2024-27982", "CVE-2022-1705"]
    var seen: [String] = []
    for row in try VectorFile.rows("cve/http-client-cves.jsonl")
    where (refused + readToTheEnd).contains(row.id) {
      seen.append(row.id)
      let difference = Self.difference(row["bytes"]?.bytes ?? []) { reading in
        if refused.contains(row.id) {
          return reading.outcome.error == nil ? "no error: \(reading.outcome)" : nil
        }
        return reading.messages.first?.head.hasSuffix("200 close") == true && reading.messages[0].hasEnded
          ? nil : "\(reading.outcome)"
      }
      #expect(difference == nil, "\(row.id)")
    }
    #expect(seen.count == refused.count + readToTheEnd.count)
  }
}
