import GannetHTTP
import GannetPolicy
import TestSupport
import Testing

/// Public suites of cookies. Most are older than RFC 6265bis, which is what is held to.
@Suite("vectors: cookies", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct CookieVectorTests {
  private static let nameless =
    "a cookie without a name is kept and sent as its value alone (6265bis section 5.7)"
  private static let suffixes = "`co.uk` is a domain as any other is"

  @Test func dates() throws {
    var tally = Conformance("http-state, dates")
    for row in try VectorFile.rows("cookies/http-state-dates.jsonl") {
      let text = row.latin1("test") ?? []
      let date = CookieDate.parse(text.span).map { HTTPDate(secondsSince1970: $0).text }
      tally.note(row.id, date == row.string("expected") ? nil : "\(date ?? "nil")")
    }
    tally.finish(rows: 70)
  }

  @Test func parsing() throws {
    var tally = Conformance(
      "http-state, parser",
      differences: [
        (
          Self.nameless,
          [
            "0004", "0021", "0023", "0024", "0025", "0026", "0027", "chromium0009", "chromium0010",
            "chromium0012", "mozilla0012", "mozilla0014", "mozilla0015", "mozilla0016", "mozilla0017",
            "name0017", "name0023", "name0025", "name0028", "name0031", "name0032", "name0033",
          ]
        ),
        (
          "a control byte refuses the whole cookie (6265bis section 5.6)",
          ["disabled-chromium0022", "disabled-chromium0023"]
        ),
        ("the last `Domain` counts, also an empty one (6265bis section 5.7)", ["optional-domain0042"]),
        ("paths are compared without undoing escapes (6265bis section 5.1.4)", ["disabled-path0029"]),
        ("what the suite expects is a line of its own notes", ["0028"]),
      ])
    for row in try VectorFile.rows("cookies/http-state-parser.jsonl") {
      var visits = Visits()
      let base = try HTTPURL("http://home.example.org:8888/cookie-parser?\(row.id)")
      try visits.receive(row.strings("set_cookie").map { Bytes.latin1($0) }, from: base.text)
      let location = row.string("location") ?? "/cookie-parser-result?\(row.id)"
      let sent = try visits.sentBytes(to: try base.resolving(location).text)
      let expected = row.latin1("expected_cookie") ?? []
      tally.note(row.id, sent == expected ? nil : "sent \(String(decoding: sent, as: UTF8.self))")
    }
    tally.finish(rows: 222)
  }

  @Test func webPlatform() throws {
    var tally = Conformance("web-platform-tests, cookies")
    for row in try VectorFile.rows("cookies/wpt-cookies.jsonl") {
      var visits = Visits()
      if row.string("suite") == "size" {
        let (name, value) = (row.integer("name_length") ?? 0, row.integer("value_length") ?? 0)
        let field = [UInt8](repeating: 0x74, count: name) + [0x3D] + [UInt8](repeating: 0x31, count: value)
        try visits.receive([field], from: "https://h/")
        let expected = !row.flag("stored") ? [] : name == 0 ? Array(field.dropFirst()) : field
        tally.note(row.id, try visits.sentBytes(to: "https://h/") == expected ? nil : "is not so")
        continue
      }
      // There a line feed begins another line of the head.
      let fields = row.strings("set_cookie").map { $0.split(separator: "\n").first.map(String.init) ?? "" }
      try visits.receive(fields.map { Bytes.latin1($0) }, from: "https://h/cookies/x")
      let sent = try visits.sentBytes(to: "https://h/cookies/x")
      tally.note(
        row.id, sent == row.latin1("expected_cookie") ? nil : "sent \(String(decoding: sent, as: UTF8.self))")
    }
    tally.finish(rows: 47)
  }

  @Test func webPlatformPaths() throws {
    var tally = Conformance("web-platform-tests, cookie paths")
    for row in try VectorFile.rows("cookies/wpt-path-match.jsonl") {
      var visits = Visits()
      let url = "https://h" + (row.string("request_path") ?? "")
      try visits.receive(["a=b; Path=\(row.string("cookie_path") ?? "")"], from: url)
      tally.note(row.id, try visits.sent(to: url).isEmpty == !row.flag("match") ? nil : "is not so")
    }
    tally.finish(rows: 8)
  }

  @Test func goJars() throws {
    var tally = Conformance(
      "Go cookiejar",
      differences: [
        ("a secure cookie comes from a secure place only (6265bis section 5.7)", ["go/jar/basicsTests/1"]),
        (
          "a dot before a domain is left out, also of an address's (6265bis section 5.6.3)",
          ["go/jar/basicsTests/11", "go/jar/chromiumBasicsTests/9"]
        ),
        (Self.suffixes, ["go/jar/chromiumBasicsTests/15", "go/jar/domainHandlingTests/10"]),
        (
          "builds on rows that the subset leaves out",
          [
            "go/jar/updateAndDeleteTests/2", "go/jar/updateAndDeleteTests/8",
            "go/jar/updateAndDeleteTests/10", "go/jar/updateAndDeleteTests/11",
            "go/jar/chromiumDeletionTests/4", "go/jar/chromiumDeletionTests/6",
            "go/jar/chromiumDeletionTests/7",
          ]
        ),
      ])
    var visits = Visits()
    var table = ""
    for row in try goRows("jar") {
      // Each table begins anew, and so does each row of some.
      let name = row.id.split(separator: "/").dropLast().joined(separator: "/")
      if row.flag("fresh_jar") || name != table { visits = Visits() }
      table = name
      // 2013-01-01 12:00:00 UTC.
      visits.now = 1_357_041_600
      let from = try url(row.string("from_url") ?? "")
      try visits.receive(row.strings("set_cookies").map { Bytes.latin1($0) }, from: from)
      visits.now += 1.001
      let content = visits.jar.all(at: visits.now).compactMap { Cookie.field(of: [$0]) }
        .map { String(decoding: $0, as: UTF8.self) }.sorted().joined(separator: " ")
      var difference = content == row.string("content") ? nil : "holds \(content)"
      for query in row["queries"]?.array ?? [] {
        visits.now += 1.001
        // A host that is none is sent nothing.
        let place = try? url(query["url"]?.string ?? "")
        let sent = try place.map { try visits.sent(to: $0).replacing("; ", with: " ") } ?? ""
        if sent != query["cookies"]?.string {
          difference = (difference ?? "") + " \(query["url"]?.string ?? "") gets \(sent)"
        }
      }
      tally.note(row.id, difference)
    }
    tally.finish(rows: 50)
  }

  /// What old clients of cookies got wrong.
  @Test func vulnerabilities() throws {
    var tally = Conformance("http-client-cves, of cookies")
    for row in try VectorFile.rows("cve/http-client-cves.jsonl") where row.string("class") == "cookies" {
      var visits = Visits()
      let host = row.string("host") ?? "h.test"
      try visits.receive(["a=secure; Secure; Path=/"], from: "https://\(host)/")
      try visits.receive([row.latin1("set_cookie") ?? []], from: "http://\(host)/")
      let sent = try visits.sent(to: "https://\(host)/")
      tally.note(row.id, sent == "a=secure" ? nil : "sent \(sent)")
    }
    tally.finish(rows: 3)
  }

  private func goRows(_ suite: String) throws -> [VectorFile.Row] {
    try VectorFile.rows("cookies/go-cookiejar.jsonl").filter { $0.string("suite") == suite }
  }

  /// A URL of the suite, whose text has a character for each byte, in its ASCII form. Its one name beyond ASCII is known.
  private func url(_ text: String) throws -> String {
    let encoder = HostNameEncoder { (name: String) in name.replacing("bücher", with: "xn--bcher-kva") }
    return try HTTPURL(String(decoding: Bytes.latin1(text), as: UTF8.self), encodingHostsWith: encoder)
      .canonical.text
  }

  @Test func goFields() throws {
    var tally = Conformance(
      "Go Set-Cookie",
      differences: [
        (
          "quotes are part of the value (6265bis section 5.6)",
          [
            "go/read-set-cookie/10", "go/read-set-cookie/12", "go/read-set-cookie/16",
            "go/write-set-cookie/15", "go/write-set-cookie/18", "go/write-set-cookie/22",
          ]
        )
      ])
    for row in try goRows("read-set-cookie") {
      let field = Bytes.latin1(row.strings("set_cookie")[0])
      let set = try SetCookie(field.span, at: 0)
      let expected = row["expect"]?.array?.first
      var wrong: [String] = []
      if set.name != expected?["Name"]?.bytes { wrong.append("name") }
      if set.value != expected?["Value"]?.bytes { wrong.append("value") }
      if set.path != expected?["Path"]?.bytes { wrong.append("path") }
      if set.domain != expected?["Domain"]?.bytes.map({ Array($0.drop { $0 == 0x2E }) }) {
        wrong.append("domain")
      }
      if set.isSecure != (expected?["Secure"]?.bool ?? false) { wrong.append("secure") }
      if set.isHTTPOnly != (expected?["HttpOnly"]?.bool ?? false) { wrong.append("HttpOnly") }
      if (set.expires == nil) != (expected?["Expires"] == nil) { wrong.append("expires") }
      let sites: [String: Cookie.SameSite] = [
        "SameSiteLaxMode": .lax, "SameSiteStrictMode": .strict, "SameSiteNoneMode": .none,
      ]
      if set.sameSite != sites[expected?["SameSite"]?.string ?? ""] ?? .unsaid { wrong.append("SameSite") }
      tally.note(row.id, wrong.isEmpty ? nil : wrong.joined(separator: ", "))
    }
    // What Go's servers write is read as what they were given.
    for row in try goRows("write-set-cookie") {
      let field = row.latin1("expect") ?? []
      let set = try? SetCookie(field.span, at: 0)
      let name = row["cookie"]?["Name"]?.bytes ?? []
      let isWritten = row.string("expect") != ""
      let isRead = isWritten ? set?.name == name && set?.value == row["cookie"]?["Value"]?.bytes : set == nil
      tally.note(row.id, isRead ? nil : "is not read so")
    }
    for row in try goRows("cookie-header") {
      let cookies = (row["cookies"]?.array ?? []).map {
        Cookie(
          name: $0["Name"]?.bytes ?? [], value: $0["Value"]?.bytes ?? [], domain: "h", isHostOnly: true,
          path: "/")
      }
      tally.note(row.id, Cookie.field(of: cookies) == row.latin1("expect") ? nil : "is not so")
    }
    tally.finish(rows: 33)
  }

  /// Hosts, domains and paths. Left out are 22 rows on the keys of Go's own table (`jarKey`).
  @Test func goScopes() throws {
    var tally = Conformance(
      "Go cookiejar, hosts and paths",
      differences: [
        ("`Domain=.` is as none (6265bis section 5.6.3)", ["go/domainAndType/12"]),
        (Self.suffixes, ["go/domainAndType/17", "go/domainAndType/23", "go/domainAndType/24"]),
        ("no IPv6 address", ["go/canonicalHostTests/7"]),
        (
          "a dot at the end of a host is part of it",
          [
            "go/canonicalHostTests/11", "go/canonicalHostTests/12", "go/canonicalHostTests/14",
            "go/canonicalHostTests/15", "go/canonicalHostTests/16", "go/canonicalHostTests/17",
          ]
        ),
      ])
    for row in try goRows("domain-attribute") {
      let (host, domain) = (row.string("host") ?? "", row.string("domain") ?? "")
      let made = try? cookie(
        "a=b; Domain=\(domain)", from: "http://" + (host.contains(":") ? "[\(host)]" : host) + "/"
      ).get()
      let expected = row["expect"]
      let isRefused = expected?["error"]?.string != nil
      let isSame =
        isRefused
        ? made == nil
        : made?.domain == expected?["domain"]?.string && made?.isHostOnly == expected?["host_only"]?.bool
      tally.note(row.id, isSame ? nil : "\(made?.domain ?? "refused") \(made?.isHostOnly ?? false)")
    }
    for row in try goRows("canonicalHost") {
      let host = (try? url("http://\(row.string("input") ?? "")/")).flatMap { try? HTTPURL($0).host }
      tally.note(row.id, host == row.string("expect") ? nil : host ?? "no host")
    }
    for row in try goRows("isIP") {
      let kind = try? HTTPURL("http://\(row.string("input") ?? "")/").hostKind
      tally.note(row.id, (kind.map { $0 != .name } ?? false) == row.flag("expect") ? nil : "is not so")
    }
    for row in try goRows("defaultPath") {
      let path = CookieScope.defaultPath(of: row.string("input") ?? "")
      tally.note(row.id, path == row.string("expect") ? nil : path)
    }
    tally.finish(rows: 43)
  }
}
