import GannetHTTP
import GannetPolicy
import GannetTLS
import Synchronization
import Testing

/// OpenSSL's hash functions.
func digest(_ function: HashFunction, _ bytes: Span<UInt8>) -> [UInt8]? {
  switch function {
  case .md5: try? MessageDigest.digest(of: bytes, .md5)
  case .sha256: try? MessageDigest.digest(of: bytes, .sha256)
  case .sha512To256: try? MessageDigest.digest(of: bytes, .sha512To256)
  }
}

/// The first challenge of a field's value, if it is a Digest one that is known.
func digestChallenge(_ value: String) -> DigestChallenge? {
  AuthenticationChallengeParser.parse(Array(value.utf8).span).first.flatMap { DigestChallenge($0) }
}

/// A login at `http://h/` in the realm `r`.
func digestLogin(
  nonce: String, user: String = "u", password: String = "right", more: String = ", qop=auth"
) throws -> DigestLogin {
  DigestLogin(
    origin: Origin(scheme: "http", host: "h", port: 80),
    credential: PasswordCredential(user: user, password: password),
    challenge: try #require(digestChallenge("Digest realm=r, nonce=\"\(nonce)\"\(more)")))
}

extension [UInt8] {
  var text: String { String(decoding: self, as: UTF8.self) }
}

/// Counts from 1.
final class Counter: Sendable {
  private let count = Atomic<Int>(0)
  func next() -> Int { count.add(1, ordering: .relaxed).newValue }
}
