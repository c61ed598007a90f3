import GannetHTTP
import GannetPolicy
import Testing

@Suite("RedirectPolicy")
struct RedirectPolicyTests {
  let policy = RedirectPolicy()

  func request(
    _ url: String, method: String = "GET", fields: [(name: String, value: String)] = []
  ) throws -> RedirectPolicy.Request {
    RedirectPolicy.Request(method: method, url: try HTTPURL(url), fields: FieldList(fields))
  }

  func decide(
    _ request: RedirectPolicy.Request, _ status: Int, _ locations: String..., followed: Int = 0
  ) -> RedirectPolicy.Decision {
    let fields = FieldList(locations.map { (name: "location", value: $0) })
    return policy.decide(request, status: status, response: fields, followed: followed)
  }

  /// The redirect that must be the answer.
  func follow(_ request: RedirectPolicy.Request, _ status: Int, _ location: String) throws
    -> RedirectPolicy.Redirect
  {
    guard case .follow(let redirect) = decide(request, status, location) else {
      throw Unexpected(decision: decide(request, status, location))
    }
    return redirect
  }

  struct Unexpected: Error { let decision: RedirectPolicy.Decision }

  @Test(
    "statuses that are no redirects, Location or not",
    arguments: [200, 201, 202, 300, 304, 305, 306, 309, 399, 404])
  func otherStatuses(status: Int) throws {
    #expect(decide(try request("http://a/"), status, "/x") == .notARedirect)
  }

  @Test("a redirect without a place to go to is delivered", arguments: [301, 302, 303, 307, 308])
  func noLocation(status: Int) throws {
    let request = try request("http://a/")
    #expect(decide(request, status) == .notARedirect)
    #expect(decide(request, status, "") == .notARedirect)
    #expect(decide(request, status, "", "") == .notARedirect)
  }

  @Test("several Location fields: the same one, or an error")
  func severalLocations() throws {
    let request = try request("http://a/")
    #expect(decide(request, 302, "/x", "/y") == .fail(.differingLocations))
    #expect(decide(request, 302, "/x", "/X") == .fail(.differingLocations))
    #expect(decide(request, 302, "/x", "/x") == decide(request, 302, "/x"))
    #expect(decide(request, 302, "", "/x", "") == decide(request, 302, "/x"))
  }

  @Test("twenty are followed, the next is too many")
  func tooMany() throws {
    let request = try request("http://a/")
    #expect(decide(request, 302, "/x", followed: 19) == decide(request, 302, "/x"))
    #expect(decide(request, 302, "/x", followed: 20) == .fail(.tooMany(limit: 20)))
    #expect(decide(request, 302, followed: 20) == .notARedirect)
  }

  @Test("a loop ends after twenty")
  func loop() throws {
    var current = try request("http://a/1")
    var followed = 0
    while case .follow(let redirect) = decide(
      current, 302, current.url.path == "/1" ? "/2" : "/1", followed: followed)
    {
      current = RedirectPolicy.Request(method: redirect.method, url: redirect.url, fields: redirect.fields)
      followed += 1
    }
    #expect(followed == 20)
  }

  @Test("places that cannot be loaded")
  func badPlaces() throws {
    let request = try request("http://a/")
    #expect(decide(request, 302, "ftp://a/x") == .fail(.unsupportedScheme("ftp")))
    #expect(decide(request, 302, "FILE:///etc/passwd") == .fail(.unsupportedScheme("file")))
    #expect(decide(request, 302, "javascript:alert(1)") == .fail(.unsupportedScheme("javascript")))
    guard case .fail(.badLocation("http://:8/", let error)) = decide(request, 302, "http://:8/") else {
      Issue.record("http://:8/ was taken")
      return
    }
    #expect(error.rule == .noHost)
    var open = policy
    open.schemes.insert("ftp")
    let fields = FieldList([(name: "Location", value: "ftp://b/x")])
    guard case .follow = open.decide(request, status: 302, response: fields, followed: 0) else {
      Issue.record("an added scheme was not followed")
      return
    }
  }

  @Test(
    "where it leads: relative, fragments, odd bytes",
    arguments: [
      ("http://h/a/b/c?q=1", "d", "http://h/a/b/d"),
      ("http://h/a/b/c?q=1", "../d", "http://h/a/d"),
      ("http://h/a/b/c?q=1", "./", "http://h/a/b/"),
      ("http://h/a/b/c?q=1", "?z=2", "http://h/a/b/c?z=2"),
      ("http://h/a/b/c?q=1", "//o.test/x", "http://o.test/x"),
      ("http://h/a/b/c?q=1", "/x%2Fy", "http://h/x%2Fy"),
      ("http://h/a/b/c?q=1", "/foo/./bar", "http://h/foo/bar"),
      ("http://127.0.0.1:8080/a", "http://127.0.0.1/b", "http://127.0.0.1/b"),
      ("http://h/a#x", "/b", "http://h/b#x"),
      ("http://h/a#x", "/b#y", "http://h/b#y"),
      ("http://h/a#x", "/b#", "http://h/b#"),
      ("http://h/a", "/t/102665#reply9", "http://h/t/102665#reply9"),
      ("http://h/a", "/caf\u{E9}", "http://h/caf%C3%A9"),
      ("http://h/a", "http://h/%C3%A9", "http://h/%C3%A9"),
      ("http://h/a", "/x%0d%0aSet-Cookie:%20a=b", "http://h/x%0d%0aSet-Cookie:%20a=b"),
      ("https://h/a", "//o.test:443/x", "https://o.test/x"),
    ])
  func place(from: String, location: String, to: String) throws {
    #expect(try follow(try request(from), 302, location).url.text == to)
  }

