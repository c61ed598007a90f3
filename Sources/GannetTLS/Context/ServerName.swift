internal import COpenSSL

#if canImport(Glibc)
  internal import Glibc
#else
  internal import Musl
#endif

/// The name that a server's certificate must hold: a DNS name or an IP address, as a URL's host spells it.
package struct ServerName: Hashable, Sendable {
  /// What the name is.
  package enum Kind: Hashable, Sendable {
    /// A DNS name: sent as SNI and looked for among the certificate's DNS names.
    case dns
    /// An address: never sent as SNI (RFC 6066 section 3), looked for among the certificate's addresses.
    case address
  }

  /// The kind.
  package let kind: Kind
  /// The name without brackets, trailing dot and zone; letters as given (names compare without case).
  package let text: String

  /// Reads a host: `a.test`, `a.test.`, `192.0.2.1`, `[::1]`, `fe80::1%eth0`. Throws for what no certificate can
  /// name: empty labels, a leading dot (which OpenSSL would take for "any subdomain"), NUL, text that is not ASCII.
  package init(_ host: String) throws(TLSError) {
    var text = host[...]
    if text.hasPrefix("["), text.hasSuffix("]") { text = text.dropFirst().dropLast() }
    if text.contains(":") {
      if let zone = text.firstIndex(of: "%") { text = text[..<zone] }
      guard ServerName.isAddress(String(text), AF_INET6) else { throw ServerName.refused(host) }
      self.kind = .address
    } else if ServerName.isAddress(String(text), AF_INET) {
      self.kind = .address
    } else {
      if text.hasSuffix(".") { text = text.dropLast() }
      guard ServerName.isName(text) else { throw ServerName.refused(host) }
      self.kind = .dns
    }
    self.text = String(text)
  }

  private static func refused(_ host: String) -> TLSError {
    TLSError(.configuration, "“\(host)” is not a host name that a certificate can hold")
  }

  private static func isAddress(_ text: String, _ family: Int32) -> Bool {
    guard !text.utf8.contains(0) else { return false }
    var address = in6_addr()
    // SAFETY: an in6_addr is large enough for either family.
    return unsafe inet_pton(family, text, &address) == 1
  }

  /// Letters, digits, hyphens and underscores (which host names in use do have), in labels of 1 to 63 bytes.
  private static func isName(_ text: Substring) -> Bool {
    guard 1...253 ~= text.utf8.count else { return false }
    var labelBytes = 0
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "."):
        guard labelBytes > 0 else { return false }
        labelBytes = 0
      case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
        UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "-"), UInt8(ascii: "_"):
        labelBytes += 1
        guard labelBytes <= 63 else { return false }
      default: return false
      }
    }
    return labelBytes > 0
  }
}
