package import GannetHTTP

/// What of a request's URL decides about cookies, and how it compares with a cookie's (RFC 6265bis sections 5.1.2 to
/// 5.1.4).
///
/// The host is in lower case and in its ASCII form. `example.com.`, with the dot, is a host of its own, as it is an
/// origin of its own (`Origin`). The port is no part of it, and http and https share cookies, save the secure ones.
package struct CookieScope: Hashable, Sendable {
  /// The host; of an IPv6 address without brackets, with its zone.
  package let host: String
  /// Whether the host is an IP address, which has no subdomains.
  package let isAddress: Bool
  /// Whether the connection counts as secure: https, or to this machine itself, by its name `localhost` or a loopback
  /// address. What never leaves the machine cannot be read on the way, and browsers and curl count it so too.
  package let isSecure: Bool
  package let port: UInt16
  /// The path, percent-encoded, without the query.
  package let path: String

  /// The scope of a URL.
  package init(_ url: HTTPURL) {
    let origin = url.origin
    host = origin.host
    isAddress = url.hostKind != .name
    isSecure = origin.scheme == "https" || CookieScope.isLoopback(host, url.hostKind)
    port = origin.port
    path = url.path
  }

  private static func isLoopback(_ host: String, _ kind: HTTPURL.HostKind) -> Bool {
    switch kind {
    case .name: host == "localhost"
    case .ipv4: host.hasPrefix("127.")
    case .ipv6: host == "::1"
    }
  }

  /// Whether the host is this domain or, when it is a name, in it.
  package func isIn(_ domain: String) -> Bool {
    isAddress ? host == domain : CookieScope.isName(host, in: domain)
  }

  /// Whether `name` is `domain`, or a subdomain of it: what precedes it ends with a dot.
  package static func isName(_ name: String, in domain: String) -> Bool {
    let (name, domain) = (Substring(name).utf8, Substring(domain).utf8)
    guard name.count > domain.count else { return name.elementsEqual(domain) }
    let rest = name.dropLast(domain.count)
    return !domain.isEmpty && rest.last == UInt8(ascii: ".")
      && name.suffix(domain.count).elementsEqual(domain)
  }

  /// Whether this path is `cookiePath`, or below it.
  package static func isPath(_ path: String, in cookiePath: String) -> Bool {
    let (path, cookiePath) = (path.utf8, cookiePath.utf8)
    guard path.starts(with: cookiePath), let last = cookiePath.last else { return false }
    return last == UInt8(ascii: "/") || path.count == cookiePath.count
      || path.dropFirst(cookiePath.count).first == UInt8(ascii: "/")
  }

  /// The path of a cookie that names none: up to the last slash of the request's, which is left out.
  package var defaultPath: String { CookieScope.defaultPath(of: path) }

  /// The default path for a request's path.
  package static func defaultPath(of path: String) -> String {
    guard path.utf8.first == UInt8(ascii: "/"), let last = path.utf8.lastIndex(of: UInt8(ascii: "/")),
      last > path.utf8.startIndex
    else { return "/" }
    return String(path[..<last])
  }

  /// Whether a cookie is sent with a request here.
  package func takes(_ cookie: Cookie) -> Bool {
    (cookie.isHostOnly ? host == cookie.domain : isIn(cookie.domain))
      && CookieScope.isPath(path, in: cookie.path) && (isSecure || !cookie.isSecure)
      && (cookie.ports.isEmpty || cookie.ports.contains(port))
  }
}
