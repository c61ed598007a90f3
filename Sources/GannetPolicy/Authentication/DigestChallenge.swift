import GannetHTTP

/// A challenge of the Digest scheme (RFC 7616 section 3.3), or of the first one, whose servers name no `qop` (RFC 2069).
///
/// Taken as servers write it: parameters quoted or not, tokens in any case, an empty `qop` or `algorithm` as none, a
/// missing realm as an empty one. Text is kept as the bytes that came: those are hashed and sent back.
package struct DigestChallenge: Hashable, Sendable {
  /// What the answer protects: the quality of protection, `qop`.
  package enum Protection: Hashable, Sendable {
    /// Method and target, without a count: the server named no `qop`.
    case unnamed
    /// Method and target.
    case auth
    /// Method, target and body.
    case authWithBody
  }

  /// Nil when there is none.
  package var realm: [UInt8]?
  package var nonce: [UInt8]
  /// What is sent back as it is; nil when there is none.
  package var opaque: [UInt8]?
  package var function: HashFunction
  /// Whether the credential is hashed with the first nonces of the session (`-sess`).
  package var isSession: Bool
  /// `algorithm` as the server spelled it; nil when it named none.
  package var spelledAlgorithm: [UInt8]?
  package var protection: Protection
  /// Whether the server says that only the nonce of the answer was too old, and the credential may be right.
  package var isStale: Bool
  /// Whether the user name is to be sent as a hash.
  package var hashesUser: Bool
  /// Whether the server says that it reads UTF-8; it then also knows `username*`.
  package var takesUTF8: Bool

  /// Reads a challenge; nil when it is none of the Digest scheme's, or names nothing that is known: no nonce, an
  /// algorithm or only qualities of protection that do not exist, a control character where none can be sent back.
  package init?(_ challenge: AuthenticationChallenge) {
    guard challenge.scheme == "digest", let nonce = challenge.bytes(of: "nonce") else { return nil }
    self.nonce = nonce
    realm = challenge.bytes(of: "realm")
    opaque = challenge.bytes(of: "opaque")
    for text in [nonce, realm ?? [], opaque ?? []] where text.contains(where: { $0.isControl && $0 != 0x09 })
    {
      return nil
    }
    let spelled = challenge.bytes(of: "algorithm") ?? []
    guard let (function, isSession) = Self.algorithm(spelled) else { return nil }
    (self.function, self.isSession) = (function, isSession)
    spelledAlgorithm = spelled.isEmpty ? nil : spelled
    guard let protection = Self.protection(challenge.bytes(of: "qop") ?? []) else { return nil }
    self.protection = protection
    isStale = challenge.bytes(of: "stale")?.isToken("true") ?? false
    hashesUser = challenge.bytes(of: "userhash")?.isToken("true") ?? false
    takesUTF8 = challenge.bytes(of: "charset")?.isToken("utf-8") ?? false
  }

  /// How much the challenge is preferred: less is better. SHA-256 goes first, since servers disagree on what the other
  /// one is, and both before MD5.
  package var rank: Int {
    switch function {
    case .sha256: 0
    case .sha512To256: 1
    case .md5: 2
    }
  }

  /// Whether a request can be answered for: its body has to be hashed where the server wants nothing else.
  package func canAnswer(bodyIsAtHand: Bool) -> Bool { protection != .authWithBody || bodyIsAtHand }

  /// What its text takes.
  var byteCount: Int { nonce.count + (realm?.count ?? 0) + (opaque?.count ?? 0) }

  private static func algorithm(_ spelled: [UInt8]) -> (HashFunction, isSession: Bool)? {
    let names: [(String, HashFunction, Bool)] = [
      ("", .md5, false), ("md5", .md5, false), ("md5-sess", .md5, true), ("sha-256", .sha256, false),
      ("sha-256-sess", .sha256, true), ("sha-512-256", .sha512To256, false),
      ("sha-512-256-sess", .sha512To256, true),
    ]
    return names.first { spelled.isToken($0.0) }.map { ($0.1, $0.2) }
  }

  /// The protection to use of those in a list; nil when all are unknown.
  private static func protection(_ list: [UInt8]) -> Protection? {
    let separators: [UInt8] = [UInt8(ascii: ","), 0x20, 0x09]
    let names = list.split { separators.contains($0) }.map { Array($0) }
    if names.isEmpty { return .unnamed }
    if names.contains(where: { $0.isToken("auth") }) { return .auth }
    return names.contains { $0.isToken("auth-int") } ? .authWithBody : nil
  }
}

extension [UInt8] {
  /// Whether these bytes are `token` (in lower case), in any case.
  fileprivate func isToken(_ token: String) -> Bool {
    count == token.utf8.count && zip(self, token.utf8).allSatisfy { $0.0.asciiLowercased == $0.1 }
  }
}
