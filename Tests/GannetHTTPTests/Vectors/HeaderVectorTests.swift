import GannetHTTP
import TestSupport
import Testing

/// Field values of other suites: dates, media types, dispositions, names of files.
@Suite("vectors: field values", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct HeaderVectorTests {
  /// What is different between a text and what a row wants, whose wide characters some rows cut to their low byte.
  static func difference(_ text: String?, _ expected: [UInt8]?) -> String? {
    let wanted = expected ?? []
    let got = text ?? ""
    let lowBytes = got.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    return Array(got.utf8) == wanted || lowBytes == wanted ? nil : got.debugDescription
  }

  /// A folded value as the decoder makes it one line.
  static func unfolded(_ text: String) -> String {
    var bytes = Bytes.latin1(text)
    bytes.removeAll { $0 == .carriageReturn || $0 == .lineFeed }
    return String(fieldText: bytes.span)
  }

  @Test("Chromium: Content-Disposition")
  func chromiumDisposition() throws {
    var tally = Conformance(
      "headers/chromium-content-disposition", differences: HeaderDifferences.chromiumDisposition)
    for row in try VectorFile.rows("headers/chromium-content-disposition.jsonl") {
      let disposition = ContentDisposition(Self.unfolded(row.string("header") ?? ""))
      var difference = Self.difference(disposition.filename, row.latin1("filename_utf8_bytes"))
      // There everything but `attachment` and the like counts as inline; the type here is the token itself.
      if let type = row.string("type"), type == "ATTACHMENT", disposition.type == "inline" {
        difference = "type \(disposition.type)"
      }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 126)
  }

  @Test("Firefox: Content-Disposition")
  func firefoxDisposition() throws {
    var tally = Conformance(
      "headers/firefox-content-disposition", differences: HeaderDifferences.firefoxDisposition)
    for row in try VectorFile.rows("headers/firefox-content-disposition.jsonl") {
      // The `rfc5987` rows are values of `filename*`.
      let header = row.string("header") ?? "attachment; filename*=" + (row.string("param") ?? "")
      let filename = ContentDisposition(Self.unfolded(header)).filename
      let wanted = row.string("result") == "NS_OK" ? row.string("value") : row.string("http_filename")
      tally.note(row.id, filename == wanted ? nil : "\(filename ?? "nil") not \(wanted ?? "nil")")
    }
    tally.finish(rows: 93)
  }

  @Test("Chromium: suggested file names")
  func chromiumFilenames() throws {
    var tally = Conformance(
      "headers/chromium-suggested-filename", differences: HeaderDifferences.chromiumFilenames)
    for row in try VectorFile.rows("headers/chromium-suggested-filename.jsonl") {
      let disposition = row.string("filename").map { "attachment; filename=\"\($0)\"" }
      let given = row.string("content_disposition").map { Self.unfolded($0) }
      let url = row.string("url").flatMap { try? HTTPURL($0) }
      // A default name and a name suggested by a link are not the response's.
      let name = SuggestedFilename.choose(
        disposition: disposition ?? given, path: url?.path ?? "", host: url?.host ?? "",
        mediaType: row.string("mime_type"))
      let wanted = row.latin1("expected") ?? row.latin1("expected_utf8_bytes")
      tally.note(row.id, Self.difference(name, wanted))
    }
    tally.finish(rows: 121)
  }

  @Test("Go: media types and dispositions")
  func goMediaTypes() throws {
    var tally = Conformance("headers/go-mediatype", differences: HeaderDifferences.goMediaTypes)
    for row in try VectorFile.rows("headers/go-mediatype.jsonl") where row.string("suite") != "consume-param"
    {
      tally.note(row.id, Self.goDifference(row))
    }
    tally.finish(rows: 93)
  }

  private static func goDifference(_ row: VectorFile.Row) -> String? {
    let input = unfolded(row.string("input") ?? "")
    let isWanted = !(row.string("type") ?? "").isEmpty && !row.has("error")
    let wanted = row.object("params") ?? [:]
    if input.contains("/"), let type = MediaType(input) {
      if !isWanted { return "taken" }
      if type.essence != row.string("type") { return type.essence }
      let got = Dictionary(type.parameters.map { ($0.name, $0.value) }) { first, _ in first }
      return got == wanted.mapValues { unfolded($0) } ? nil : "\(got)"
    }
    if input.contains("/") { return isWanted ? "refused" : nil }
    let disposition = ContentDisposition(input)
    if !isWanted { return disposition.filename == nil ? nil : "filename \(disposition.filename ?? "")" }
    if disposition.type != row.string("type") { return "type \(disposition.type)" }
    let name = wanted["filename"].map { unfolded($0) }
    return disposition.filename == name ? nil : "filename \(disposition.filename ?? "nil")"
  }

  @Test("Chromium: media types")
  func chromiumMediaTypes() throws {
    var tally = Conformance(
      "headers/chromium-http-util, media types", differences: HeaderDifferences.chromiumMediaTypes)
    for row in try VectorFile.rows("headers/chromium-http-util.jsonl") {
      switch row.string("suite") {
      case "content-type":
        let type = MediaType(row.string("content_type") ?? "")
        let wanted = (row.string("mime_type"), row.string("charset"), row.string("boundary"))
        let got = (type?.essence ?? "", type?.charset ?? "", type?.boundary ?? "")
        tally.note(row.id, got == (wanted.0 ?? "", wanted.1 ?? "", wanted.2 ?? "") ? nil : "\(got)")
      case "parse-mime-type":
        let type = MediaType(Self.unfolded(row.string("input") ?? ""))
        let wanted = (row["params"]?.array ?? []).map { Self.pair($0) }
        let got = (type?.parameters ?? []).map { "\($0.name)=\($0.value)" }
        let agrees = (type?.essence ?? "") == row.string("mime_type") ?? "" && got == wanted
        tally.note(row.id, agrees ? nil : "\(type?.essence ?? "nil") \(got) not \(wanted)")
      default: break
      }
    }
    tally.finish(rows: 70)
  }

  private static func pair(_ value: JSONValue) -> String {
    (value.array ?? []).map { $0.string ?? "" }.joined(separator: "=")
  }

  @Test("web-platform-tests: Content-Type fields, several and joined")
  func webPlatformTests() throws {
    var tally = Conformance("headers/wpt-content-type-extract")
    for row in try VectorFile.rows("headers/wpt-content-type-extract.jsonl") {
      let values = row.strings("input")
      let wanted = row.string("mime_type").flatMap { MediaType($0) }
      let several = MediaType(contentTypeOf: FieldList(values.map { (name: "Content-Type", value: $0) }))
      let joined = MediaType(contentTypeOf: ["Content-Type": values.joined(separator: ", ")])
      let agrees = several == wanted && joined == wanted
      tally.note(
        row.id, agrees ? nil : "\(String(describing: several)), joined \(String(describing: joined))")
    }
    tally.finish(rows: 16)
  }

  @Test("curl: dates")
  func curlDates() throws {
    var tally = Conformance("headers/curl-dates", differences: HeaderDifferences.curlDates)
    for row in try VectorFile.rows("headers/curl-dates.jsonl") {
      // Some are C: `(time_t)2362034977LL`.
      let number = row.string("unix_time").map { $0.split(separator: ")").last?.prefix { $0 != "L" } ?? "" }
      let seconds = row.integer("unix_time").map { Int64($0) } ?? number.flatMap { Int64($0) }
      let wanted = seconds == -1 ? nil : seconds
      let got = HTTPDate(row.string("input") ?? "")?.secondsSince1970
      tally.note(row.id, got == wanted ? nil : "\(got ?? -1) \(row.string("input") ?? "")")
    }
    tally.finish(rows: 182)
  }

  @Test("Chromium: heads")
  func chromiumHeads() throws {
    var tally = Conformance(
      "response-parsing/chromium-response-headers: syntax, type, length, persistence",
      differences: HeaderDifferences.chromiumHeads)
    for row in try VectorFile.rows("response-parsing/chromium-response-headers.jsonl") {
      guard ["parse", "content-type", "content-length", "keep-alive"].contains(row.string("suite")) else {
        continue
      }
      var input = row.string("input") ?? ""
      while input.hasSuffix("\n") { input.removeLast() }
      // The LF stands for whatever ends a line.
      input = input.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n")
      tally.note(row.id, Self.headDifference(row, Bytes.latin1(input + "\r\n\r\n")))
    }
    tally.finish(rows: 57)
  }

  private static func headDifference(_ row: VectorFile.Row, _ input: [UInt8]) -> String? {
    var decoder = ResponseHeadDecoder()
    guard let head = try? decoder.step(input.span).head else { return "refused" }
    switch row.string("suite") {
    case "parse":
      let fields = head.fields.map { "\($0.name): \($0.value)\n" }.joined()
      let line =
        "HTTP/1.\(head.minorVersion) \(head.status)" + (head.reason.isEmpty ? "" : " " + head.reason) + "\n"
      return line + fields == row.string("expected") ? nil : (line + fields).debugDescription
    case "content-type":
      let type = MediaType(contentTypeOf: head.fields)
      let agrees =
        (type?.essence ?? "") == row.string("mime_type") ?? ""
        && (type?.charset ?? "") == row.string("charset") ?? ""
      return agrees ? nil : "\(type?.essence ?? "nil") \(type?.charset ?? "nil")"
    case "content-length":
      guard let framing = try? BodyFraming.decide(for: head, answering: "GET").framing else {
        return "refused"
      }
      let length: Int = if case .length(let length) = framing { Int(length) } else { -1 }
      return length == row.integer("content_length") ? nil : "\(length)"
    default:
      // There the fields alone decide, whatever the framing.
      var head = head
      head.fields.set("0", for: "Content-Length")
      let persistence = try? BodyFraming.decide(for: head, answering: "GET").keepAlive
      return persistence?.isReusable == row.flag("keep_alive") ? nil : "\(String(describing: persistence))"
    }
  }
}
