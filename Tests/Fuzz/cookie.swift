import GannetHTTP
import GannetPolicy

private let places: [String] = [
  "http://h.test/", "https://h.test/a/b", "http://www.h.test/a", "https://a.b.h.test/", "http://h.test./",
  "http://127.0.0.1/", "http://localhost/a/", "http://[::1]/", "http://com/", "https://noth.test/",
]

/// Lines of fields that responses set, from places that the first byte of each chooses, between them requests to all
/// places: nothing traps, the jar keeps its limits, what is sent can be sent, and a second jar makes the same of it.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    var limits = CookieJar.Limits()
    limits.perDomain = 4
    limits.total = 10
    var (jar, twin) = (CookieJar(limits: limits), CookieJar(limits: limits))
    let scopes = places.compactMap { try? HTTPURL($0) }.map { CookieScope($0) }
    require(scopes.count == places.count, "a place is no URL")
    for (turn, line) in bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
      .enumerated()
    {
      let now = Double(turn) * 10
      let scope = scopes[Int(line.first ?? 0) % scopes.count]
      let input = Array(line.dropFirst())
      memory.lend(input[...]) { field in
        for place in JoinedSetCookies.split(field) {
          require(place.upperBound <= field.count, "a part lies outside")
          store(field.extracting(place), from: scope, at: now, in: &jar)
          store(field.extracting(place), from: scope, at: now, in: &twin)
        }
        _ = CookieDate.parse(field)
      }
      require(jar.count <= limits.total, "more cookies than may be kept")
      for scope in scopes {
        let cookies = jar.cookies(for: scope, at: now)
        require(cookies == twin.cookies(for: scope, at: now), "the same fields made other cookies")
        for cookie in cookies {
          require(Cookie.canHold(name: cookie.name, value: cookie.value), "a cookie that cannot be sent")
          require(scope.takes(cookie) && !cookie.hasExpired(at: now), "a cookie that is not for here")
        }
        let field = Cookie.field(of: cookies) ?? []
        require(!field.contains { $0 == 0x0D || $0 == 0x0A || $0 == 0 }, "a field that cannot be sent")
      }
    }
  }
}

private let memory = GuardedMemory(capacity: 4096)

/// Reads one field and keeps its cookie.
private func store(_ field: Span<UInt8>, from scope: CookieScope, at now: Double, in jar: inout CookieJar) {
  do throws(CookieRefusal) {
    let cookie = try Cookie(try SetCookie(field, at: now), from: scope)
    require(scope.host == cookie.domain || scope.isIn(cookie.domain), "a cookie for another host")
    require(!cookie.isSecure || scope.isSecure, "a secure cookie from an insecure place")
    try jar.store(cookie, from: scope, at: now)
  } catch {
    return
  }
}
