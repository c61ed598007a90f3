import GannetHTTP
import GannetPolicy
import Testing

/// What is kept, replaced, let go and sent: RFC 6265bis sections 5.7 and 5.8.
@Suite struct CookieJarTests {
  @Test func longerPathsComeFirstThenOlderCookies() throws {
    var visits = Visits()
    try visits.receive(
      ["a=1", "b=2; Path=/p/q", "c=3; Path=/p", "d=4; Path=/p", "e=5; Domain=h.test; Path=/p/q"],
      from: "http://h.test/")
    #expect(try visits.sent(to: "http://h.test/p/q/r") == "b=2; e=5; c=3; d=4; a=1")
    // One that is replaced keeps its place.
    try visits.receive(["c=6; Path=/p"], from: "http://h.test/")
    #expect(try visits.sent(to: "http://h.test/p") == "c=6; d=4; a=1")
    #expect(visits.jar.count == 5)
  }

  /// Name, host, path and whether it is for the host alone tell cookies apart; nothing else does.
  @Test func whatReplacesWhat() throws {
    var visits = Visits()
    let fields = ["a=1", "a=2; Domain=h.test", "a=3; Path=/p", "A=4", "a=5; HttpOnly; Max-Age=9"]
    try visits.receive(fields, from: "https://h.test/")
    #expect(try visits.sent(to: "https://h.test/") == "a=5; a=2; A=4")
    #expect(visits.jar.count == 4)
    try visits.receive(["a=6; Secure"], from: "https://h.test:8443/")
    #expect(try visits.sent(to: "https://h.test/") == "a=6; a=2; A=4")
    #expect(try visits.sent(to: "http://h.test/") == "a=2; A=4")
  }

  /// One without a name is sent as the value that it is.
  @Test func aValueAlone() throws {
    var visits = Visits()
    try visits.receive(["a=1", "x", "=y; Path=/p"], from: "http://h/")
    #expect(try visits.sent(to: "http://h/p") == "y; a=1; x")
  }

  @Test func cookiesEnd() throws {
    var visits = Visits(at: 100)
    try visits.receive(["a=1; Max-Age=10", "b=2", "c=3; Max-Age=20"], from: "http://h/")
    visits.now = 109.9
    #expect(try visits.sent(to: "http://h/") == "a=1; b=2; c=3")
    visits.now = 110
    #expect(try visits.sent(to: "http://h/") == "b=2; c=3")
    #expect(visits.jar.all(at: visits.now).map(\.name) == [[0x62], [0x63]])
    // One that is over removes the one it replaces, and no other.
    try visits.receive(["c=; Max-Age=0", "b=; Path=/p; Max-Age=0", "d=; Max-Age=-1"], from: "http://h/")
    #expect(try visits.sent(to: "http://h/") == "b=2")
    try visits.receive(["b=; Expires=Thu, 01 Jan 1970 00:00:00 GMT"], from: "http://h/")
    #expect(try visits.sent(to: "http://h/p") == "")
  }

  /// A response without TLS does not touch a secure cookie, nor puts one before it: where one of the domains holds the
  /// other and the path is the same or below. The first row is what stands.
  @Test(arguments: [
    ("s=2", "http://www.example.com/", false), ("s=2; Domain=example.com", "http://www.example.com/", false),
    ("s=2; Path=/x", "http://example.com/", false), ("s=", "http://a.b.example.com/", false),
    ("s=; Max-Age=0; Domain=example.com", "http://example.com/", false),
    ("t=2", "http://www.example.com/", true), ("S=2", "http://www.example.com/", true),
    ("s=2", "https://www.example.com/", true), ("s=2", "http://notexample.com/", true),
    ("s=2", "http://example.com.evil.net/", true),
  ])
  func secureCookiesStand(_ field: String, _ url: String, _ isTaken: Bool) throws {
    var visits = Visits()
    try visits.receive(["s=1; Secure; Domain=example.com"], from: "https://example.com/")
    try visits.receive([field], from: url)
    #expect(visits.jar.count == (isTaken ? 2 : 1))
    #expect(try visits.sent(to: "https://www.example.com/").contains("s=1"))
  }

  @Test func secureCookiesOfAnotherPathDoNotHinder() throws {
    var visits = Visits()
    try visits.receive(["s=1; Secure; Path=/login"], from: "https://h.test/")
    try visits.receive(["s=2; Path=/loginx", "s=3", "s=4; Path=/login/a"], from: "http://h.test/")
    #expect(try visits.sent(to: "http://h.test/loginx") == "s=2; s=3")
    #expect(try visits.sent(to: "http://h.test/login/a") == "s=3")
    // From a subdomain's secure cookie to the domain's as well.
    try visits.receive(["t=1; Secure"], from: "https://sub.h.test/")
    try visits.receive(["t=2; Domain=h.test"], from: "http://h.test/")
    #expect(try visits.sent(to: "http://h.test/") == "s=3")
    // One that is over hinders nobody.
    try visits.receive(["u=1; Secure; Max-Age=1"], from: "https://h.test/")
    visits.now += 1
    try visits.receive(["u=2"], from: "http://h.test/")
    #expect(try visits.sent(to: "http://h.test/") == "s=3; u=2")
  }

