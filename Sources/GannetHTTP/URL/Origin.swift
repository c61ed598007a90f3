/// Who answers for a URL: scheme, host and effective port (RFC 6454 section 4, RFC 9110 section 4.3.1).
///
/// Two origins are equal only when all three are. `example.com.` is another host than `example.com`: name
/// servers and certificates may tell them apart, so credentials do not pass from one to the other.
public struct Origin: Hashable, Sendable {
  /// The scheme, in lower case.
  public let scheme: String
  /// The host in lower case and without brackets; an IPv6 zone follows it after `%` (`fe80::1%eth0`).
  public let host: String
  /// The effective port: the one named, else the scheme's default.
  public let port: UInt16

  /// Makes an origin of parts that are already canonical.
  public init(scheme: String, host: String, port: UInt16) {
    self.scheme = scheme
    self.host = host
    self.port = port
  }
}

extension Origin: CustomStringConvertible {
  /// `scheme://host:port`, with brackets around an IPv6 address.
  public var description: String {
    host.utf8.contains(UInt8(ascii: ":"))
      ? "\(scheme)://[\(host)]:\(port)" : "\(scheme)://\(host):\(port)"
  }
}
