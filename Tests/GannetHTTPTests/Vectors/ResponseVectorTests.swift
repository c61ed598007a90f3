import GannetHTTP
import TestSupport
import Testing

/// Whole responses of other parsers' tests. Each row runs at every cut.
@Suite("vectors: responses", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"), .longWork)
struct ResponseVectorTests {
  typealias Reading = ResponseReader.Reading

  /// Reads `bytes` at every cut, and says what is different from what `compare` wants.
  static func difference(
    _ bytes: [UInt8], answering method: String = "GET", _ compare: (Reading) -> String?
  ) -> String? {
    let (reading, mismatch) = ResponseReader.read(bytes, answering: method)
    if let mismatch { return "\(mismatch) gives something else" }
    return compare(reading)
  }

  /// What is different between a message and an object with any of `status`, `headers` and `body`.
  static func difference(_ message: ResponseReader.Message, from expected: JSONValue) -> String? {
    let head = message.head
    if let status = expected["status"]?.int, status != head.status { return "status \(head.status)" }
    if let version = expected["version"]?.string, version != "1.\(head.minorVersion)" {
      return "version 1.\(head.minorVersion)"
    }
    if let fields = expected["headers"]?.array,
      let difference = difference(head.fields + message.trailers, fields)
    {
      return difference
    }
    if let body = expected["body"]?.bytes, body != message.body {
      return "body " + Bytes.text(message.body).debugDescription
    }
    return nil
  }

  static func difference(_ fields: [Field], _ expected: [JSONValue]) -> String? {
    let wanted = expected.map { pair -> String in
      // Some parsers keep the blanks after a value.
      var parts = (pair.array ?? []).map { Self.fieldText($0) }
      while let last = parts.last, last.hasSuffix(" ") || last.hasSuffix("\t") {
        parts[parts.count - 1].removeLast()
      }
      return parts.joined(separator: ": ")
    }
    let got = fields.map { "\($0.name): \($0.value)" }
    return wanted == got ? nil : "fields \(got) not \(wanted)"
  }

  /// The text of a field whose bytes the vectors give.
  static func fieldText(_ value: JSONValue?) -> String {
    let bytes = value?.bytes ?? []
    return String(fieldText: bytes.span)
  }

  static let tolerated = "a tolerance of ours (docs/CONFORMANCE.md)"
  static let strict = "a leniency that we don't have"

  @Test("llhttp")
  func llhttp() throws {
    var tally = Conformance(
      "response-parsing/llhttp-response",
      differences: [
        (
          Self.tolerated + ": several spaces, bare LF, blanks after a chunk size",
          [
            "response/invalid.md:234", "response/sample.md:333", "response/transfer-encoding.md:7",
          ]
        ),
        (Self.tolerated + ": a first line that begins with a blank is skipped", ["response/invalid.md:215"]),
        (
          "other protocols and versions are not HTTP/1.x",
          [
            "response/lenient-version.md:7", "response/sample.md:43", "response/sample.md:63",
          ]
        ),
        (Self.strict + ": a line ended by CR alone", ["response/invalid.md:154"]),
        ("a folded line joins with one space, RFC 9112 section 5.2", ["response/transfer-encoding.md:392"]),
      ])
    for row in try VectorFile.rows("response-parsing/llhttp-response.jsonl") {
      let messages = row["expect"]?["messages"]?.array ?? []
      var input = row["input"]?.bytes ?? []
      // The rows lost the CRLF at their end, as the offsets show.
      let ends = messages.flatMap { [$0["headers_end_off"]?.int, $0["end_off"]?.int].compactMap { $0 } }
      if ends.contains(where: { $0 > input.count }) { input += [.carriageReturn, .lineFeed] }
      let reason = row["expect"]?["error"]?["reason"]?.string
      let difference = Self.difference(input) {
        Self.llhttpDifference($0, messages: messages, errorReason: reason)
      }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 63)
  }

  private static func llhttpDifference(_ reading: Reading, messages: [JSONValue], errorReason: String?)
    -> String?
  {
    switch errorReason {
    case "Pause on CONNECT/Upgrade": return reading.messages.last?.framing == .upgrade ? nil : "no upgrade"
    case "Data after `Connection: close`": return reading.leftOver > 0 ? nil : "no bytes left over"
    case let reason?: return reading.error == nil ? "no error, but \(reason)" : nil
    case nil: break
    }
    if let error = reading.error { return "error \(error)" }
    let complete = messages.filter { $0["headers_end_off"] != nil }
    guard complete.count == reading.messages.count else { return "\(reading.messages.count) messages" }
    for (message, wanted) in zip(reading.messages, complete) {
      if message.isComplete != (wanted["complete"]?.bool ?? false) {
        return "complete: \(message.isComplete)"
      }
      // The rows lost the line ends within bodies.
      var message = message
      message.body.removeAll { $0 == .carriageReturn || $0 == .lineFeed }
      if let difference = difference(message, from: wanted) { return difference }
    }
    return nil
  }

  @Test("http-parser")
  func httpParser() throws {
    var tally = Conformance(
      "response-parsing/http-parser-response",
      differences: [
        ("not HTTP/1.x", ["http-parser/response/11"]),
        ("a name with a space is skipped, not kept", ["http-parser/response/19"]),
      ])
    for row in try VectorFile.rows("response-parsing/http-parser-response.jsonl") {
      let expected = row["expect"]
      let difference = Self.difference(row["input"]?.bytes ?? []) { reading in
        if let error = reading.error { return "error \(error)" }
        guard let message = reading.messages.first else { return "no message" }
        if message.head.status != expected?["status_code"]?.int { return "status \(message.head.status)" }
        let reason = Self.fieldText(expected?["response_status"])
        if message.head.reason != reason { return "reason \(message.head.reason)" }
        let endsWithConnection = message.framing == .close
        if endsWithConnection != expected?["message_complete_on_eof"]?.bool {
          return "framing \(message.framing)"
        }
        // What follows a switch of protocols is not HTTP, so it keeps nothing alive for us.
        let keepsAlive = message.persistence.isReusable || message.framing == .upgrade
        if keepsAlive != expected?["should_keep_alive"]?.bool { return "persistence \(message.persistence)" }
        if message.framing == .upgrade { return nil }
        return expected.flatMap { Self.difference(message, from: $0) }
      }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 30)
  }

  @Test("picohttpparser: responses")
  func picohttpparser() throws {
    var tally = Conformance(
      "response-parsing/picohttpparser, responses",
      differences: [
        ("a folded line joins the field before it", ["picohttpparser/response/3"])
      ])
    for row in try VectorFile.rows("response-parsing/picohttpparser.jsonl")
    where row["kind"]?.string == "response" {
      let expected = row["expect"]
      let difference = Self.difference(row["input"]?.bytes ?? []) { reading in
        switch expected?["result"]?.string {
        case "error": return reading.error == nil ? "no error" : nil
        case "incomplete": return reading.isInHead ? nil : "not incomplete: \(reading)"
        default: break
        }
        guard let message = reading.messages.first else { return "no message: \(reading)" }
        if let reason = expected?["msg"]?.string, reason != message.head.reason { return "reason" }
        if let count = expected?["num_headers"]?.int, count != message.head.fields.count {
          return "field count"
        }
        guard let fields = expected?["headers"]?.array else { return nil }
        let names = fields.map { Self.fieldText($0.array?.first) }
        if names == ["*not-checked*"] {
          return message.head.fields.first?.value == Self.fieldText(fields[0].array?.last) ? nil : "value"
        }
        return Self.difference(Array(message.head.fields), fields)
      }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 29)
  }

  @Test("Go")
  func go() throws {
    var tally = Conformance(
      "response-parsing/go-response",
      differences: [
        ("not HTTP/1.x", ["go/ReadResponseErrors/22"]),
        ("a status below 100 is none", ["go/ReadResponseErrors/12"]),
        ("an empty Content-Length is no number", ["go/ReadResponseErrors/32"]),
        (Self.tolerated + ": a first line that begins with a blank is skipped", ["go/ReadResponseErrors/39"]),
        ("a 304 has no body, whatever its Content-Length fields say", ["go/ReadResponseErrors/36"]),
        (
          Self.tolerated + ": a final coding other than chunked ends with the connection",
          [
            "go/transfer-encoding/3", "go/transfer-encoding/4",
          ]
        ),
        ("a chunk size past 2^63-1 is an error", ["go/chunk-size/3"]),
      ])
    for row in try VectorFile.rows("response-parsing/go-response.jsonl")
    where row["suite"]?.string != "location" {
      tally.note(row.id, Self.goDifference(row))
    }
    tally.finish(rows: 56)
  }

  private static func goDifference(_ row: VectorFile.Row) -> String? {
    let expected = row["expect"]
    let isWanted = expected?["error"]?.string ?? "" == ""
    let isRead = { (reading: Reading) in reading.messages.isEmpty == isWanted ? "\(reading)" : nil }
    switch row["suite"]?.string {
    case "errors":
      let input = row["input"]?.bytes ?? []
      return input.isEmpty ? nil : difference(input, isRead)
    case "transfer-encoding":
      let values = row["headers"]?["Transfer-Encoding"]?.array ?? []
      let lines = values.map { "Transfer-Encoding: \($0.string ?? "")\r\n" }.joined()
      let isChunkedAlone = { (reading: Reading) in
        let agrees = isWanted ? reading.messages.first?.framing == .chunked : reading.error != nil
        return agrees ? nil : "\(reading)"
      }
      return difference(Bytes.latin1("HTTP/1.1 200 OK\r\n" + lines + "\r\n"), isChunkedAlone)
    case "content-length":
      return difference(
        Bytes.latin1("HTTP/1.1 200 OK\r\nContent-Length: \(row["value"]?.string ?? "")\r\n\r\n"), isRead)
    case "chunk-size":
      let head = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
      return difference(Bytes.latin1(head + "\(row["value"]?.string ?? "")\r\n")) {
        ($0.error == nil) == isWanted ? nil : "\($0)"
      }
    default: break
    }
    return difference(row["input"]?.bytes ?? [], answering: row["request_method"]?.string ?? "GET") {
      reading in
      guard let message = reading.messages.first, reading.error == nil else { return "\(reading)" }
      // Go says close for a body that has no end of its own, and keeps what HTTP/1.0 and both framings forbid.
      let closes = !message.persistence.isReusable && message.persistence != .lengthWithTransferEncoding
      if let close = expected?["close"]?.bool, close != closes { return "persistence \(message.persistence)" }
      if let status = expected?["status"]?.int, status != message.head.status { return "status" }
      return expected?["body"]?.bytes == message.body ? nil : "body \(Bytes.text(message.body))"
    }
  }
}

extension FieldList {
  static func + (left: FieldList, right: FieldList) -> [Field] { Array(left) + Array(right) }
}
