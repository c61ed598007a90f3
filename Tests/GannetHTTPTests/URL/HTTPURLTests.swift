import GannetHTTP
import Testing

@Suite("HTTPURL")
struct HTTPURLTests {
  @Test(
    "the canonical form",
    arguments: [
      ("http://www.example.com", "http://www.example.com/"),
      ("HTTP://WWW.Example.COM:80/A", "http://www.example.com/A"),
      ("https://h:443/", "https://h/"),
      ("https://h:0443?x", "https://h/?x"),
      ("http://h:443/", "http://h:443/"),
      ("http://h:/", "http://h/"),
      ("http://h/a b\"c<d>e", "http://h/a%20b%22c%3Cd%3Ee"),
      ("http://h/cgi?a=1&b=[x]", "http://h/cgi?a=1&b=%5Bx%5D"),
      ("http://h/a{b}|c^d`e", "http://h/a%7Bb%7D%7Cc%5Ed%60e"),
      ("http://h/it's;a=b,c!*()", "http://h/it's;a=b,c!*()"),
      ("http://h/%zz%4a%", "http://h/%zz%4a%"),
      ("http://h/x%2Fy", "http://h/x%2Fy"),
      ("http://h/café?ü#é", "http://h/caf%C3%A9?%C3%BC#%C3%A9"),
      ("http://h/a/./b/../c", "http://h/a/c"),
      ("http://h/a/b/..", "http://h/a/"),
      ("http://h/a/.", "http://h/a/"),
      ("http://h/..", "http://h/"),
      ("http://h/../../a", "http://h/a"),
      ("http://h/a/%2e%2E/b/.%2e/c", "http://h/c"),
      ("http://h/...", "http://h/..."),
      ("http://h//a//../b", "http://h//a/b"),
      ("http://h\\a\\..\\b?c\\d", "http://h/b?c%5Cd"),
      ("  http://h/x ", "http://h/x"),
      ("http://0x7f.1/", "http://127.0.0.1/"),
      ("http://127.1", "http://127.0.0.1/"),
      ("http://2130706433/", "http://127.0.0.1/"),
      ("http://0177.0.0.1/", "http://127.0.0.1/"),
      ("http://127.0.0.1./", "http://127.0.0.1/"),
      ("http://255.255.65535", "http://255.255.255.255/"),
      ("http://%31%32%37.1/", "http://127.0.0.1/"),
      ("http://ex%41mple/", "http://example/"),
      ("http://1.2.3.4.example/", "http://1.2.3.4.example/"),
      ("http://example.com./", "http://example.com./"),
      ("http://[2001:DB8:0:0:1:0:0:1]/", "http://[2001:db8::1:0:0:1]/"),
      ("http://[0:0:0:0:0:0:0:0]/", "http://[::]/"),
      ("http://[1:2:0:4:5:6:7:8]/", "http://[1:2:0:4:5:6:7:8]/"),
      ("http://[::FFFF:127.0.0.1]:80/", "http://[::ffff:7f00:1]/"),
      ("http://[1::]/", "http://[1::]/"),
      ("http://[fe80::1%25lo]:81/x", "http://[fe80::1%25lo]:81/x"),
      ("http://[fe80::1%eth0]/", "http://[fe80::1%25eth0]/"),
      ("http://user:@h/", "http://user@h/"),
      ("http://:@h/", "http://h/"),
      ("http://@h/", "http://h/"),
      ("http://:pw@h/", "http://:pw@h/"),
      ("http://a@b:c@d@h/", "http://a%40b:c%40d@h/"),
      ("http://h?", "http://h/?"),
      ("http://h#", "http://h/#"),
      ("FILE:///tmp/a b", "file:///tmp/a%20b"),
      ("mailto:A@b", "mailto:A@b"),
      ("foo:/.//x", "foo:/.//x"),
      ("foo://H/../a", "foo://H/a"),
    ])
  func canonicalForm(given: String, canonical: String) throws {
    let url = try HTTPURL(given)
    #expect(url.text == given)
    #expect(url.canonical.text == canonical)
    #expect(url.isCanonical == (given == canonical))
    #expect(url.canonical.isCanonical)
    let again = try HTTPURL(canonical)
    #expect(again == url.canonical)
    #expect(again.isCanonical)
    #expect(again.host == url.host && again.port == url.port && again.requestTarget == url.requestTarget)
  }

