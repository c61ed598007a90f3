import GannetHTTP
import TestSupport
import Testing

@Suite("HTTPURL: references")
struct URLResolvingTests {
  @Test(
    "what a reference means",
    arguments: [
      // RFC 3986 section 5.4, a few of each kind.
      ("http://a/b/c/d;p?q", "g:h", "g:h"),
      ("http://a/b/c/d;p?q", "g", "http://a/b/c/g"),
      ("http://a/b/c/d;p?q", "/g", "http://a/g"),
      ("http://a/b/c/d;p?q", "//g", "http://g/"),
      ("http://a/b/c/d;p?q", "?y", "http://a/b/c/d;p?y"),
      ("http://a/b/c/d;p?q", "#s", "http://a/b/c/d;p?q#s"),
      ("http://a/b/c/d;p?q#f", "", "http://a/b/c/d;p?q"),
      ("http://a/b/c/d;p?q", "../../../g", "http://a/g"),
      ("http://a/b/c/d;p?q", "g;x=1/../y", "http://a/b/c/y"),
      ("http://a/b/c/d;p?q", "g?y/../x", "http://a/b/c/g?y/../x"),
      ("http://a/b/c/d;p?q", "http:g", "http://a/b/c/g"),
      ("http://a/b?q", "HTTP:?r", "http://a/b?r"),
      // What servers force.
      ("http://h/a", "  /b\t", "http://h/b"),
      ("http://h/a", "/b\r\n c\td", "http://h/b%20cd"),
      ("http://h/a", "/b\u{0}\u{1F}\u{7F}", "http://h/b%00%1F%7F"),
      ("http://h/a", "\\b\\c", "http://h/b/c"),
      ("http://h/a", "\\\\o/x", "http://o/x"),
      ("http://h/a", "https:/o/x", "https://o/x"),
      ("http://h/a", "https:o/x", "https://o/x"),
      ("http://h/a", "///o/x", "http://o/x"),
      ("http://h/a", "http:/x", "http://h/x"),
      ("http://h/a", "/x y?z=\"<>[]|", "http://h/x%20y?z=%22%3C%3E%5B%5D%7C"),
      ("http://h/a", "http://O:80/%C3%A9", "http://o/%C3%A9"),
      ("http://h/a", "/caf\u{E9}?\u{E9}#\u{E9}", "http://h/caf%C3%A9?%C3%A9#%C3%A9"),
      // User information stays with its authority.
      ("http://u:p@h/a", "b", "http://u:p@h/b"),
      ("http://u:p@h/a", "//h/b", "http://h/b"),
      ("http://[fe80::1%25lo]/a", "/b", "http://[fe80::1%25lo]/b"),
      // Bases that are no http.
      ("foo://h", "x", "foo://h/x"),
      ("foo://h/a/b", "../c", "foo://h/c"),
      ("foo:/a/b", "//h", "foo://h"),
      ("foo:/.//a", "b", "foo:/.//b"),
      ("mailto:a@b", "#c", "mailto:a@b#c"),
      ("file:///a/b", "c", "file:///a/c"),
    ])
  func meaning(base: String, reference: String, expected: String) throws {
    let url = try HTTPURL(base).resolving(reference)
    #expect(url.text == expected)
    #expect(url.isCanonical)
    #expect(try HTTPURL(expected) == url)
  }

  @Test("bytes that are not UTF-8 are encoded one by one")
  func latin1() throws {
    let reference: [UInt8] = Array("/caf".utf8) + [0xE9] + Array("?".utf8) + [0xFF]
    #expect(try HTTPURL("http://h/").resolving(reference.span).text == "http://h/caf%E9?%FF")
  }

