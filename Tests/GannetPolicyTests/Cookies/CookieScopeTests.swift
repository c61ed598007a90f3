import GannetHTTP
import GannetPolicy
import Testing

/// What of a URL decides about cookies: RFC 6265bis sections 5.1.3 and 5.1.4.
@Suite struct CookieScopeTests {
  @Test(arguments: [
    ("example.com", "example.com", true), ("www.example.com", "example.com", true),
    ("a.b.example.com", "example.com", true), ("notexample.com", "example.com", false),
    ("example.com.evil.net", "example.com", false), ("example.com", "www.example.com", false),
    ("xexample.com", "xexample.co", false), ("1.2.3.4", "1.2.3.4", true), ("1.2.3.4", "2.3.4", false),
    ("1.2.3.4", "4", false), ("[::1]", "::1", true), ("[fe80::1%25eth0]", "fe80::1%eth0", true),
    ("[fe80::1%25eth0]", "fe80::1", false), ("example.com.", "example.com", false), ("h", "", false),
  ])
  func domains(_ host: String, _ domain: String, _ isIn: Bool) throws {
    let scope = CookieScope(try HTTPURL("http://\(host)/"))
    #expect(scope.isIn(domain) == isIn)
    var cookie = Cookie(name: [1], value: [], domain: domain, isHostOnly: false, path: "/")
    #expect(scope.takes(cookie) == isIn)
    cookie.isHostOnly = true
    #expect(scope.takes(cookie) == (scope.host == domain))
  }

  @Test(arguments: [
    ("/", "/", true), ("/a", "/", true), ("/a", "/a", true), ("/a/", "/a", true), ("/a/b", "/a", true),
    ("/a/b", "/a/", true), ("/ab", "/a", false), ("/a", "/a/", false), ("/", "/a", false),
    ("/A", "/a", false),
    ("/a%2Fb", "/a", false), ("/a", "", false), ("/a/b", "/a//", false),
  ])
  func paths(_ path: String, _ cookiePath: String, _ isIn: Bool) {
    #expect(CookieScope.isPath(path, in: cookiePath) == isIn)
  }

  @Test(arguments: [
    ("", "/"), ("/", "/"), ("/a", "/"), ("/a/", "/a"), ("/a/b", "/a"), ("/a/b/c", "/a/b"), ("//", "/"),
    ("x/y", "/"),
  ])
  func defaultPaths(_ path: String, _ defaultPath: String) {
    #expect(CookieScope.defaultPath(of: path) == defaultPath)
  }

  /// What never leaves the machine is secure; a name that only looks like its own is not.
  @Test(arguments: [
    ("https://h/", true), ("http://h/", false), ("http://localhost:8080/", true), ("http://LOCALHOST/", true),
    ("http://a.localhost/", false), ("http://localhost./", false), ("http://127.0.0.1/", true),
    ("http://127.9.9.9/", true), ("http://127.0.0.1.example.com/", false), ("http://128.0.0.1/", false),
    ("http://[::1]/", true), ("http://[::2]/", false), ("http://0x7f.1/", true),
  ])
  func security(_ url: String, _ isSecure: Bool) throws {
    let scope = CookieScope(try HTTPURL(url))
    #expect(scope.isSecure == isSecure)
    var cookie = Cookie(name: [1], value: [], domain: scope.host, isHostOnly: true, path: "/")
    cookie.isSecure = true
    #expect(scope.takes(cookie) == isSecure)
  }

  @Test func ports() throws {
    var cookie = Cookie(name: [1], value: [], domain: "h", isHostOnly: true, path: "/")
    let scope = CookieScope(try HTTPURL("http://h:8080/"))
    #expect(scope.takes(cookie))
    cookie.ports = [80]
    #expect(!scope.takes(cookie))
    cookie.ports = [80, 8080]
    #expect(scope.takes(cookie))
  }
}