  @Test("the parts of a URL that has all of them")
  func parts() throws {
    let url = try HTTPURL("HTTP://u%40x:p%3Aw@H.test:8080/a/b?c=d&e#f%20g")
    #expect(url.scheme == "http")
    #expect(url.user == "u@x")
    #expect(url.password == "p:w")
    #expect(url.host == "h.test")
    #expect(url.hostKind == .name)
    #expect(url.port == 8080 && url.explicitPort == 8080)
    #expect(url.path == "/a/b")
    #expect(url.query == "c=d&e")
    #expect(url.fragment == "f%20g")
    #expect(url.requestTarget == "/a/b?c=d&e")
    #expect(url.hostField == "h.test:8080")
    #expect(url.origin == Origin(scheme: "http", host: "h.test", port: 8080))
    #expect(url.withoutUserInfo.text == "http://h.test:8080/a/b?c=d&e#f%20g")
    #expect(url.withoutFragment.text == "http://u%40x:p%3Aw@h.test:8080/a/b?c=d&e")
    #expect(url.withoutUserInfo.withoutFragment == url.withoutFragment.withoutUserInfo)
    #expect("\(url)" == "http://h.test:8080/a/b?c=d&e#f%20g")
  }

  @Test("the parts of a URL that has few")
  func absentParts() throws {
    let url = try HTTPURL("http://h")
    #expect(url.user == nil && url.password == nil && url.zone == nil)
    #expect(url.port == 80 && url.explicitPort == nil)
    #expect(url.path == "/" && url.query == nil && url.fragment == nil)
    #expect(url.withoutUserInfo == url && url.withoutFragment == url)
    let empty = try HTTPURL("http://u@h:80/?#")
    #expect(empty.user == "u" && empty.password == nil)
    #expect(empty.explicitPort == 80)
    #expect(empty.query == "" && empty.fragment == "" && empty.requestTarget == "/?")
    #expect(try HTTPURL("http://:p@h/").user == "")
    #expect(try HTTPURL("http://%ff@h/").user == "\u{FF}")
  }

  @Test(
    "what the Host field says, and what is connected to",
    arguments: [
      ("http://h:80/", "h", "h", HTTPURL.HostKind.name, nil, 80),
      ("https://h:8443/", "h:8443", "h", .name, nil, 8443),
      ("http://[::1]:81/", "[::1]:81", "::1", .ipv6, nil, 81),
      ("http://u:p@[::1]/", "[::1]", "::1", .ipv6, nil, 80),
      ("http://[fe80::1%25lo]:81/", "[fe80::1]:81", "fe80::1", .ipv6, "lo", 81),
      ("http://[fe80::1%lo]/", "[fe80::1]", "fe80::1", .ipv6, "lo", 80),
      ("https://0x7f.1:443/", "127.0.0.1", "127.0.0.1", .ipv4, nil, 443),
      ("ftp://h/", "h", "h", .name, nil, 21),
    ] as [(String, String, String, HTTPURL.HostKind, String?, UInt16)])
  func hosts(
    given: String, field: String, host: String, kind: HTTPURL.HostKind, zone: String?, port: UInt16
  ) throws {
    let url = try HTTPURL(given)
    #expect(url.hostField == field)
    #expect(url.host == host)
    #expect(url.hostKind == kind)
    #expect(url.zone == zone)
    #expect(url.port == port)
    #expect(try HTTPURL(url.withoutUserInfo.text).hostField == field)
    #expect(url.withoutUserInfo.hostField == field)
  }

