/// What a credential is for: a server, a realm, and the way of authentication (RFC 9110 section 11.5).
public struct URLProtectionSpace: Hashable, Sendable {
  /// The ways of authentication, by Cocoa's names.
  public struct AuthenticationMethod: RawRepresentable, Hashable, Sendable {
    /// Cocoa's name.
    public let rawValue: String
    /// Makes a method from its name.
    public init(rawValue: String) { self.rawValue = rawValue }
    /// HTTP Basic (RFC 7617).
    public static let httpBasic = AuthenticationMethod(rawValue: "NSURLAuthenticationMethodHTTPBasic")
    /// HTTP Digest (RFC 7616).
    public static let httpDigest = AuthenticationMethod(rawValue: "NSURLAuthenticationMethodHTTPDigest")
  }

  /// The server's host, in lower case.
  public let host: String
  /// The server's port.
  public let port: Int
  /// The scheme: `http` or `https`.
  public let `protocol`: String?
  /// The realm the server named, or nil.
  public let realm: String?
  /// The way of authentication.
  public let authenticationMethod: AuthenticationMethod
  /// Whether nobody on the way can read the credential: it goes over TLS, or as a hash.
  public var receivesCredentialSecurely: Bool {
    `protocol` == "https" || authenticationMethod == .httpDigest
  }
  /// Whether it is a proxy that asks.
  public var isProxy: Bool { false }

  /// Makes a protection space.
  public init(
    host: String, port: Int, protocol: String?, realm: String?,
    authenticationMethod: AuthenticationMethod = .httpBasic
  ) {
    self.host = host
    self.port = port
    self.protocol = `protocol`
    self.realm = realm
    self.authenticationMethod = authenticationMethod
  }
}
