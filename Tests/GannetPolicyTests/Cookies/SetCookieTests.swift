import GannetHTTP
import GannetPolicy
import Testing

/// Which cookies a response may set, and what they are then (RFC 6265bis sections 5.6 and 5.7).
@Suite struct SetCookieTests {
  /// The field, the name, the value.
  @Test(arguments: [
    ("a=b", "a", "b"), ("a=", "a", ""), ("=b", "", "b"), ("b", "", "b"), (" a \t=\t b ; x", "a", "b"),
    ("a=b=c", "a", "b=c"), ("a=\"b;c\"", "a", "\"b"), ("a=x, y=z", "a", "x, y=z"), ("a b=c d", "a b", "c d"),
    ("a=b;;;=;", "a", "b"), ("a;b=c", "", "a"), ("a=b\tc", "a", "b\tc"),
  ])
  func namesAndValues(_ field: String, _ name: String, _ value: String) throws {
    let cookie = try cookie(field, from: "http://h/").get()
    #expect(String(decoding: cookie.name, as: UTF8.self) == name)
    #expect(String(decoding: cookie.value, as: UTF8.self) == value)
    #expect(cookie.domain == "h" && cookie.isHostOnly && cookie.path == "/" && cookie.expires == nil)
    #expect(!cookie.isSecure && !cookie.isHTTPOnly && cookie.sameSite == .unsaid)
  }

  /// Bytes that are not UTF-8 stay as they are.
  @Test func bytes() throws {
    let field: [UInt8] = [0x61, 0x3D, 0xE9, 0xFF]
    let set = try SetCookie(field.span, at: 0)
    #expect(set.value == [0xE9, 0xFF])
  }

  @Test(arguments: [
    ("", CookieRefusal.empty), ("=", .empty), (" ; Path=/", .empty), ("a=b\u{1}c", .controlByte),
    ("a=b\u{7F}", .controlByte), ("a=b; Path=/\u{0}", .controlByte), ("a=b\r\nX: y", .controlByte),
    ("a=b; Domain=org", .foreignDomain), ("a=b; Domain=other.org", .foreignDomain),
    ("a=b; Domain=sub.www.example.org", .foreignDomain), ("a=b; Domain=xample.org", .foreignDomain),
    ("a=b; Domain=..example.org", .foreignDomain), ("a=b; Domain=example.org.", .foreignDomain),
    ("a=b; Domain=example\u{E9}.org", .foreignDomain), ("a=b; Domain=example.org:80", .foreignDomain),
    ("a=b; Secure", .insecure), ("a=b; SameSite=None", .sameSiteNone), ("__Secure-a=b", .brokenPrefix),
    ("__sEcUrE-a=b", .brokenPrefix), ("__Host-a=b; Path=/", .brokenPrefix), ("__Host-a", .brokenPrefix),
    ("=__Secure-a", .brokenPrefix),
  ])
  func whatIsRefusedFromHTTP(_ field: String, _ refusal: CookieRefusal) throws {
    #expect(try cookie(field, from: "http://www.example.org/") == .failure(refusal))
  }

  @Test(arguments: [
    ("__Secure-a=b; Secure", CookieRefusal?.none), ("__Secure-a=b", .brokenPrefix),
    ("__Host-a=b; Secure; Path=/", nil), ("__Host-a=b; Secure", .brokenPrefix),
    ("__Host-a=b; Path=/", .brokenPrefix), ("__Host-a=b; Secure; Path=/p", .brokenPrefix),
    ("__HOST-a=b; Secure; Path=/; Domain=example.org", .brokenPrefix),
    ("=__Host-a=b; Secure; Path=/", .brokenPrefix), ("__Host-; Secure; Path=/", .brokenPrefix),
    ("=__Secure-a=b; Secure", .brokenPrefix), ("__Secure-; Secure", .brokenPrefix),
    ("a=b; SameSite=None; Secure", nil), ("a=b; SameSite=None", .sameSiteNone), ("__Hos-a=b", nil),
  ])
  func prefixesByHTTPS(_ field: String, _ refusal: CookieRefusal?) throws {
    switch try cookie(field, from: "https://www.example.org/p/x") {
    case .success: #expect(refusal == nil)
    case .failure(let given): #expect(given == refusal)
    }
  }

  /// The path has to be named, also where it is what the request's gives.
  @Test func aHostPrefixNamesItsPath() throws {
    #expect(try cookie("__Host-a=b; Secure", from: "https://h/x") == .failure(.brokenPrefix))
    #expect(try cookie("__Host-a=b; Secure; Path=/", from: "https://h/x").get().path == "/")
  }

  /// Of a name, 4096 bytes with the value; of an attribute, 1024, and a longer one is passed over.
  @Test func limits() throws {
    let long = String(repeating: "v", count: 4095)
    #expect(try cookie("a=\(long)", from: "http://h/").get().value.count == 4095)
    #expect(try cookie("aa=\(long)", from: "http://h/") == .failure(.tooLong))
    #expect(try cookie(long + "vv", from: "http://h/") == .failure(.tooLong))
    let path = "/" + String(repeating: "p", count: 1023)
    #expect(try cookie("a=b; Path=\(path)", from: "http://h/d/x").get().path == path)
    #expect(try cookie("a=b; Path=\(path)p", from: "http://h/d/x").get().path == "/d")
    #expect(try cookie("a=b; Path=/q; Path=\(path)p", from: "http://h/d/x").get().path == "/q")
    #expect(try cookie("a=b", from: "http://h\(path)/x").get().path == path)
    #expect(try cookie("a=b", from: "http://h\(path)p/x") == .failure(.tooLong))
    #expect(try cookie("a=b; Domain=\(path)p", from: "http://h/").get().domain == "h")
  }