  @Test(
    "what is refused, by which rule, at which byte",
    arguments: [
      ("", .noScheme, 0),
      ("example.com/x", .noScheme, 0),
      ("  /x", .noScheme, 2),
      ("1http://h/", .noScheme, 0),
      ("http:", .noHost, 5),
      ("http:h", .noHost, 5),
      ("http://", .noHost, 7),
      ("http:///path", .noHost, 7),
      ("http://:80/", .noHost, 7),
      ("http://u@/x", .noHost, 9),
      ("http://?q", .noHost, 7),
      ("http://h:port/", .badPort, 9),
      ("http://h:65536/", .badPort, 13),
      ("http://h:-1/", .badPort, 9),
      ("http://h:99999999999999999999/", .badPort, 13),
      ("http://fe80::1/", .badPort, 12),
      ("http://a b/", .badHost, 8),
      ("http://a%20b/", .badHost, 8),
      ("http://a%00b/", .badHost, 8),
      ("http://a%b/", .badHost, 8),
      ("http://a<b/", .badHost, 8),
      ("http://256.1.1.1/", .badHost, 7),
      ("http://1.2.3.4.5/", .badHost, 7),
      ("http://09.1/", .badHost, 7),
      ("http://0xffffffff1/", .badHost, 7),
      ("http://99999999999999999999999/", .badHost, 7),
      ("http://foo.1/", .badHost, 7),
      ("http://1..1/", .badHost, 7),
      ("http://[::1/", .badHost, 11),
      ("http://[::1]x/", .badHost, 12),
      ("http://[]/", .badHost, 7),
      ("http://[1]/", .badHost, 7),
      ("http://[1:2:3:4:5:6:7]/", .badHost, 7),
      ("http://[1:2:3:4:5:6:7:8:9]/", .badHost, 7),
      ("http://[1:2:3:4:5:6:7:8::]/", .badHost, 7),
      ("http://[::1::]/", .badHost, 7),
      ("http://[:1]/", .badHost, 7),
      ("http://[1:]/", .badHost, 7),
      ("http://[12345::]/", .badHost, 7),
      ("http://[::1.2.3]/", .badHost, 7),
      ("http://[::1.2.3.04]/", .badHost, 7),
      ("http://[::1.2.3.256]/", .badHost, 7),
      ("http://[::1.2.3.4.5]/", .badHost, 7),
      ("http://[1:2:3:4:5:6:7:1.2.3.4]/", .badHost, 7),
      ("http://[fe80::1%25]/", .badHost, 15),
      ("http://[fe80::1%25a/b]/", .badHost, 19),
      ("http://bücher.test/", .nonASCIIHost, 8),
      ("http://b%C3%BCcher.test/", .nonASCIIHost, 8),
      ("http://h/\r\nX: y", .forbiddenByte, 9),
      ("http://h/\u{0}", .forbiddenByte, 9),
      ("http://h/a\tb", .forbiddenByte, 10),
      ("http://h/\u{7F}", .forbiddenByte, 9),
      ("http://h/\n", .forbiddenByte, 9),
    ] as [(String, URLSyntaxError.Rule, Int)])
  func refused(given: String, rule: URLSyntaxError.Rule, offset: Int) {
    let error = #expect(throws: URLSyntaxError.self) { try HTTPURL(given) }
    #expect(error?.rule == rule)
    #expect(error?.offset == offset)
    #expect(error?.reason.isEmpty == false)
  }

  /// RFC 9112 section 3.2.
  @Test(
    "the forms of a request's target",
    arguments: [
      ("http://u:p@H:80/a?b#c", "/a?b", "http://h/a?b", "h:80"), ("http://h", "/", "http://h/", "h:80"),
      ("https://h:8443/x", "/x", "https://h:8443/x", "h:8443"), ("https://h/?", "/?", "https://h/?", "h:443"),
      ("http://[::1]/", "/", "http://[::1]/", "[::1]:80"),
      ("http://[::1]:81/", "/", "http://[::1]:81/", "[::1]:81"),
    ])
  func targets(_ text: String, _ origin: String, _ absolute: String, _ authority: String) throws {
    let url = try HTTPURL(text).canonical
    #expect(TargetForm.allCases.map { url.target(in: $0) } == [origin, absolute, authority])
  }

  @Test("the longest text is accepted, one byte more is not")
  func longest() throws {
    let start = "http://h/"
    let long = start + String(repeating: "a", count: HTTPURL.maximumBytes - start.utf8.count)
    #expect(try HTTPURL(long).isCanonical)
    let error = #expect(throws: URLSyntaxError.self) { try HTTPURL(long + "a") }
    #expect(error?.rule == .tooLong)
  }

  @Test(
    "an origin is scheme, host and effective port",
    arguments: [
      ("http://h/a", "http://H:80/b", true),
      ("http://u:p@h/", "http://h/", true),
      ("http://h/", "https://h/", false),
      ("http://h/", "http://h:81/", false),
      ("http://h:443/", "https://h/", false),
      ("http://h/", "http://h./", false),
      ("http://h/", "http://www.h/", false),
      ("http://127.0.0.1/", "http://localhost/", false),
      ("http://127.0.0.1/", "http://0x7f.1/", true),
      ("http://[::1]/", "http://[0::1]/", true),
      ("http://[fe80::1%25a]/", "http://[fe80::1%25b]/", false),
    ])
  func origins(left: String, right: String, same: Bool) throws {
    let (left, right) = (try HTTPURL(left), try HTTPURL(right))
    #expect((left.origin == right.origin) == same)
    #expect(left.hasSameOrigin(as: right) == same)
  }
}
