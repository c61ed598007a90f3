import GannetHTTP
import GannetPolicy

/// 2017-08-09 00:00:00 UTC.
let august2017 = 1_502_236_800.0

/// The cookie that a response from a URL sets by this field, or why it is refused.
func cookie(
  _ field: String, from url: String, at now: Double = august2017
) throws -> Result<Cookie, CookieRefusal> {
  let scope = CookieScope(try HTTPURL(url))
  do throws(CookieRefusal) {
    return .success(try Cookie(try SetCookie(field.utf8.span, at: now), from: scope))
  } catch {
    return .failure(error)
  }
}

/// A jar and its clock, filled as responses fill it.
struct Visits {
  var jar: CookieJar
  var now: Double

  init(at now: Double = august2017, limits: CookieJar.Limits = CookieJar.Limits()) {
    self.now = now
    jar = CookieJar(limits: limits)
  }

  /// A response from a URL sets these cookies.
  mutating func receive(_ fields: [String], from url: String) throws {
    try receive(fields.map { Array($0.utf8) }, from: url)
  }

  mutating func receive(_ fields: [[UInt8]], from url: String) throws {
    var list = FieldList()
    for field in fields { list.append(name: "Set-Cookie".utf8.span, value: field.span) }
    let scope = CookieScope(try HTTPURL(url))
    for cookie in Cookie.set(by: list, from: scope, at: now) {
      do throws(CookieRefusal) { try jar.store(cookie, from: scope, at: now) } catch {
        guard error == .insecure else { throw error }
      }
    }
  }

  /// The `Cookie` field of a request to a URL; empty for none.
  mutating func sent(to url: String) throws -> String {
    String(decoding: try sentBytes(to: url), as: UTF8.self)
  }

  mutating func sentBytes(to url: String) throws -> [UInt8] {
    Cookie.field(of: jar.cookies(for: CookieScope(try HTTPURL(url)), at: now)) ?? []
  }
}
