import GannetHTTP
import GannetPolicy
import TestSupport
import Testing

/// Go's redirect tables. Its policy differs in three ways: any method becomes GET at 301 and 302 (here only
/// POST does, as in Fetch and curl), a dropped body comes back at a later 307 or 308 (here never), and
/// credentials go along to subdomains (here to no other origin).
@Suite("vectors: redirects", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct RedirectVectorTests {
  func rows(_ suite: String) throws -> [VectorFile.Row] {
    try VectorFile.rows("redirects/go-redirects.jsonl").filter { $0.string("suite") == suite }
  }

  /// What follows from a response with this status and `Location`.
  func redirect(
    _ method: String, _ url: String, fields: FieldList = FieldList(), status: Int, to location: String
  ) throws -> RedirectPolicy.Redirect? {
    let request = RedirectPolicy.Request(method: method, url: try HTTPURL(url), fields: fields)
    let response = FieldList([(name: "Location", value: location)])
    guard
      case .follow(let redirect) = RedirectPolicy().decide(
        request, status: status, response: response, followed: 0)
    else { return nil }
    return redirect
  }

  @Test("the next method")
  func methods() throws {
    var differing: [String] = []
    let rows = try rows("redirect-method")
    for row in rows {
      let method = try #require(row.string("method"))
      let status = try #require(row.integer("status"))
      let next = try redirect(method, "http://a/", status: status, to: "/b")?.method
      guard next != row.string("next_method") else { continue }
      differing.append(row.id)
      #expect([301, 302].contains(status) && method != "POST" && next == method, "\(row.id)")
    }
    #expect(rows.count == 22)
    #expect(differing.count == 4)
  }

  @Test("fields to another origin")
  func fields() throws {
    var differing: [String] = []
    let rows = try rows("copy-header-on-redirect")
    for row in rows {
      let name = try #require(row.string("header"))
      let from = try #require(row.string("from"))
      let to = try #require(row.string("to"))
      let redirect = try #require(
        try redirect("GET", from, fields: FieldList([(name: name, value: "v")]), status: 302, to: to))
      guard redirect.fields.contains(name) != row.flag("copied") else { continue }
      differing.append(row.id)
      // A subdomain, or a port that is the other scheme's default: another origin.
      #expect(row.flag("copied") && redirect.isCrossOrigin, "\(row.id)")
    }
    #expect(rows.count == 13)
    #expect(differing == ["go/copy-header/7", "go/copy-header/12", "go/copy-header/13"])
  }

  /// Plays Go's server: `/?code=307&next=303,308` answers 307 and leads to `/?code=303&next=308`.
  func play(_ method: String, _ path: String) throws -> [String] {
    var log: [String] = []
    var request = RedirectPolicy.Request(
      method: method, url: try HTTPURL("http://h" + path), fields: FieldList())
    let code = Int(request.url.query.flatMap { $0.split(separator: "&").first }?.dropFirst(5) ?? "200") ?? 200
    var body = code == 200 ? "first" : "c\(code)"
    while true {
      log.append("\(request.method) \(request.url.requestTarget) \"\(body)\"")
      let items = (request.url.query ?? "").split(separator: "&").map { $0.split(separator: "=")[1] }
      guard let status = items.first.flatMap({ Int($0) }) else { return log }
      let rest = items.count > 1 ? items[1].split(separator: ",") : []
      var location = ""
      if items.count > 1 {
        location = "/?code=\(rest[0])" + (rest.count > 1 ? "&next=" + rest[1...].joined(separator: ",") : "")
      } else if (300..<400).contains(status), ![304, 305].contains(status) {
        location = "/"
      }
      let response = FieldList([(name: "Location", value: location)])
      guard
        case .follow(let next) = RedirectPolicy().decide(
          request, status: status, response: response, followed: 0)
      else { return log }
      request = RedirectPolicy.Request(method: next.method, url: next.url, fields: next.fields)
      if !next.keepsBody { body = "" }
    }
  }

  /// Chains that go another way here.
  static let differingChains = [
    // Go sends a body again at a 308 after a 303 had dropped it.
    "POST /?code=307&next=303,308,302",
    // Go turns DELETE into GET at 301 and 302.
    "DELETE /?code=301&next=302,308",
    "DELETE /?code=302&next=302",
    "DELETE /?code=307&next=301,308,303,302,304",
  ]

  @Test("whole chains", arguments: [("TestPostRedirects", 9), ("TestDeleteRedirects", 7)])
  func chains(test: String, count: Int) throws {
    let row = try #require(try rows("redirect-log").first { $0.string("for_test") == test })
    let method = test == "TestPostRedirects" ? "POST" : "DELETE"
    // A chain begins with a request of the method whose body names its own path.
    var chains: [[String]] = []
    for line in row.strings("lines") {
      let parts = line.split(separator: " ")
      let code = parts[1].split(separator: "=").dropFirst().first?.prefix(3)
      if parts[0] == method, parts[2].hasPrefix(code.map { "\"c\($0)" } ?? "\"first") { chains.append([]) }
      chains[chains.count - 1].append(line.replacing("wc301", with: ""))
    }
    #expect(chains.count == count)
    for chain in chains {
      let path = String(chain[0].split(separator: " ")[1])
      #expect(
        (try play(method, path) == chain) != Self.differingChains.contains("\(method) \(path)"), "\(chain)")
    }
  }

  @Test(
    "where chains end", arguments: [("postRedirectTests", "POST", 6), ("deleteRedirectTests", "DELETE", 4)])
  func ends(suite: String, method: String, count: Int) throws {
    let rows = try rows(suite)
    #expect(rows.count == count)
    for row in rows {
      let path = try #require(row.string("path"))
      let last = try #require(try play(method, path).last)
      let code = last.split(separator: "=").dropFirst().first.flatMap { Int($0.prefix(3)) } ?? 200
      #expect(code == row.integer("final_status"), "\(row.id)")
    }
  }

  @Test("a Referer, which only a caller sets here, is kept where Go would send one")
  func referrers() throws {
    let rows = try rows("referer")
    #expect(rows.count == 7)
    for row in rows {
      let redirect = try redirect(
        "GET", try #require(row.string("from")), fields: FieldList([(name: "Referer", value: "x")]),
        status: 302,
        to: try #require(row.string("to")))
      #expect(redirect?.fields.contains("Referer") == (row.string("referer") != ""), "\(row.id)")
    }
  }
}
