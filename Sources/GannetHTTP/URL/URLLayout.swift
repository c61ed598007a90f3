/// Where each part lies in the canonical text of a URL: UTF-8 offsets. Of
/// `http://user:pw@host:81/path?query#fragment`, each member names the place its comment shows with `^`.
struct URLLayout: Hashable, Sendable {
  /// `http^://`
  var schemeEnd: UInt32 = 0
  /// Whether `//` follows the scheme.
  var hasAuthority = false
  /// `user^:pw@`; the user begins at `authorityStart`.
  var userEnd: UInt32 = 0
  /// `user:pw^@`; equal to `userEnd` when there is no password.
  var passwordEnd: UInt32 = 0
  /// `^host`, or `[^::1]`.
  var hostStart: UInt32 = 0
  /// `host^`, or `[fe80::1^%25eth0]`.
  var hostEnd: UInt32 = 0
  /// `[fe80::1%25eth0^]`; equal to `hostEnd` when there is no zone.
  var zoneEnd: UInt32 = 0
  /// `^/path`
  var pathStart: UInt32 = 0
  /// `/path^?query`
  var pathEnd: UInt32 = 0
  /// `?query^#fragment`
  var queryEnd: UInt32 = 0
  /// The port as written; it may be the scheme's default, which the canonical text leaves out.
  var explicitPort: UInt16?
  /// The port of an explicit or default kind; 0 where neither is known.
  var port: UInt16 = 0
  var hostKind = HTTPURL.HostKind.name

  /// `http://^user`
  var authorityStart: UInt32 { schemeEnd + (hasAuthority ? 3 : 1) }
  /// `^host`, or `^[::1]`.
  var hostFieldStart: UInt32 { hostKind == .ipv6 ? hostStart - 1 : hostStart }
  /// `host:81^/path`
  var authorityEnd: UInt32 { pathStart }

  /// Moves what lies after the user information `distance` bytes back.
  mutating func removeUserInfo() {
    let distance = hostFieldStart - authorityStart
    userEnd = authorityStart
    passwordEnd = authorityStart
    hostStart -= distance
    hostEnd -= distance
    zoneEnd -= distance
    pathStart -= distance
    pathEnd -= distance
    queryEnd -= distance
  }
}
