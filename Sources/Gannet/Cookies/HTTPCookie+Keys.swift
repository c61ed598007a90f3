/// What `HTTPCookie(properties:)` takes. Keys compare without case, as the names of attributes do.
public struct HTTPCookiePropertyKey: RawRepresentable, Hashable, Sendable {
  /// Cocoa's name.
  public let rawValue: String
  /// Makes a key from its name.
  public init(rawValue: String) { self.rawValue = rawValue }
  /// Makes a key from its name.
  public init(_ rawValue: String) { self.rawValue = rawValue }

  /// A `String`: the name. Needed.
  public static let name = HTTPCookiePropertyKey("Name")
  /// A `String`: the value. Needed.
  public static let value = HTTPCookiePropertyKey("Value")
  /// A `String`: the host, with a dot before it when subdomains get the cookie too. Needed without `originURL`.
  public static let domain = HTTPCookiePropertyKey("Domain")
  /// A `URL`, or one as a `String`: what set the cookie. It stands for `domain` (of that host alone) and `path` where those
  /// are missing.
  public static let originURL = HTTPCookiePropertyKey("OriginURL")
  /// A `String`: the path. Without it that of `originURL`, or `/`.
  public static let path = HTTPCookiePropertyKey("Path")
  /// A `Date`, or one as a `String`: when it ends. Without it, it ends with the session.
  public static let expires = HTTPCookiePropertyKey("Expires")
  /// A number, or one as a `String`: in how many seconds it ends; goes before `expires`.
  public static let maximumAge = HTTPCookiePropertyKey("Max-Age")
  /// A `Bool`, or a `String` that is not `FALSE`: it ends with the session, whatever else is said.
  public static let discard = HTTPCookiePropertyKey("Discard")
  /// A `Bool`, or a `String` that is not `FALSE`: it is sent on secure connections only.
  public static let secure = HTTPCookiePropertyKey("Secure")
  /// A `Bool`, or a `String` that is not `FALSE`: documents' scripts may not see it. (Cocoa knows the key by its text
  /// alone.)
  public static let httpOnly = HTTPCookiePropertyKey("HttpOnly")
  /// An `HTTPCookieStringPolicy`, or its text.
  public static let sameSitePolicy = HTTPCookiePropertyKey("SameSite")
  /// A `String` such as `80,8080`: the ports that it is sent to; without it any.
  public static let port = HTTPCookiePropertyKey("Port")
  /// A number, or one as a `String`: 0 (Netscape's, and what it is without the key) or 1 (RFC 2965). Both are sent alike.
  public static let version = HTTPCookiePropertyKey("Version")
  /// A `String`: what it is for.
  public static let comment = HTTPCookiePropertyKey("Comment")
  /// A `URL`, or one as a `String`: where it is said what it is for.
  public static let commentURL = HTTPCookiePropertyKey("CommentURL")

  /// Whether both are the same text, without case.
  public static func == (left: HTTPCookiePropertyKey, right: HTTPCookiePropertyKey) -> Bool {
    left.rawValue.lowercased() == right.rawValue.lowercased()
  }

  /// Feeds the text in lower case.
  public func hash(into hasher: inout Hasher) { hasher.combine(rawValue.lowercased()) }
}

extension HTTPCookie {
  /// Which cookies of responses a storage takes. The numbers are those of Cocoa.
  public enum AcceptPolicy: UInt, Hashable, Sendable {
    /// All.
    case always = 0
    /// None. What is kept is still sent.
    case never = 1
    /// Those that the request's `mainDocumentURL` would get too, as far as the domain decides; all of a request without
    /// one, which is its own main document.
    case onlyFromMainDocumentDomain = 2
  }
}

/// What a cookie says of requests that other sites cause (`SameSite`).
public struct HTTPCookieStringPolicy: RawRepresentable, Hashable, Sendable {
  /// Cocoa's text.
  public let rawValue: String
  /// Makes a policy from its text, which is taken in lower case.
  public init(rawValue: String) { self.rawValue = rawValue.lowercased() }

  /// Sent when a user follows a link from another site.
  public static let sameSiteLax = HTTPCookieStringPolicy(rawValue: "lax")
  /// Never sent for another site.
  public static let sameSiteStrict = HTTPCookieStringPolicy(rawValue: "strict")
}