  @Test(
    "what is refused, at which byte of the reference",
    arguments: [
      ("http://h/", "http:///", .noHost, 8),
      ("http://h/", "//", .noHost, 2),
      ("http://h/", " \t//a b/", .badHost, 5),
      ("http://h/", "//a\tb\t^/", .badHost, 6),
      ("http://h/a", "http://o:x/", .badPort, 9),
      ("http://h/a", "//b\u{FC}cher/", .nonASCIIHost, 3),
      ("mailto:a@b", "c", .notABase, 0),
      ("mailto:a@b", "", .notABase, 0),
    ] as [(String, String, URLSyntaxError.Rule, Int)])
  func refused(base: String, reference: String, rule: URLSyntaxError.Rule, offset: Int) throws {
    let base = try HTTPURL(base)
    let error = #expect(throws: URLSyntaxError.self) { try base.resolving(reference) }
    #expect(error?.rule == rule)
    #expect(error?.offset == offset)
  }

  @Test("a reference that makes the URL too long")
  func tooLong() throws {
    let base = try HTTPURL("http://h/")
    let error = #expect(throws: URLSyntaxError.self) {
      try base.resolving(String(repeating: "a", count: HTTPURL.maximumBytes - 8))
    }
    #expect(error?.rule == .tooLong)
  }

  @Test(
    "the fragment is inherited when the new URL has none",
    arguments: [
      ("http://h/b", "http://h/a#x", "http://h/b#x"),
      ("http://h/b#y", "http://h/a#x", "http://h/b#y"),
      ("http://h/b#", "http://h/a#x", "http://h/b#"),
      ("http://h/b", "http://h/a", "http://h/b"),
      ("http://h/b?q", "http://h/a#", "http://h/b?q#"),
      ("http://u@h/b?q", "http://h/a#é", "http://u@h/b?q#%C3%A9"),
    ])
  func inheritance(url: String, from: String, expected: String) throws {
    let inherited = try HTTPURL(url).inheritingFragment(from: HTTPURL(from))
    #expect(inherited.text == expected)
    #expect(try HTTPURL(expected).canonical == inherited)
    #expect(inherited.fragment == (try HTTPURL(expected)).fragment)
  }

  @Test("made-up references: no trap, a canonical URL or an error with its place", arguments: 0..<8)
  func random(seed: UInt64) throws {
    var random = SeededGenerator(seed: seed)
    let pieces = [
      "http:", "//", "/", "\\", "..", ".", "%2e", "%", "@", ":", "[", "]", "::", "1", "0x", "h", "?", "#",
      " ", "\t", "é", "%25",
    ]
    let base = try HTTPURL(seed % 2 == 0 ? "http://u:p@h:81/a/b?c#d" : "foo:/a/b")
    for _ in 0..<2000 {
      var reference: [UInt8] = []
      for _ in 0..<Int.random(in: 0..<10, using: &random) {
        reference += pieces[Int.random(in: 0..<pieces.count, using: &random)].utf8
      }
      do throws(URLSyntaxError) {
        let url = try base.resolving(reference.span)
        #expect(url.isCanonical)
        #expect(urlOutcome(url.text) == .success(url), "\(String(decoding: reference, as: UTF8.self))")
        #expect(
          url.withoutUserInfo.withoutFragment == urlOutcome(url.withoutUserInfo.withoutFragment.text).url)
        #expect(url.withoutUserInfo.user == nil && url.withoutUserInfo.hostField == url.hostField)
        #expect(url.withoutFragment.fragment == nil && url.withoutFragment.requestTarget == url.requestTarget)
      } catch {
        #expect((0...reference.count).contains(error.offset))
      }
    }
  }

  @Test("every byte, in every place, either gives a canonical URL or an error with its place")
  func everyByte() throws {
    let base = try HTTPURL("http://u:p@h:81/a/b?c#d")
    for byte in UInt8.min...UInt8.max {
      for place in [
        "//u?:p@h:81/x?y#z", "//?h/", "//h:?1/", "//[::?1]/", "//[fe80::1%25?a]/", "?//h", "/?/x",
        "ht?tp://h/",
      ] {
        let reference = place.utf8.map { $0 == UInt8(ascii: "?") ? byte : $0 }
        do throws(URLSyntaxError) {
          let url = try base.resolving(reference.span)
          #expect(url.isCanonical)
          #expect(try HTTPURL(url.text).canonical == url, "\(byte) in \(place)")
        } catch {
          #expect((0...reference.count).contains(error.offset), "\(byte) in \(place)")
        }
      }
    }
  }
}
