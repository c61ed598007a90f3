import GannetHTTP
import TestSupport
import Testing

/// Single rules of other suites: framing, chunks, status lines, wrong bytes. Each row runs at every cut.
@Suite("vectors: single rules", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct SyntaxVectorTests {
  @Test("h11")
  func h11() throws {
    var tally = Conformance(
      "response-parsing/h11-framing",
      differences: [("a tolerance of ours: empty lines before the status line", ["h11/early-invalid/23"])])
    for row in try VectorFile.rows("response-parsing/h11-framing.jsonl") {
      tally.note(row.id, Self.h11Difference(row))
    }
    tally.finish(rows: 24)
  }

  private static func h11Difference(_ row: VectorFile.Row) -> String? {
    if row["suite"]?.string == "early-invalid" {
      return ResponseVectorTests.difference(row["input"]?.bytes ?? []) { $0.error == nil ? "no error" : nil }
    }
    var fields = FieldList()
    if let length = row["content_length"]?.int {
      fields.append(name: "Content-Length", value: String(length))
    }
    if let coding = row["transfer_encoding"]?.string {
      fields.append(name: "Transfer-Encoding", value: coding)
    }
    for field in row["headers"]?.array ?? [] {
      fields.append(name: field.array?.first?.string ?? "", value: field.array?.last?.string ?? "")
    }
    if row["suite"]?.string == "keep-alive" { fields.append(name: "Content-Length", value: "0") }
    let head = ResponseHead(
      minorVersion: row["version"]?.string == "1.0" ? 0 : 1, status: row["status"]?.int ?? 200, fields: fields
    )
    guard let decision = try? BodyFraming.decide(for: head, answering: row["request_method"]?.string ?? "GET")
    else { return "an error" }
    if let keepsAlive = row["expect"]?.bool {
      return decision.keepAlive.isReusable == keepsAlive ? nil : "\(decision.keepAlive)"
    }
    let framing: BodyFraming? =
      switch row["expect"]?.string {
      case "none": BodyFraming.none
      case "until-close": .close
      case "chunked": .chunked
      case "length 100": .length(100)
      default: nil
      }
    return decision.framing == framing ? nil : "\(decision.framing)"
  }

  @Test("Chromium: chunks")
  func chromiumChunks() throws {
    var tally = Conformance(
      "response-parsing/chromium-chunked",
      differences: [
        (
          "a chunk's lines end with CRLF only: a difference between two readers here hides responses",
          [
            "chromium/chunked/LF_InsteadOf_CRLF"
          ]
        ),
        (
          "a tolerance of ours: a tab after a chunk size, as a space",
          ["chromium/chunked/InvalidChunkSize_TrailingTab"]
        ),
      ])
    for row in try VectorFile.rows("response-parsing/chromium-chunked.jsonl") {
      let input = (row["inputs"]?.array ?? []).flatMap { $0.bytes ?? [] }
      let expected = row["expect"]
      let (outcome, mismatches) = Decoders.chunked(input)
      var difference: String?
      if let mismatch = mismatches.first {
        difference = "\(mismatch.cut) gives something else"
      } else if expected?["error"] != nil {
        difference = outcome.error == nil ? "no error" : nil
      } else {
        let data = expected?["output"]?.string ?? ""
        let events = (data.isEmpty ? [] : ["data " + data])
        let hasEnded = outcome.events.last?.hasPrefix("end") == true
        let agrees =
          outcome.error == nil && hasEnded == (expected?["eof"]?.bool ?? false)
          && Array(outcome.events.prefix { !$0.hasPrefix("end") }) == events
          && outcome.leftOver == expected?["bytes_after_eof"]?.int
        difference = agrees ? nil : "\(outcome)"
      }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 27)
  }

  @Test("picohttpparser: chunks")
  func picohttpparserChunks() throws {
    var tally = Conformance(
      "response-parsing/picohttpparser-chunked",
      differences: [
        ("a chunk size past 2^63-1 is an error", ["picohttpparser/chunked/7"])
      ])
    for row in try VectorFile.rows("response-parsing/picohttpparser-chunked.jsonl") {
      let (outcome, mismatches) = Decoders.chunked(row["input"]?.bytes ?? [])
      let data = row["decoded"]?.string.map { "data " + $0 }
      let hasEnded = outcome.events.last?.hasPrefix("end") == true
      var difference: String?
      switch row["result"]?.string {
      case "error": difference = outcome.error == nil ? "no error" : nil
      case "incomplete": difference = outcome.error == nil && !hasEnded ? nil : "\(outcome)"
      default:
        // Without `consume_trailer` that decoder ends at the last chunk's line, ours at the end of the trailers.
        let mustEnd = row["consume_trailer"]?.int == 1
        let agrees = outcome.error == nil && outcome.events.first == data && (hasEnded || !mustEnd)
        difference = agrees ? nil : "\(outcome)"
      }
      if let mismatch = mismatches.first { difference = "\(mismatch.cut) gives something else" }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 23)
  }

  @Test("web-platform-tests: Content-Length, CR, status codes, wrong bytes")
  func webPlatformTests() throws {
    var tally = Conformance("response-parsing/wpt-h1", differences: Self.webPlatformDifferences)
    for row in try VectorFile.rows("response-parsing/wpt-h1.jsonl") {
      tally.note(row.id, Self.webPlatformDifference(row))
    }
    tally.finish(rows: 89)
  }

  private static let webPlatformDifferences: [(reason: String, ids: [String])] = [
    (
      "a Content-Length that is no number is an error: browsers ignore it",
      (19...24).map { "wpt/content-length/\($0)" }
    ),
    ("numbers that are spelled otherwise are equal, as for curl", ["wpt/content-length/26"]),
    (
      "tolerances of ours: a line that names no field is skipped, bare LF ends a line",
      ["wpt/h1-parsing/COLON/leading", "wpt/h1-parsing/LF/after-num"]
    ),
    ("a status below 100 is none", ["wpt/status-code/3", "wpt/status-code/5"]),
  ]

  private static func webPlatformDifference(_ row: VectorFile.Row) -> String? {
    let expected = row["expect"]
    if let fields = row["headers"]?.string {
      let body = String(repeating: "x", count: 42)
      return ResponseVectorTests.difference(Bytes.latin1("HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n\(body)")) {
        reading in
        guard let length = expected?.int else { return reading.messages.isEmpty ? nil : "no error" }
        return reading.messages.first?.body.count == length ? nil : "\(reading)"
      }
    }
    return ResponseVectorTests.difference(row["input"]?.bytes ?? []) { reading in
      if let status = expected?["status"]?.int {
        return reading.messages.first?.head.status == status ? nil : "\(reading)"
      }
      let isError = reading.error != nil && reading.messages.isEmpty
      switch expected?.string ?? "" {
      case let text where text.hasPrefix("ok"): return isError ? "\(reading)" : nil
      case "error", "error (empty field name)": return isError ? nil : "no error"
      case let text where text.hasPrefix("error (bare CR)"): return isError ? nil : "no error"
      // The row leaves it open: it must be the same at every cut, which is checked above.
      default: return nil
      }
    }
  }
}
