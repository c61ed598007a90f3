/// The hash functions of the Digest scheme (RFC 7616 section 3.3). What computes them is handed in: no layer here has
/// them.
package enum HashFunction: Hashable, Sendable, CaseIterable {
  case md5
  case sha256
  /// SHA-512/256 of FIPS 180-4, which begins otherwise than SHA-512 does: not that one cut short, which some servers use
  /// by mistake, and RFC 7616 did in its example (erratum 4897).
  case sha512To256

  /// Makes the digest of bytes; nil when it cannot, such as MD5 where OpenSSL follows FIPS.
  package typealias Digester = @Sendable (HashFunction, Span<UInt8>) -> [UInt8]?
}

extension [UInt8] {
  /// The bytes in hexadecimal, in lower case, as Digest writes its hashes.
  var inHexadecimal: [UInt8] {
    let digits = Array("0123456789abcdef".utf8)
    return flatMap { [digits[Int($0 >> 4)], digits[Int($0 & 15)]] }
  }
}