  @Test("Latin-1 in Location stays the byte it was")
  func latin1Location() throws {
    let path: [UInt8] = Array("/caf".utf8) + [0xE9]
    var fields = FieldList()
    fields.append(name: Array("Location".utf8).span, value: path.span)
    guard
      case .follow(let redirect) = policy.decide(
        try request("http://h/"), status: 302, response: fields, followed: 0)
    else {
      Issue.record("not followed")
      return
    }
    #expect(redirect.url.text == "http://h/caf%E9")
  }

  @Test(
    "the method and whether the body goes along",
    arguments: [
      ("GET", [true, true, false, true, true], ["GET", "GET", "GET", "GET", "GET"]),
      ("HEAD", [true, true, false, true, true], ["HEAD", "HEAD", "HEAD", "HEAD", "HEAD"]),
      ("POST", [false, false, false, true, true], ["GET", "GET", "GET", "POST", "POST"]),
      ("PUT", [true, true, false, true, true], ["PUT", "PUT", "GET", "PUT", "PUT"]),
      ("PATCH", [true, true, false, true, true], ["PATCH", "PATCH", "GET", "PATCH", "PATCH"]),
      ("DELETE", [true, true, false, true, true], ["DELETE", "DELETE", "GET", "DELETE", "DELETE"]),
      ("post", [true, true, false, true, true], ["post", "post", "GET", "post", "post"]),
    ])
  func methods(method: String, keeps: [Bool], methods: [String]) throws {
    for (index, status) in [301, 302, 303, 307, 308].enumerated() {
      let redirect = try follow(try request("http://a/", method: method), status, "/b")
      #expect(redirect.method == methods[index], "\(method) \(status)")
      #expect(redirect.keepsBody == keeps[index], "\(method) \(status)")
    }
  }

  static let bodyFields = [
    "Content-Type", "content-length", "Content-Encoding", "Content-Language", "Content-Location",
    "Transfer-Encoding", "Expect", "Digest", "Trailer", "Content-MD5",
  ]

  @Test("fields about the body go with it", arguments: [301, 302, 303, 307, 308])
  func bodyFields(status: Int) throws {
    var given = [(name: "X-Kept", value: "1")] + Self.bodyFields.map { (name: $0, value: "v") }
    given.append((name: "Accept", value: "*/*"))
    let redirect = try follow(try request("http://a/", method: "POST", fields: given), status, "/b")
    let names = redirect.fields.map(\.name)
    #expect(names == (status < 307 ? ["X-Kept", "Accept"] : given.map(\.name)))
  }

  static let secrets = [
    "Authorization", "Cookie", "Cookie2", "Proxy-Authorization", "WWW-Authenticate", "Host",
  ]

  @Test(
    "what is bound to an origin stays there",
    arguments: [
      ("http://a.test/x", "http://a.test/y", false),
      ("http://a.test/x", "/y", false),
      ("http://a.test/x", "http://A.TEST:80/y", false),
      ("https://a.test/x", "https://a.test:443/y", false),
      ("http://a.test/x", "http://b.test/y", true),
      ("http://a.test/x", "http://a.test:81/y", true),
      ("https://a.test/x", "http://a.test/y", true),
      ("http://a.test/x", "https://a.test/y", true),
      ("http://a.test/x", "http://www.a.test/y", true),
      ("http://www.a.test/x", "http://a.test/y", true),
      ("http://a.test/x", "http://a.test./y", true),
      ("http://localhost/x", "http://127.0.0.1/y", true),
      ("http://[::1]/x", "http://[::2]/y", true),
      ("http://a.test:443/x", "https://a.test/y", true),
    ], [301, 302, 303, 307, 308])
  func credentials(given: (from: String, to: String, crosses: Bool), status: Int) throws {
    let fields = (Self.secrets + ["X-Other"]).map { (name: $0, value: "s") }
    let lower = Self.secrets.map { (name: $0.uppercased(), value: "s") }
    let request = try request(given.from, fields: fields + lower)
    let redirect = try follow(request, status, given.to)
    #expect(redirect.isCrossOrigin == given.crosses)
    #expect(redirect.fields == (given.crosses ? FieldList([(name: "X-Other", value: "s")]) : request.fields))
  }

  @Test("stripped once, stripped for good: A → B → A")
  func staysStripped() throws {
    let first = try request("http://a/", fields: [(name: "Authorization", value: "Basic x")])
    let second = try follow(first, 302, "http://b/")
    let third = try follow(
      RedirectPolicy.Request(method: second.method, url: second.url, fields: second.fields), 302, "http://a/")
    #expect(third.url == first.url)
    #expect(third.fields.isEmpty)
  }

  @Test("https → http is marked, and names no referrer")
  func downgrade() throws {
    let fields = [(name: "Referer", value: "https://a/secret"), (name: "X", value: "1")]
    let down = try follow(try request("https://a/", fields: fields), 302, "http://a/")
    #expect(down.isDowngrade)
    #expect(down.fields == FieldList([(name: "X", value: "1")]))
    let same = try follow(try request("https://a/", fields: fields), 302, "https://b/")
    #expect(!same.isDowngrade)
    #expect(same.fields == FieldList(fields))
    #expect(try !follow(try request("http://a/"), 302, "https://a/").isDowngrade)
  }

  @Test("the bytes of a field stay as they are")
  func bytes() throws {
    var request = try request("http://a/")
    let value: [UInt8] = [0x63, 0xE9]
    request.fields.append(name: Array("X-Latin".utf8).span, value: value.span)
    let redirect = try follow(request, 302, "/b")
    #expect(redirect.fields == request.fields)
  }
}
