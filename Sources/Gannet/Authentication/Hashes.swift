import GannetPolicy
import GannetTLS

/// What the Digest scheme needs and no pure layer has: hash functions, and bytes that nobody can guess.
enum Hashes {
  /// Found out once, when the first challenge comes: an OpenSSL that follows FIPS has no MD5.
  private static let supported = Set(HashFunction.allCases.filter { digest($0, [UInt8]().span) != nil })

  /// Whether OpenSSL has this function.
  static func supports(_ function: HashFunction) -> Bool { supported.contains(function) }

  /// The digest of bytes; nil when OpenSSL cannot make it.
  static func digest(_ function: HashFunction, _ bytes: Span<UInt8>) -> [UInt8]? {
    let named: MessageDigest.Function =
      switch function {
      case .md5: .md5
      case .sha256: .sha256
      case .sha512To256: .sha512To256
      }
    return try? MessageDigest.digest(of: bytes, named)
  }

  /// 128 random bits, in hexadecimal.
  static func makeClientNonce() -> String {
    var random = SystemRandomNumberGenerator()
    return (0..<2).map { _ in
      let digits = String(random.next(), radix: 16)
      return String(repeating: "0", count: 16 - digits.utf8.count) + digits
    }.joined()
  }
}
