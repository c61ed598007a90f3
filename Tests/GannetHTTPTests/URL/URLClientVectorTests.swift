import GannetHTTP
import Testing
import TestSupport

/// The URL tables of curl and Go, whose results are compared in our canonical form.
@Suite("vectors: URLs of curl and Go", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct URLClientVectorTests {
  // MARK: curl

  @Test(
    "curl: URLs read, and references resolved",
    arguments: ["get_url_list", "get_parts_list", "set_url_list"],
    [nil] + HostNameTables.all)
  func curl(suite: String, tables: HostNameTables?) throws {
    var tally = URLTally()
    for row in try VectorFile.rows("url/curl-url-api.jsonl") where row.string("suite") == suite {
      tally.rows += 1
      check(row, tables, &tally)
    }
    switch suite {
    case "get_url_list":
      #expect(tally.rows == 218)
      #expect(
        tally.counts
          == [
            .notOurs: tables == nil ? 58 : 57, .otherScheme: 12, .file: 12, .laxHost: 12,
            .strictHost: tables == nil ? 10 : 13, .slashes: 2, .emptyParts: 2, .spaces: 1,
          ].adding(.nonASCIIHost, tables == nil ? 3 : 0))
    case "get_parts_list":
      #expect(tally.rows == 181)
      #expect(
        tally.counts
          == [
            .notOurs: tables == nil ? 19 : 15, .otherScheme: 20, .file: 11, .laxHost: 17, .spaces: 8,
            .backslash: 3, .slashes: 2, .emptyParts: 2, .strictHost: 1,
          ].adding(.nonASCIIHost, tables == nil ? 3 : 0))
    default:
      #expect(tally.rows == 62)
      #expect(tally.counts == [.notOurs: 1, .spaces: 1, .file: 7, .backslash: 1])
    }
  }

  private func check(_ row: VectorFile.Row, _ tables: HostNameTables?, _ tally: inout URLTally) {
    let id = row.string("id") ?? ""
    let input = text(row, "in")
    let flags = [row.string("urlflags"), row.string("getflags"), row.string("setflags")].compactMap { $0 }
    var own = ["NO_AUTHORITY", "DISALLOW", "PATH_AS_IS", "URLDECODE"]
    // A row of `[30]` is of a curl that has no tables itself.
    if tables == nil || text(row, "out").contains("[30]") { own.append("PUNY") }
    let namesScheme = input.prefix { $0 != "/" && $0 != "\\" }.hasSuffix(":")
    let guessed =
      flags.contains { $0.contains("_GUESS_SCHEME") || $0.contains("DEFAULT_SCHEME") } && !namesScheme
    if guessed || flags.contains(where: { flag in own.contains { flag.contains($0) } }) {
      _ = urlOutcome(input, at: nil, tables?.encoder)
      return tally.differ(.notOurs, id, "")
    }
    let outcome =
      row.has("set")
      ? urlOutcome(text(row, "set"), at: input, tables?.encoder)
      : urlOutcome(input, at: nil, tables?.encoder)
    if let difference = schemeDifference(outcome, input) { return tally.differ(difference, id, "") }
    let isTaken = row.string("ucode") == "CURLUE_OK"
    switch outcome {
    case .failure(let error):
      if isTaken { tally.differ(reason(for: error), id, "\(input) was refused: \(error)") }
    case .success(let url):
      guard isTaken else {
        return tally.differ(reason(forRefusal: row.string("ucode")), id, "\(input) was taken as \(url.text)")
      }
      compare(url, with: expected(row), tables, id, &tally)
    }
  }

  private func schemeDifference(_ outcome: Result<HTTPURL, URLSyntaxError>, _ input: String) -> URLDifference?
  {
    if input.hasPrefix("file:") { return .file }
    guard case .success(let url) = outcome else { return nil }
    return ["http", "https", "ws", "wss", "ftp"].contains(url.scheme) ? nil : .otherScheme
  }

  private func reason(for error: URLSyntaxError) -> URLDifference? {
    switch error.rule {
    case .nonASCIIHost: .nonASCIIHost
    case .noHost: .slashes
    case .badHost: .strictHost
    default: nil
    }
  }

  private func reason(forRefusal code: String?) -> URLDifference? {
    switch code {
    case "CURLUE_BACKSLASH": .backslash
    case "CURLUE_BAD_HOSTNAME": .laxHost
    case "CURLUE_MALFORMED_INPUT": .spaces
    default: nil
    }
  }

  /// The URL that a row's `out` says, put together from its parts where it lists them.
  private func expected(_ row: VectorFile.Row) -> String {
    let out = text(row, "out")
    guard row.string("suite") == "get_parts_list" else { return out }
    // scheme | user | password | options | host[ zone] | port | path | query | fragment; "[N]": not there
    let parts = out.split(separator: "|", omittingEmptySubsequences: false).map { part in
      let part = String(part).trimmingSpace
      return part.hasPrefix("[") && part.hasSuffix("]") && UInt8(part.dropFirst().dropLast()) != nil
        ? nil : part
    }
    guard parts.count == 9 else { return out }
    var url = (parts[0] ?? "") + "://"
    if let user = parts[1] { url += user + (parts[2].map { ":" + $0 } ?? "") + "@" }
    let host = (parts[4] ?? "").split(separator: " ").map(String.init)
    url += host.count == 2 ? "\(host[0].dropLast())%25\(host[1])]" : host.first ?? ""
    if let port = parts[5] { url += ":" + port }
    url += parts[6] ?? ""
    if let query = parts[7] { url += "?" + query }
    if let fragment = parts[8] { url += "#" + fragment }
    return url
  }

  private func compare(
    _ url: HTTPURL, with expected: String, _ tables: HostNameTables?, _ id: String, _ tally: inout URLTally
  ) {
    guard case .success(let theirs) = urlOutcome(expected, at: nil, tables?.encoder) else {
      return tally.differ(nil, id, "\(expected), the suite's result, is none to us")
    }
    if theirs == url { return }
    if withoutEmptyParts(url.text) == withoutEmptyParts(theirs.text) {
      tally.differ(.emptyParts, id, "")
    } else if theirs.text == spacesAsPlus(url.text)
      || theirs.text.hasPrefix(url.text) && theirs.text.hasSuffix("%20")
    {
      tally.differ(.spaces, id, "")
    } else if expected.contains("\\") {
      tally.differ(.backslash, id, "")
    } else {
      tally.differ(nil, id, "\(url.text), not \(theirs.text)")
    }
  }

  private func withoutEmptyParts(_ text: String) -> String {
    var text = text
    if text.hasSuffix("#") { text.removeLast() }
    if text.hasSuffix("?") { text.removeLast() }
    return text
  }

  /// The text with `%20` in its query as `+`.
  private func spacesAsPlus(_ text: String) -> String {
    guard let mark = text.firstIndex(of: "?") else { return text }
    return text[..<mark]
      + text[mark...].split(separator: "%20", omittingEmptySubsequences: false).joined(separator: "+")
  }

  private func text(_ row: VectorFile.Row, _ key: String) -> String {
    String(decoding: row.latin1(key) ?? [], as: UTF8.self)
  }

  // MARK: Go

  @Test("Go: references resolved")
  func goResolve() throws {
    var rows = 0
    for row in try VectorFile.rows("url/go-url.jsonl") {
      guard let id = row.string("id"), let base = row.string("base"), let reference = row.string("ref"),
        let expected = row.string("expect")
      else { continue }
      rows += 1
      if row.string("suite") == "resolve-path" {
        #expect(try HTTPURL("http://h/" + base).resolving(reference).path == expected, "\(id)")
      } else {
        #expect(try HTTPURL(base).resolving(reference) == HTTPURL(expected).canonical, "\(id)")
      }
    }
    #expect(rows == 99)
  }

  @Test("Go: what the request line says")
  func goRequestTarget() throws {
    var rows = 0
    for row in try VectorFile.rows("url/go-url.jsonl") where row.string("suite") == "request-uri" {
      // Go can say a path twice, or something opaque in its place; a text cannot.
      guard let id = row.string("id"), let url = row.value("url") as? [String: Any], url["Opaque"] == nil,
        url["RawPath"] == nil
      else { continue }
      rows += 1
      let mark = url["RawQuery"] != nil || url["ForceQuery"] != nil ? "?" : ""
      let given = ["Scheme", "Host", "Path", "RawQuery"].map { url[$0] as? String ?? "" }
      let text = given[0] + "://" + given[1] + given[2] + mark + given[3]
      #expect(try HTTPURL(text).requestTarget == row.string("expect"), "\(id)")
    }
    #expect(rows == 5)
  }

  @Test("Go: what is refused")
  func goErrors() throws {
    var tally = URLTally()
    let differences: [String: URLDifference] = [
      "go/parse-error/11": .strictHost,  // an escape in a zone
      "go/parse-error/14": .laxHost,  // http://%41:8080/
      "go/parse-error/17": .spaces,  // a space before the scheme
      "go/parse-error/26": .notOurs,  // a relative reference
    ]
    for row in try VectorFile.rows("url/go-url.jsonl") where row.string("suite") == "parse-error" {
      guard let id = row.string("id"), let input = row.string("input") else { continue }
      tally.rows += 1
      let isRefused = if case .failure = urlOutcome(input) { true } else { false }
      if isRefused != row.flag("error") {
        tally.differ(differences[id], id, "\(input) refused: \(isRefused)")
      }
    }
    #expect(tally.rows == 27)
    #expect(tally.counts == [.strictHost: 1, .laxHost: 1, .spaces: 1, .notOurs: 1])
  }
}

extension String {
  /// One space less at each end.
  fileprivate var trimmingSpace: String {
    var text = self
    if text.hasPrefix(" ") { text.removeFirst() }
    if text.hasSuffix(" ") { text.removeLast() }
    return text
  }
}
