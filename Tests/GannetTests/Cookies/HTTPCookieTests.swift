import Gannet
import GannetHTTP
import Synchronization
import TestSupport
import Testing

/// Cocoa's types of cookies: what programs make, read and keep.
@Suite struct HTTPCookieTests {
  private typealias Properties = [HTTPCookiePropertyKey: Any]
  private static var least: Properties { [.name: "n", .value: "v", .domain: "h.test", .path: "/"] }

  private static func made(_ changes: Properties) -> HTTPCookie? {
    HTTPCookie(properties: least.merging(changes) { $1 })
  }

  @Test func whatIsLeast() throws {
    let cookie = try #require(HTTPCookie(properties: Self.least))
    #expect(cookie.name == "n" && cookie.value == "v" && cookie.domain == "h.test" && cookie.path == "/")
    #expect(cookie.expiresDate == nil && cookie.isSessionOnly && !cookie.isSecure && !cookie.isHTTPOnly)
    #expect(
      cookie.version == 0 && cookie.comment == nil && cookie.commentURL == nil && cookie.portList == nil)
    #expect(cookie.sameSitePolicy == nil)
    for key: HTTPCookiePropertyKey in [.name, .value, .domain] {
      var properties = Self.least
      properties[key] = nil
      #expect(HTTPCookie(properties: properties) == nil)
    }
  }

  /// As a text or as a URL, and whatever the case of the keys.
  @Test func anOriginStandsForDomainAndPath() throws {
    let url = try #require(URL(string: "http://WWW.h.test/a/b?c"))
    for origin in [url, "http://WWW.h.test/a/b?c"] as [Any] {
      let cookie = try #require(
        HTTPCookie(properties: [.init("NAME"): "n", .init("value"): "v", .init("originurl"): origin]))
      #expect(cookie.domain == "www.h.test" && cookie.path == "/a")
    }
    let both = Self.made([.originURL: url, .domain: ".H.test", .path: "/p"])
    #expect(both?.domain == ".h.test" && both?.path == "/p")
    #expect(HTTPCookie(properties: [.name: "n", .value: "v", .originURL: "no url"]) == nil)
    #expect(HTTPCookiePropertyKey("DOMAIN") == .domain)
  }

  @Test(
    arguments: [
      [.name: "a=b"], [.name: "a;b"], [.name: "a\r\nb"], [.value: "a;b"], [.value: "a\0b"], [.value: "a\nb"],
      [.value: "a\u{7F}"], [.name: "", .value: ""], [.value: String(repeating: "v", count: 4096)],
      [.path: "p"],
      [.path: "/a;b"], [.path: "/a b"], [.path: "/" + String(repeating: "p", count: 1024)], [.domain: ""],
      [.domain: "."], [.domain: "h test"], [.domain: 1], [.path: 1], [.name: 1],
    ] as [[HTTPCookiePropertyKey: any Sendable]])
  func whatCannotBeACookie(_ changes: [HTTPCookiePropertyKey: any Sendable]) {
    #expect(Self.made(changes) == nil)
  }

  @Test func everyProperty() throws {
    let date = Date(timeIntervalSince1970: 2_000_000_000)
    let properties: Properties = [
      .domain: ".h.test", .path: "/p", .expires: date, .secure: "TRUE", .httpOnly: true,
      .sameSitePolicy: HTTPCookieStringPolicy.sameSiteStrict, .port: "80,8080", .version: "1",
      .comment: "for tests", .commentURL: "http://h.test/why",
    ]
    let cookie = try #require(Self.made(properties))
    #expect(cookie.expiresDate == date && !cookie.isSessionOnly && cookie.isSecure && cookie.isHTTPOnly)
    #expect(cookie.sameSitePolicy == .sameSiteStrict && cookie.portList == [80, 8080] && cookie.version == 1)
    #expect(cookie.comment == "for tests" && cookie.commentURL?.absoluteString == "http://h.test/why")
    #expect(cookie.domain == ".h.test")
    let again = try #require(cookie.properties)
    #expect(HTTPCookie(properties: again) == cookie)
    #expect(HTTPCookie(properties: Self.least)?.properties?[.discard] as? String == "TRUE")
    #expect(cookie.description == "HTTPCookie(n, for .h.test/p)")
  }

  @Test func whenItEnds() throws {
    let now = Date().timeIntervalSince1970
    func seconds(_ changes: Properties) -> Double? {
      Self.made(changes)?.expiresDate.map { ($0.timeIntervalSince1970 - now).rounded() }
    }
    #expect(seconds([.maximumAge: 60]) == 60)
    #expect(seconds([.maximumAge: "60", .expires: Date.distantPast]) == 60)
    #expect(seconds([.maximumAge: 60.0, .discard: "TRUE"]) == nil)
    #expect(seconds([.maximumAge: "x"]) == nil)
    #expect(seconds([.expires: Date(timeIntervalSince1970: .nan)]) == nil)
    let text = Self.made([.expires: "Wed, 09-Aug-2017 00:00:00 GMT", .secure: "FALSE", .httpOnly: ""])
    #expect(text?.expiresDate?.timeIntervalSince1970 == 1_502_236_800)
    #expect(text?.isSecure == false && text?.isHTTPOnly == false)
  }

  @Test func cookiesOfAResponse() throws {
    let url = try #require(URL(string: "http://www.h.test/p/x"))
    let fields: FieldList = [
      "Set-Cookie": "a=1; Path=/; HttpOnly", "X": "y", "set-cookie": "b=2, c=3; Domain=h.test",
      "Set-Cookie": "d=4; Domain=other.test",
    ]
    let cookies = HTTPCookie.cookies(withResponseHeaderFields: fields, for: url)
    #expect(cookies.map(\.value) == ["1", "2, c=3"])
    #expect(cookies.map(\.domain) == ["www.h.test", ".h.test"])
    #expect(cookies.map(\.path) == ["/", "/p"])
    let joined = ["set-cookie": "a=1; Expires=Wed, 21 Oct 2037 07:28:00 GMT, b=2, c=\"x,y\""]
    #expect(
      HTTPCookie.cookies(withResponseHeaderFields: joined, for: url).map(\.value) == ["1", "2", "\"x,y\""])
    let nowhere = try #require(URL(string: "data:,x"))
    #expect(HTTPCookie.cookies(withResponseHeaderFields: fields, for: nowhere).isEmpty)
    #expect(HTTPCookie.requestHeaderFields(with: cookies) == ["Cookie": "a=1; b=2, c=3"])
    #expect(HTTPCookie.requestHeaderFields(with: []) == [:])
  }

  /// A clock that is told.
  private final class Clock: Sendable {
    private let seconds = Atomic<Int>(1_000)
    var now: Int {
      get { seconds.load(ordering: .relaxed) }
      set { seconds.store(newValue, ordering: .relaxed) }
    }
  }

  @Test func aStorage() throws {
    let clock = Clock()
    let storage = HTTPCookieStorage { Double(clock.now) }
    let url = try #require(URL(string: "https://www.h.test/"))
    func values(_ cookies: [HTTPCookie]?) -> String? { cookies?.map(\.value).joined(separator: " ") }
    #expect(storage.cookies == [] && storage.cookies(for: url) == [])
    storage.setCookie(try #require(Self.made([.value: "1", .domain: ".h.test"])))
    clock.now = 2_000
    storage.setCookie(
      try #require(
        Self.made([.value: "2", .domain: "www.h.test", .expires: Date(timeIntervalSince1970: 2_010)])))
    #expect(values(storage.cookies) == "1 2")
    #expect(values(storage.cookies(for: url)) == "1 2")
    #expect(values(storage.cookies(for: try #require(URL(string: "http://h.test/")))) == "1")
    #expect(storage.cookies(for: try #require(URL(string: "data:,x"))) == nil)
    clock.now = 2_010
    #expect(values(storage.cookies) == "1")
    storage.removeCookies(since: Date(timeIntervalSince1970: 1_001))
    #expect(values(storage.cookies) == "1")
    storage.deleteCookie(try #require(Self.made([.domain: "h.test"])))
    #expect(values(storage.cookies) == "1")
    storage.deleteCookie(try #require(Self.made([.domain: ".h.test"])))
    #expect(storage.cookies == [])
    #expect(storage.description == "HTTPCookieStorage(0 cookies)")
  }

  /// What a program says a response has set is held to what a response may set.
  @Test func cookiesSetForAURL() throws {
    let url = try #require(URL(string: "http://www.h.test/"))
    let cookies = try [
      Self.made([.value: "1", .domain: "www.h.test"]), Self.made([.value: "2", .domain: ".h.test"]),
      Self.made([.value: "3", .domain: "h.test"]), Self.made([.value: "4", .domain: ".other.test"]),
      Self.made([.value: "5", .domain: "www.h.test", .path: "/p", .secure: true]),
    ].map { try #require($0) }
    let storage = HTTPCookieStorage()
    storage.setCookies(cookies, for: nil, mainDocumentURL: nil)
    #expect(storage.cookies == [])
    storage.cookieAcceptPolicy = .never
    storage.setCookies(cookies, for: url, mainDocumentURL: nil)
    #expect(storage.cookies == [])
    storage.cookieAcceptPolicy = .onlyFromMainDocumentDomain
    storage.setCookies(cookies, for: url, mainDocumentURL: URL(string: "http://h.test/"))
    #expect(storage.cookies?.map(\.value) == ["2"])
    storage.cookieAcceptPolicy = .always
    storage.setCookies(cookies, for: url, mainDocumentURL: URL(string: "http://h.test/"))
    #expect(storage.cookies?.map(\.value) == ["2", "1"])
  }

  @Test func storagesAreUsedFromAnyThread() async throws {
    let storage = HTTPCookieStorage()
    let url = try #require(URL(string: "http://h.test/"))
    await withTaskGroup(of: Void.self) { group in
      for task in 0..<8 {
        group.addTask {
          for index in 0..<50 {
            guard let cookie = Self.made([.name: "n\(task)-\(index % 5)", .value: "\(index)"]) else { return }
            storage.setCookie(cookie)
            _ = storage.cookies(for: url)
          }
        }
      }
    }
    #expect(storage.cookies?.count == 40)
  }
}