  /// The attributes, and the domain with a dot before it when subdomains get the cookie too.
  @Test(arguments: [
    ("", "www.example.org"), ("Domain=example.org", ".example.org"), ("domain=.EXAMPLE.org", ".example.org"),
    ("Domain=www.example.org", ".www.example.org"), ("Domain=", "www.example.org"),
    ("Domain=.", "www.example.org"), ("Domain", "www.example.org"),
    ("Domain=other.org; Domain=example.org", ".example.org"),
    ("Domain=other.org; Domain=", "www.example.org"),
  ])
  func domains(_ attributes: String, _ domain: String) throws {
    let made = try cookie("a=b; \(attributes)", from: "http://www.example.org/").get()
    #expect((made.isHostOnly ? "" : ".") + made.domain == domain)
  }

  /// The host and the attribute; nil: refused. An address has no subdomains, nor has a top-level domain here.
  @Test(arguments: [
    ("192.168.1.100", "168.1.100", String?.none), ("192.168.1.100", "192.168.1.100", "192.168.1.100"),
    ("192.168.1.100", "192.168.1.101", nil), ("[::1]", "::1", "::1"), ("[fe80::1]", "1", nil),
    ("localhost", "localhost", "localhost"), ("printer.local", "local", nil), ("com", "com", "com"),
    ("example.org.", "example.org.", ".example.org."), ("example.org.", "org.", nil),
    ("example.org.", "example.org", nil), ("org.", "org.", "org."),
  ])
  func hostsWithoutSubdomains(_ host: String, _ attribute: String, _ domain: String?) throws {
    let made = try? cookie("a=b; Domain=\(attribute)", from: "http://\(host)/").get()
    #expect(made.map { ($0.isHostOnly ? "" : ".") + $0.domain } == domain)
  }

  @Test(arguments: [
    ("Path=/p", "/p"), ("path = /p/ ", "/p/"), ("Path", "/d/e"), ("Path=", "/d/e"), ("Path=p", "/d/e"),
    ("Path=/p; Path=", "/d/e"), ("Path=\"/p\"", "/d/e"), ("Path=/p; Path=/q", "/q"),
  ])
  func paths(_ attribute: String, _ path: String) throws {
    #expect(try cookie("a=b; \(attribute)", from: "http://h/d/e/f?x=/g/").get().path == path)
  }

  /// Seconds from now; nil: with the session. No more than 400 days; `Max-Age` goes before `Expires`.
  @Test(
    arguments: [
      ("Max-Age=60", 60.0), ("max-age=0", -.infinity), ("Max-Age=-1", -.infinity), ("Max-Age=60.5", nil),
      ("Max-Age=", nil), ("Max-Age=-", nil), ("Max-Age=+1", nil), ("Max-Age=1 2", nil),
      ("Max-Age=99999999999999999999999999", 34_560_000), ("Max-Age=-99999999999999999999", -.infinity),
      ("Expires=Wed, 09 Aug 2017 00:00:10 GMT", 10), ("Expires=Mon, 12-Sep-2109 00:00:00 GMT", 34_560_000),
      ("Expires=never", nil), ("Expires=Wed, 09 Aug 2017 00:00:10 GMT; Max-Age=5", 5),
      ("Max-Age=5; Expires=Wed, 09 Aug 2017 00:00:10 GMT", 5), ("Max-Age=5; Max-Age=6", 6),
      ("Expires=Wed, 09 Aug 2017 00:00:10 GMT; Expires=x", 10),
      ("Expires=Thu, 01 Jan 1970 00:00:00 GMT", -august2017), ("Max-Age=x; Expires=x", nil),
    ] as [(String, Double?)])
  func lifetimes(_ attributes: String, _ seconds: Double?) throws {
    let expires = try cookie("a=b; \(attributes)", from: "http://h/").get().expires.map { $0 - august2017 }
    if seconds == -.infinity {
      #expect(try #require(expires) < -august2017)
    } else {
      #expect(expires == seconds)
    }
  }

  @Test func flags() throws {
    let made = try cookie("a=b; HTTPONLY=x; secure=; samesite=STRICT", from: "https://h/").get()
    #expect(made.isHTTPOnly && made.isSecure && made.sameSite == .strict)
    let table: [(String, Cookie.SameSite)] = [
      ("SameSite=Lax", .lax), ("SameSite=x", .unsaid), ("SameSite", .unsaid),
      ("SameSite=Strict; SameSite", .unsaid),
    ]
    for (attributes, expected) in table {
      #expect(try cookie("a=b; \(attributes)", from: "http://h/").get().sameSite == expected)
    }
    #expect(try !cookie("a=b; \"Secure\"; Secure x", from: "http://h/").get().isSecure)
  }
}
