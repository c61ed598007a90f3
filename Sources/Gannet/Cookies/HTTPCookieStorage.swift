public import FoundationEssentials
import GannetHTTP
import GannetPolicy
import GannetSockets
import Synchronization

/// The cookies that loads take from responses and send with requests (RFC 6265bis). In memory; may be used from any
/// thread, and nobody is told of changes.
///
/// A load takes what every response sets, also of a redirect, a 401 or a 304, before it sends its next request, and sends
/// what is here then. A request whose `Cookie` field the program has set is sent with that alone. Configurations name
/// their storage (`URLConnection.Configuration.cookieStorage`), a request does without it by
/// `URLRequest.httpShouldHandleCookies`.
///
/// At most 180 cookies of one domain are kept, and 3000 in all; past that what has not been sent for longest is let go.
public final class HTTPCookieStorage: Sendable {
  /// The storage of loads whose configuration names no other.
  public static let shared = HTTPCookieStorage()

  private struct State {
    var jar = CookieJar()
    var policy = HTTPCookie.AcceptPolicy.always
  }

  private let state = Guarded(State())
  /// How many cookies are kept: an empty storage is not locked.
  private let count = Atomic<Int>(0)
  private let clock: @Sendable () -> Double

  /// An empty storage that takes all cookies.
  public convenience init() { self.init { Date().timeIntervalSince1970 } }

  /// A storage whose time, in seconds since 1970, `clock` tells.
  package init(clock: @escaping @Sendable () -> Double) { self.clock = clock }

  /// Which cookies of responses are taken, by loads and by `setCookies(_:for:mainDocumentURL:)`. Default: all.
  public var cookieAcceptPolicy: HTTPCookie.AcceptPolicy {
    get { state.withLock { $0.policy } }
    set { state.withLock { $0.policy = newValue } }
  }

  /// Every cookie that is not over, in the order of creation. Never nil; Cocoa's is optional.
  public var cookies: [HTTPCookie]? {
    let now = clock()
    return state.withLock { $0.jar.all(at: now) }.map(HTTPCookie.init)
  }

  /// The cookies that a request to a URL is sent with, in their order; nil when it has no host.
  public func cookies(for url: URL) -> [HTTPCookie]? {
    HTTPURL(cookiesOf: url).map { found(for: $0).map(HTTPCookie.init) }
  }

  /// Keeps a cookie in place of the one of its name, domain and path. Whatever it is: the program says so.
  public func setCookie(_ cookie: HTTPCookie) {
    let now = clock()
    change { $0.jar.store(cookie.cookie, at: now) }
  }

  /// Lets go of the cookie with this one's name, domain and path.
  public func deleteCookie(_ cookie: HTTPCookie) { change { $0.jar.remove(cookie.cookie) } }

  /// Lets go of the cookies that were kept at this moment or later.
  public func removeCookies(since date: Date) {
    change { $0.jar.removeAll(since: date.timeIntervalSince1970) }
  }

  /// Keeps cookies that a response from a URL has set (`HTTPCookie.cookies(withResponseHeaderFields:for:)`): those that
  /// `cookieAcceptPolicy` takes, whose domain the URL is in, and that a response from there may set: without TLS neither
  /// secure ones nor any in the place of a secure one. Without a URL, or with one without a host, none.
  public func setCookies(_ cookies: [HTTPCookie], for url: URL?, mainDocumentURL: URL?) {
    guard let address = url.flatMap({ HTTPURL(cookiesOf: $0) }) else { return }
    let scope = CookieScope(address)
    let own = cookies.lazy.map(\.cookie).filter {
      ($0.isHostOnly ? scope.host == $0.domain : scope.isIn($0.domain)) && (scope.isSecure || !$0.isSecure)
    }
    take(Array(own), from: scope, mainDocumentURL: mainDocumentURL)
  }

  private func take(_ cookies: [Cookie], from scope: CookieScope, mainDocumentURL: URL?) {
    let now = clock()
    let main = mainDocumentURL.flatMap { HTTPURL(cookiesOf: $0) }.map { CookieScope($0) }
    change { state in
      if state.policy == .never { return }
      for cookie in cookies {
        if state.policy == .onlyFromMainDocumentDomain, let main,
          cookie.isHostOnly ? main.host != cookie.domain : !main.isIn(cookie.domain)
        {
          continue
        }
        // What is refused is not kept: that is all that comes of it.
        try? state.jar.store(cookie, from: scope, at: now)
      }
    }
  }

  private func change(_ body: (inout State) -> Void) {
    state.withLock { state in
      body(&state)
      count.store(state.jar.count, ordering: .relaxed)
    }
  }
}

// The loads' side.
extension HTTPCookieStorage {
  /// Whether there is nothing to send. An atomic load.
  var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }

  /// Keeps what a response from here sets.
  func take(_ fields: FieldList, from url: HTTPURL, mainDocumentURL: URL?) {
    let scope = CookieScope(url)
    let cookies = Cookie.set(by: fields, from: scope, at: clock())
    if !cookies.isEmpty { take(cookies, from: scope, mainDocumentURL: mainDocumentURL) }
  }

  /// The `Cookie` field's value of a request here; nil for none.
  func field(for url: HTTPURL) -> [UInt8]? { Cookie.field(of: found(for: url)) }

  private func found(for url: HTTPURL) -> [Cookie] {
    guard !isEmpty else { return [] }
    let (scope, now) = (CookieScope(url), clock())
    return state.withLock { $0.jar.cookies(for: scope, at: now) }
  }
}

extension HTTPCookieStorage: CustomStringConvertible {
  /// How many cookies are kept.
  public var description: String { "HTTPCookieStorage(\(count.load(ordering: .relaxed)) cookies)" }
}
