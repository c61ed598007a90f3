import Gannet
import GannetHTTP
import Synchronization
import TestSupport
import Testing

/// What a cache must do by the suite of the HTTP working group (`required` alone): loads of one URL one after the other,
/// the clock told. What is only for content delivery networks is left out.
@Suite("vectors: caching", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"), .longWork)
struct CacheVectorTests {
  private final class Clock: Sendable {
    private let seconds = Atomic<Int64>(784_111_777)
    var now: Int64 { seconds.load(ordering: .relaxed) }
    func advance(by count: Int64) { seconds.add(count, ordering: .relaxed) }
  }

  @Test("what is required of a cache")
  func required() throws {
    var tally = Conformance("cache/http-cache-tests, required", differences: Self.differences)
    for row in try VectorFile.rows("cache/http-cache-tests.jsonl") {
      guard row.string("kind") == "required", !row.flag("cdn_only"),
        let exchanges = JSONValue(row.value("requests"))?.array
      else { continue }
      tally.note(row.id, try Self.difference(row.id, exchanges))
    }
    tally.finish(rows: 110)
  }

  private static func difference(_ id: String, _ exchanges: [JSONValue]) throws -> String? {
    let clock = Clock()
    let cache = URLCache(memoryCapacity: 4 << 20) { clock.now }
    for (number, exchange) in exchanges.enumerated() {
      let server = ScriptedServer([])
      var asked: String?
      server.choose = { request in
        asked = request
        return answer(id, exchange, to: request, at: clock.now)
      }
      var configuration = Loading.configuration(server)
      configuration.urlCache = cache
      let log = CallbackLog()
      // `redirect: manual` of fetch: what is asked of is the redirect itself.
      log.answer = { request, response in response == nil ? request : nil }
      let lines = try Loading.run(request(id, exchange), configuration, log)
      if let wrong = wrong(exchange, asked: asked, log.responses.first, lines) {
        return "\(number): \(wrong)"
      }
      if exchange["pause_after"]?.bool == true { clock.advance(by: 3) }
    }
    return nil
  }

  private static func request(_ id: String, _ exchange: JSONValue) -> URLRequest {
    let query = exchange["query_arg"]?.string.map { "?" + $0 } ?? ""
    var request = URLRequest(string: "http://h/\(id)\(query)")
    request.httpMethod = exchange["request_method"]?.string
    for field in exchange["request_headers"]?.array ?? [] {
      guard let pair = field.array, let name = pair[0].string, let value = pair[1].string else { continue }
      request.addValue(value, forHTTPHeaderField: name)
    }
    if let body = exchange["request_body"]?.string { request.httpBody = Data(body.utf8) }
    if exchange["cache"]?.string == "no-cache" { request.cachePolicy = .reloadRevalidatingCacheData }
    return request
  }

  private static let dated = ["date", "expires", "last-modified"]

  private static func value(_ name: String, _ value: JSONValue, at now: Int64) -> String? {
    guard let number = value.int else { return value.string }
    return dated.contains(name.lowercased())
      ? HTTPDate(secondsSince1970: now + Int64(number)).text : String(number)
  }

  private static func answer(_ id: String, _ exchange: JSONValue, to request: String, at now: Int64) -> Answer
  {
    if exchange["disconnect"]?.bool == true { return Answer("", ending: .endOfFile) }
    var status = exchange["response_status"]?.array?.first?.int ?? 200
    let validates = exchange["expected_type"]?.string?.hasSuffix("_validated") == true
    if validates, request.contains("\r\nIf-") { status = 304 }
    var head = "HTTP/1.1 \(status) R\r\n"
    var hasLength = false
    for field in exchange["response_headers"]?.array ?? [] {
      guard let pair = field.array, let name = pair[0].string, let text = value(name, pair[1], at: now) else {
        continue
      }
      if ["content-length", "transfer-encoding"].contains(name.lowercased()) { hasLength = true }
      head += "\(name): \(text)\r\n"
    }
    let body = status == 204 || status == 304 ? "" : exchange["response_body"]?.string ?? id
    if !hasLength, !body.isEmpty { head += "Content-Length: \(body.utf8.count)\r\n" }
    return Answer("\(head)\r\n\(body)", ending: .endOfFile)
  }

  private static func wrong(
    _ exchange: JSONValue, asked: String?, _ response: HTTPURLResponse?, _ lines: [String]
  ) -> String? {
    switch exchange["expected_type"]?.string {
    case "cached" where asked != nil: return "was loaded: \(lines)"
    case "not_cached" where asked == nil || response?.isFromCache == true:
      return "came from the cache: \(lines)"
    case "etag_validated" where asked?.contains("\r\nIf-None-Match: ") != true: return "was not asked about"
    case "lm_validated" where asked?.contains("\r\nIf-Modified-Since: ") != true: return "was not asked about"
    default: break
    }
    guard exchange["disconnect"]?.bool != true else { return nil }
    guard let response else { return "no response: \(lines)" }
    let status = exchange["expected_status"]?.int ?? exchange["response_status"]?.array?.first?.int
    if let status, status != response.statusCode { return "status \(response.statusCode), not \(status)" }
    for field in exchange["expected_response_headers"]?.array ?? [] {
      let name = field.string ?? field.array?.first?.string ?? ""
      guard let got = response.value(forHTTPHeaderField: name) else { return "\(name) is missing" }
      if let pair = field.array, pair.count == 3, pair[1].string == ">" {
        if Int(got) ?? 0 <= pair[2].int ?? 0 { return "\(name): \(got)" }
      }
      guard let pair = field.array, pair.count == 2, let wanted = pair[1].string else { continue }
      if got != wanted { return "\(name): \(got), not \(wanted)" }
    }
    for field in exchange["expected_response_headers_missing"]?.array ?? [] {
      let name = field.string ?? field.array?.first?.string ?? ""
      if response.value(forHTTPHeaderField: name) != nil { return "\(name) is there" }
    }
    for field in exchange["expected_request_headers"]?.array ?? [] {
      guard let pair = field.array, let name = pair[0].string, let wanted = pair[1].string else { continue }
      if asked?.lowercased().contains("\r\n\(name): \(wanted)\r\n".lowercased()) != true {
        return "\(name) was not sent"
      }
    }
    if let text = exchange["expected_response_text"]?.string, !lines.contains("data \(text)") {
      return "another body: \(lines)"
    }
    return lines.last == "finish" ? nil : "\(lines)"
  }

  private static let differences: [(reason: String, ids: [String])] = [
    (
      "`s-maxage` is for shared caches",
      [
        "freshness-s-maxage-shared", "freshness-max-age-s-maxage-shared-longer",
        "freshness-max-age-s-maxage-shared-longer-reversed",
      ]
    ),
    ("a caller's own conditions go to the server", ["conditional-etag-precedence"]),
    ("a range is asked of the server", ["partial-use-headers"]),
  ]
}
