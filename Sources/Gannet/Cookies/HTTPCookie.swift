public import FoundationEssentials
public import GannetHTTP
import GannetPolicy

/// A cookie (RFC 6265bis): a value that a server gives a client to send back. A value here, where Cocoa has a class.
///
/// `SameSite` is kept and changes nothing, but that a response's `None` needs `Secure`: there are no documents whose site
/// could cause a request, so every load counts as the site's own.
public struct HTTPCookie: Hashable, Sendable {
  /// As it is kept and sent.
  let cookie: Cookie

  init(_ cookie: Cookie) { self.cookie = cookie }

  /// Makes a cookie of the values at these keys, each of the type that the key names.
  ///
  /// It is nil without `name`, `value` and one of `domain` and `originURL`; when one of them is not what the key wants;
  /// when name or value hold a control character or `;`, the name `=`, or both have more than 4096 bytes; when the domain
  /// has no ASCII form (`HostNameEncoder`); and when the path does not begin with a slash or has more than 1024. What else is not understood is passed over, as servers' attributes
  /// are.
  public init?(properties: [HTTPCookiePropertyKey: Any]) {
    self.init(properties: properties, now: Date().timeIntervalSince1970)
  }

  /// As above, at a time in seconds since 1970.
  init?(properties: [HTTPCookiePropertyKey: Any], now: Double) {
    guard let name = properties[.name] as? String, let value = properties[.value] as? String,
      let (domain, isHostOnly, path) = HTTPCookie.place(properties),
      Cookie.canHold(name: Array(name.utf8), value: Array(value.utf8))
    else { return nil }
    var made = Cookie(
      name: Array(name.utf8), value: Array(value.utf8), domain: domain, isHostOnly: isHostOnly, path: path)
    made.expires = HTTPCookie.expiry(properties, now: now)
    made.isSecure = HTTPCookie.isSet(properties[.secure])
    made.isHTTPOnly = HTTPCookie.isSet(properties[.httpOnly])
    made.sameSite =
      switch (properties[.sameSitePolicy] as? HTTPCookieStringPolicy)?.rawValue
        ?? (properties[.sameSitePolicy] as? String)?.lowercased()
      {
      case "lax": .lax
      case "strict": .strict
      case "none": .none
      default: .unsaid
      }
    made.ports = HTTPCookie.text(properties[.port]).map(HTTPCookie.ports) ?? []
    made.version = HTTPCookie.number(properties[.version]) == 1 ? 1 : 0
    made.comment = properties[.comment] as? String
    made.commentURL = HTTPCookie.text(properties[.commentURL])
    cookie = made
  }

  /// The name. Bytes that are not UTF-8 are read as Latin-1; they are sent back as they came.
  public var name: String { String(fieldText: cookie.name.span) }
  /// The value, as `name` is read.
  public var value: String { String(fieldText: cookie.value.span) }
  /// The host that it is for, in lower case; with a dot before it, its subdomains too.
  public var domain: String { cookie.isHostOnly ? cookie.domain : "." + cookie.domain }
  /// The path that it is for, and everything below.
  public var path: String { cookie.path }
  /// When it ends; nil: with the session. What a response sets ends after 400 days at most.
  public var expiresDate: Date? { cookie.expires.map { Date(timeIntervalSince1970: $0) } }
  /// Whether it ends with the session.
  public var isSessionOnly: Bool { cookie.expires == nil }
  /// Whether it is sent on secure connections only: https, or http to this machine (`localhost`, 127.0.0.0/8, ::1).
  public var isSecure: Bool { cookie.isSecure }
  /// Whether documents' scripts may not see it. Programs do.
  public var isHTTPOnly: Bool { cookie.isHTTPOnly }
  /// What it says of requests that other sites cause; nil when nothing, or that all may.
  public var sameSitePolicy: HTTPCookieStringPolicy? {
    switch cookie.sameSite {
    case .unsaid, .none: nil
    case .lax: .sameSiteLax
    case .strict: .sameSiteStrict
    }
  }
  /// The ports that it is sent to; nil for any.
  public var portList: [Int]? { cookie.ports.isEmpty ? nil : cookie.ports.map { Int($0) } }
  /// 0, or 1 when it was made so.
  public var version: Int { cookie.version }
  /// What it is for, when it was made with a comment.
  public var comment: String? { cookie.comment }
  /// Where it is said what it is for, when it was made so.
  public var commentURL: URL? { cookie.commentURL.flatMap { URL(string: $0) } }

  /// What `init(properties:)` takes to make it again. Bytes that are not UTF-8 are not the same then.
  public var properties: [HTTPCookiePropertyKey: Any]? {
    var properties: [HTTPCookiePropertyKey: Any] = [
      .name: name, .value: value, .domain: domain, .path: path, .version: version,
    ]
    properties[.expires] = expiresDate
    if isSessionOnly { properties[.discard] = "TRUE" }
    if isSecure { properties[.secure] = "TRUE" }
    if isHTTPOnly { properties[.httpOnly] = "TRUE" }
    properties[.sameSitePolicy] = cookie.sameSite == .none ? "none" : sameSitePolicy?.rawValue
    properties[.port] = portList.map { $0.map(String.init).joined(separator: ",") }
    properties[.comment] = comment
    properties[.commentURL] = cookie.commentURL
    return properties
  }
}