  /// Past the limit of a domain: expired ones go, then those that are not secure, then the rest; first what has not been
  /// sent for longest.
  @Test func aDomainIsBounded() throws {
    var limits = CookieJar.Limits()
    limits.perDomain = 3
    var visits = Visits(at: 0, limits: limits)
    try visits.receive(["a=1; Path=/a; Secure", "b=2; Path=/b", "c=3; Path=/c"], from: "https://h/")
    #expect(try visits.sent(to: "https://h/b") == "b=2")
    try visits.receive(["d=4; Path=/d"], from: "https://h/")
    #expect(visits.jar.all(at: 0).map(\.name) == [[0x61], [0x62], [0x64]])
    try visits.receive(["e=5; Max-Age=5; Path=/e"], from: "https://h/")
    #expect(visits.jar.all(at: 0).map(\.name) == [[0x61], [0x64], [0x65]])
    visits.now = 5
    try visits.receive(["f=6; Path=/f"], from: "https://h/")
    #expect(visits.jar.all(at: 5).map(\.name) == [[0x61], [0x64], [0x66]])
    // Another domain has its own limit.
    try visits.receive(["g=7"], from: "https://i/")
    #expect(visits.jar.count == 4)
  }

  /// Past the limit of all, a tenth goes at once, what has not been sent for longest first.
  @Test func allTogetherAreBounded() throws {
    var limits = CookieJar.Limits()
    limits.total = 20
    var visits = Visits(at: 0, limits: limits)
    for host in 0..<20 { try visits.receive(["a=\(host)"], from: "http://h\(host)/") }
    #expect(try visits.sent(to: "http://h0/") == "a=0")
    #expect(visits.jar.count == 20)
    try visits.receive(["a=20"], from: "http://h20/")
    #expect(visits.jar.count == 18)
    #expect(try (0...20).filter { try visits.sent(to: "http://h\($0)/").isEmpty } == [1, 2, 3])
    // What is over goes before, and is enough.
    try visits.receive(["a=; Max-Age=5", "b=; Max-Age=5"], from: "http://last/")
    visits.now = 5
    try visits.receive(["a=1"], from: "http://h1/")
    #expect(visits.jar.count == 19)
    #expect(try (0...20).filter { try visits.sent(to: "http://h\($0)/").isEmpty } == [2, 3])
  }

  @Test func theDefaultLimits() throws {
    var visits = Visits(at: 0)
    try visits.receive((0..<200).map { "a\($0)=" }, from: "http://h/")
    #expect(visits.jar.count == 180)
    for host in 0..<17 { try visits.receive((0..<180).map { "a\($0)=" }, from: "http://h\(host)/") }
    #expect(visits.jar.count <= 3000)
  }

  @Test func removing() throws {
    var visits = Visits(at: 10)
    try visits.receive(["a=1", "b=2"], from: "http://h/")
    visits.now = 20
    try visits.receive(["b=3", "c=4"], from: "http://h/")
    visits.jar.removeAll(since: 20.5)
    #expect(visits.jar.count == 3)
    visits.jar.removeAll(since: 20)
    #expect(try visits.sent(to: "http://h/") == "a=1")
    visits.jar.remove(Cookie(name: [0x61], value: [], domain: "h", isHostOnly: false, path: "/"))
    #expect(visits.jar.count == 1)
    visits.jar.remove(Cookie(name: [0x61], value: [], domain: "h", isHostOnly: true, path: "/"))
    #expect(visits.jar.count == 0)
  }

  /// Values joined by commas, taken apart.
  @Test(
    arguments: [
      ("a=1, b=2", ["a=1", "b=2"]),
      (
        "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2, c=\"x,y\"",
        ["a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT", "b=2", "c=\"x,y\""]
      ),
      (
        "a=1; expires=Wed, 21-Oct-37 07:28:00 GMT; path=/,b = 2",
        ["a=1; expires=Wed, 21-Oct-37 07:28:00 GMT; path=/", "b = 2"]
      ),
      ("a=\"x, y=z\", b=2", ["a=\"x, y=z\"", "b=2"]), ("a=\"x, y=z", ["a=\"x", "y=z"]),
      ("a=1,,b=2", ["a=1,", "b=2"]),
      ("a=1, b c=2", ["a=1, b c=2"]), ("a=1,", ["a=1,"]), ("", [""]), (",=", [",="]),
      ("a=\"1; b=\", c=3", ["a=\"1; b=\"", "c=3"]),
    ] as [(String, [String])])
  func joinedFields(_ text: String, _ fields: [String]) {
    let bytes = Array(text.utf8)
    #expect(JoinedSetCookies.split(bytes.span).map { String(decoding: bytes[$0], as: UTF8.self) } == fields)
  }
}
