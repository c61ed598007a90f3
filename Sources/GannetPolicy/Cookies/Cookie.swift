/// A cookie as it is kept: what a server set or a program made (RFC 6265bis section 5.7).
package struct Cookie: Hashable, Sendable {
  /// What a server says of requests that other sites cause. It is kept and changes nothing: a client without documents
  /// has no sites, so every load counts as caused by the site itself.
  package enum SameSite: Hashable, Sendable { case unsaid, none, lax, strict }

  /// Bytes of name and value together that a cookie may have.
  package static let maximumBytes = 4096
  /// Bytes of a path; one of an attribute that is longer is passed over as every such attribute is.
  package static let maximumPathBytes = 1024
  /// Seconds that a server can have a cookie kept: 400 days (RFC 6265bis section 5.5).
  package static let maximumLifetime = 400.0 * 86_400

  /// The name as it came, without control bytes, `;` and `=`; empty for a value alone.
  package var name: [UInt8]
  /// The value as it came, without control bytes and `;`.
  package var value: [UInt8]
  /// The host it is for, in lower case and without a dot before it.
  package var domain: String
  /// Whether it is for that host alone, and not for its subdomains too.
  package var isHostOnly: Bool
  /// The path that it is for, with everything below.
  package var path: String
  /// When it ends, in seconds since 1970; nil: with the session.
  package var expires: Double?
  /// Whether it is sent on secure connections only.
  package var isSecure = false
  /// Whether documents' scripts may not see it; there are none here.
  package var isHTTPOnly = false
  package var sameSite = SameSite.unsaid
  /// The ports it is sent to; empty for any.
  package var ports: [UInt16] = []
  /// What a program noted on it (RFC 2965); never sent.
  package var comment: String?
  package var commentURL: String?
  /// 0, or 1 where a program says so.
  package var version = 0

  /// Makes a cookie for a host, a path and the session.
  package init(name: [UInt8], value: [UInt8], domain: String, isHostOnly: Bool, path: String) {
    self.name = name
    self.value = value
    self.domain = domain
    self.isHostOnly = isHostOnly
    self.path = path
  }

  /// Whether it is over.
  package func hasExpired(at now: Double) -> Bool { expires.map { $0 <= now } ?? false }

  /// Whether the other takes its place: same name, host and path.
  package func isReplaced(by other: Cookie) -> Bool {
    isHostOnly == other.isHostOnly && name == other.name && domain == other.domain && path == other.path
  }

  /// Whether name and value can be sent as they are: no control byte but the tab, nothing that would end them, and not
  /// too long.
  package static func canHold(name: [UInt8], value: [UInt8]) -> Bool {
    name.count + value.count <= maximumBytes && !(name.isEmpty && value.isEmpty)
      && !name.contains(UInt8(ascii: "="))
      && (name + value).allSatisfy { ($0 >= 0x20 && $0 != 0x7F || $0 == 0x09) && $0 != UInt8(ascii: ";") }
  }

  /// What is sent for it: `name=value`, or the value alone when it has no name.
  package func append(to field: inout [UInt8]) {
    if !name.isEmpty {
      field += name
      field.append(UInt8(ascii: "="))
    }
    field += value
  }

  /// The value of the `Cookie` field that holds these, in order; nil for none (RFC 6265bis section 5.8.3).
  package static func field(of cookies: [Cookie]) -> [UInt8]? {
    guard !cookies.isEmpty else { return nil }
    var field: [UInt8] = []
    for cookie in cookies {
      if !field.isEmpty { field += [UInt8(ascii: ";"), UInt8(ascii: " ")] }
      cookie.append(to: &field)
    }
    return field
  }
}

/// Why a cookie that a response sets is not kept.
package enum CookieRefusal: Error, Hashable, Sendable {
  /// A control byte other than the tab.
  case controlByte
  /// Neither name nor value.
  case empty
  /// Name and value are longer than 4096 bytes, or the path is longer than 1024.
  case tooLong
  /// A domain that the host is not in, one that is not ASCII, or a top-level one.
  case foreignDomain
  /// `Secure`, from a response that came without TLS; or in the place of a secure cookie.
  case insecure
  /// A name with a prefix (`__Secure-`, `__Host-`) whose promise it does not keep.
  case brokenPrefix
  /// `SameSite=None` without `Secure`.
  case sameSiteNone
}
