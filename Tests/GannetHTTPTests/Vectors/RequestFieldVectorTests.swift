import GannetHTTP
import TestSupport
import Testing

/// The fields of other parsers' tests of requests, read as a response's. Each row runs at every cut.
@Suite(
  "vectors: fields of requests", .longWork,
  .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct RequestFieldVectorTests {
  /// The input with its first line replaced by a status line, or nil when it has no line after that.
  static func asResponse(_ input: [UInt8]) -> [UInt8]? {
    guard let end = input.firstIndex(of: .lineFeed), end > 1, end + 1 < input.count else { return nil }
    return Array("HTTP/1.1 200 OK\r\n".utf8) + input[(end + 1)...]
  }

  @Test("picohttpparser")
  func picohttpparser() throws {
    var tally = Conformance(
      "response-parsing/picohttpparser, fields",
      differences: [
        ("a folded line joins the field before it", ["picohttpparser/request/4"]),
        (
          "tolerated: a line that names no field is skipped",
          ["picohttpparser/request/5", "picohttpparser/request/18", "picohttpparser/request/19"]
        ),
      ])
    // These are wrong in their first line, which is not ours.
    let firstLines = ([16, 17] + Array(20...23)).map { "picohttpparser/request/\($0)" }
    for row in try VectorFile.rows("response-parsing/picohttpparser.jsonl") {
      guard row.string("kind") != "response", !firstLines.contains(row.id), let input = row.latin1("input")
      else { continue }
      let head =
        row.string("kind") == "headers" ? Array("HTTP/1.1 200 OK\r\n".utf8) + input : Self.asResponse(input)
      guard let head else { continue }
      let difference = ResponseVectorTests.difference(head) { reading in
        switch row["expect"]?["result"]?.string {
        case "error": return reading.error == nil ? "no error" : nil
        case "incomplete": return reading.isInHead ? nil : "not incomplete"
        default: break
        }
        guard let message = reading.messages.first else { return "no message" }
        guard let fields = row["expect"]?["headers"]?.array else { return nil }
        let values = fields.map { ResponseVectorTests.fieldText($0.array?.last) }
        return message.head.fields.map(\.value) == values ? nil : "\(message.head.fields)"
      }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 24)
  }

  @Test("llhttp")
  func llhttp() throws {
    var tally = Conformance(
      "response-parsing/llhttp-request, fields",
      differences: [
        (
          "tolerated: bare LF, folded lines",
          [
            "request/invalid.md:116", "request/invalid.md:257", "request/invalid.md:654",
            "request/sample.md:398",
          ]
        ),
        (
          "tolerated: a line that names no field is skipped",
          [
            "request/invalid.md:336", "request/invalid.md:375", "request/invalid.md:512",
          ]
        ),
        (
          "tolerated: an empty extension, blanks after a chunk size",
          [
            "request/transfer-encoding.md:331", "request/transfer-encoding.md:1187",
          ]
        ),
        (
          "a response, not a request: without a final chunked it ends with the connection",
          [
            "request/content-length.md:132", "request/transfer-encoding.md:498",
            "request/transfer-encoding.md:577",
            "request/transfer-encoding.md:616", "request/transfer-encoding.md:647",
          ]
        ),
        (
          "a coding under chunked cannot be decoded",
          [
            "request/transfer-encoding.md:754", "request/transfer-encoding.md:796",
          ]
        ),
      ])
    for row in try VectorFile.rows("response-parsing/llhttp-request.jsonl") {
      guard row["meta"]?["type"]?.string == "request", let head = Self.asResponse(row.latin1("input") ?? [])
      else { continue }
      let reason = row["expect"]?["error"]?["reason"]?.string
      // What is wrong in the first line, and what only requests have, is not ours.
      let words = [
        "eader", "ontent-Length", "chunk", "LF after", "CR after", "hitespace", "Unexpected space",
      ]
      if let reason,
        !words.contains(where: reason.contains) || reason.contains("version") || reason.contains("method")
      {
        continue
      }
      let wanted = row["expect"]?["messages"]?.array?.first?["headers"]?.array ?? []
      let difference = ResponseVectorTests.difference(
        head + Array(head.last == .lineFeed ? "\r\n".utf8 : "\r\n\r\n".utf8)
      ) { reading in
        if let reason {
          return reading.error != nil || reading.leftOver > 0 ? nil : "no error, but \(reason)"
        }
        guard let message = reading.messages.first else { return "\(reading.error?.reason ?? "no message")" }
        return ResponseVectorTests.difference(Array(message.head.fields), wanted)
      }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 96)
  }
}