extension HTTPCookie: CustomStringConvertible {
  /// The name and where it is for; never the value.
  public var description: String { "HTTPCookie(\(name), for \(domain)\(path))" }
}

extension HTTPCookie {
  /// The cookies that a response from a URL sets with these fields, in order, as loads take them: those that its rules
  /// refuse are left out, and so are all when the URL has no host.
  public static func cookies(withResponseHeaderFields fields: FieldList, for url: URL) -> [HTTPCookie] {
    guard let address = HTTPURL(cookiesOf: url) else { return [] }
    return Cookie.set(by: fields, from: CookieScope(address), at: Date().timeIntervalSince1970)
      .map(HTTPCookie.init)
  }

  /// Cocoa's form. A dictionary holds several `Set-Cookie` joined by commas, which values and dates hold too: they are taken
  /// apart where a comma is followed by a name and `=`. The form that takes a list (`HTTPURLResponse.fields`) has no need to
  /// guess.
  public static func cookies(
    withResponseHeaderFields headerFields: [String: String], for url: URL
  ) -> [HTTPCookie] {
    var list = FieldList()
    for (name, value) in headerFields.sorted(by: { $0.key < $1.key })
    where name.lowercased() == "set-cookie" {
      let bytes = Array(value.utf8)
      for place in JoinedSetCookies.split(bytes.span) {
        list.append(name: "Set-Cookie".utf8.span, value: bytes.span.extracting(place))
      }
    }
    return cookies(withResponseHeaderFields: list, for: url)
  }

  /// The field that sends these cookies, in their order: `Cookie` and its value; empty for none. Which ones a URL gets is
  /// not looked at (`HTTPCookieStorage.cookies(for:)`).
  public static func requestHeaderFields(with cookies: [HTTPCookie]) -> [String: String] {
    guard let field = Cookie.field(of: cookies.map(\.cookie)) else { return [:] }
    return ["Cookie": String(fieldText: field.span)]
  }
}

// How properties are read.
extension HTTPCookie {
  private static func place(
    _ properties: [HTTPCookiePropertyKey: Any]
  ) -> (domain: String, isHostOnly: Bool, path: String)? {
    let origin = text(properties[.originURL]).flatMap { try? HTTPURL($0, encodingHostsWith: .shared) }
    let scope = origin.map { CookieScope($0) }
    guard properties[.originURL] == nil || scope != nil else { return nil }
    var domain = scope?.host ?? ""
    var isHostOnly = true
    if let given = properties[.domain] {
      guard let given = given as? String else { return nil }
      isHostOnly = !given.hasPrefix(".")
      domain = String(given.drop { $0 == "." }).lowercased()
      if !domain.utf8.allSatisfy({ $0 < 0x80 }) {
        guard let address = try? HTTPURL("http://\(domain)/", encodingHostsWith: .shared) else { return nil }
        domain = address.host
      }
    }
    var path = scope?.defaultPath ?? "/"
    if let given = properties[.path] {
      guard let given = given as? String else { return nil }
      path = given
    }
    let isPlain = (domain + path).utf8.allSatisfy { $0 > 0x20 && $0 != 0x7F && $0 != UInt8(ascii: ";") }
    guard !domain.isEmpty, isPlain, path.hasPrefix("/"), path.utf8.count <= Cookie.maximumPathBytes else {
      return nil
    }
    return (domain, isHostOnly, path)
  }

  private static func expiry(_ properties: [HTTPCookiePropertyKey: Any], now: Double) -> Double? {
    if isSet(properties[.discard]) { return nil }
    if let seconds = number(properties[.maximumAge]) { return now + seconds }
    if let date = properties[.expires] as? Date {
      return date.timeIntervalSince1970.isNaN ? nil : date.timeIntervalSince1970
    }
    guard let text = properties[.expires] as? String else { return nil }
    return CookieDate.parse(text.utf8.span).map { Double($0) }
  }

  private static func text(_ value: Any?) -> String? {
    value as? String ?? (value as? URL)?.absoluteString
  }

  private static func isSet(_ value: Any?) -> Bool {
    if let value = value as? String { return !value.isEmpty && value.lowercased() != "false" }
    return value as? Bool ?? false
  }

  private static func number(_ value: Any?) -> Double? {
    let number =
      value as? Double ?? (value as? Int).map { Double($0) } ?? (value as? String).flatMap { Double($0) }
    return number.flatMap { $0.isFinite ? $0 : nil }
  }

  private static func ports(_ text: String) -> [UInt16] {
    text.split { !$0.isNumber }.compactMap { UInt16($0) }
  }
}

extension HTTPURL {
  /// A URL that may have cookies: one with a host.
  init?(cookiesOf url: URL) {
    guard let address = try? HTTPURL(url.absoluteString, encodingHostsWith: .shared), !address.host.isEmpty
    else {
      return nil
    }
    self = address
  }
}
