package import GannetHTTP

/// A credential for a server's Digest challenge: what the answer of each request is made from.
package struct DigestLogin: Hashable, Sendable {
  package var origin: Origin
  package var credential: PasswordCredential
  package var challenge: DigestChallenge

  package init(origin: Origin, credential: PasswordCredential, challenge: DigestChallenge) {
    self.origin = origin
    self.credential = credential
    self.challenge = challenge
  }
}

/// The answer of one request to a Digest challenge (RFC 7616 section 3.4).
package struct DigestAnswer: Sendable {
  /// The challenge and the credential.
  package var login: DigestLogin
  /// How many requests have been sent with the nonce, this one included.
  package var count: UInt32
  /// The client's nonce.
  package var clientNonce: String
  /// The server's nonce that the session began with; another one than the challenge's after `nextnonce`.
  package var firstNonce: [UInt8]

  private var challenge: DigestChallenge { login.challenge }

  package init(_ login: DigestLogin, count: UInt32, clientNonce: String, firstNonce: [UInt8]? = nil) {
    self.login = login
    self.count = count
    self.clientNonce = clientNonce
    self.firstNonce = firstNonce ?? login.challenge.nonce
  }

  /// The value of `Authorization`; nil when the hash function fails.
  ///
  /// - Parameters:
  ///   - target: the request's target, as it stands in the request line.
  ///   - body: the body, which counts only where the server wants it protected.
  package func authorization(
    method: String, target: String, body: Span<UInt8>, _ digest: HashFunction.Digester
  ) -> [UInt8]? {
    guard let response = response(method: method, target: target, body: body, digest) else { return nil }
    var field = Array("Digest ".utf8)
    guard append(userWith: digest, to: &field) else { return nil }
    field.append(name: ", realm", quoted: challenge.realm ?? [])
    field.append(name: ", nonce", quoted: challenge.nonce)
    field.append(name: ", uri", quoted: Array(target.utf8))
    if challenge.protection != .unnamed || challenge.isSession {
      field.append(name: ", cnonce", quoted: Array(clientNonce.utf8))
    }
    if let protection = protectionName {
      field += ", nc=".utf8
      field += countText
      field += ", qop=".utf8
      field += protection.utf8
    }
    field.append(name: ", response", quoted: response)
    if let opaque = challenge.opaque { field.append(name: ", opaque", quoted: opaque) }
    if let algorithm = challenge.spelledAlgorithm {
      field += ", algorithm=".utf8
      field += algorithm
    }
    if challenge.hashesUser { field += ", userhash=true".utf8 }
    return field
  }

  /// The `response` parameter, in hexadecimal (RFC 7616 section 3.4.1); nil when the hash function fails.
  package func response(
    method: String, target: String, body: Span<UInt8>, _ digest: HashFunction.Digester
  ) -> [UInt8]? {
    func hash(_ parts: [[UInt8]]) -> [UInt8]? {
      let text = Array(parts.joined(separator: CollectionOfOne(UInt8(ascii: ":"))))
      return digest(challenge.function, text.span)?.inHexadecimal
    }
    let user = Array(login.credential.user.utf8)
    guard var secret = hash([user, challenge.realm ?? [], Array(login.credential.password.utf8)]) else {
      return nil
    }
    if challenge.isSession {
      guard let ofSession = hash([secret, firstNonce, Array(clientNonce.utf8)]) else { return nil }
      secret = ofSession
    }
    var request = [Array(method.utf8), Array(target.utf8)]
    if challenge.protection == .authWithBody {
      guard let ofBody = digest(challenge.function, body) else { return nil }
      request.append(ofBody.inHexadecimal)
    }
    guard let ofRequest = hash(request) else { return nil }
    guard let protection = protectionName else { return hash([secret, challenge.nonce, ofRequest]) }
    return hash([
      secret, challenge.nonce, countText, Array(clientNonce.utf8), Array(protection.utf8), ofRequest,
    ])
  }

  /// Adds the user name: hashed where the server wants that; beyond ASCII in the extended notation where the server says
  /// that it reads UTF-8 (RFC 7616 section 3.4), else in UTF-8 as it is, as curl sends it to servers that know no other.
  private func append(userWith digest: HashFunction.Digester, to field: inout [UInt8]) -> Bool {
    let user = Array(login.credential.user.utf8)
    if challenge.hashesUser {
      let text = user + [UInt8(ascii: ":")] + (challenge.realm ?? [])
      guard let hashed = digest(challenge.function, text.span) else { return false }
      field.append(name: "username", quoted: hashed.inHexadecimal)
    } else if challenge.takesUTF8, user.contains(where: { $0 >= 0x80 }) {
      field += "username*=UTF-8''".utf8
      for byte in user {
        if byte.isOfExtendedValue {
          field.append(byte)
        } else {
          field.append(UInt8(ascii: "%"))
          field += [byte].inHexadecimal.map { $0 >= UInt8(ascii: "a") ? $0 - 0x20 : $0 }
        }
      }
    } else {
      field.append(name: "username", quoted: user)
    }
    return true
  }

  private var protectionName: String? {
    switch challenge.protection {
    case .unnamed: nil
    case .auth: "auth"
    case .authWithBody: "auth-int"
    }
  }

  /// Eight digits.
  private var countText: [UInt8] {
    (0..<4).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * UInt32($0))) }.inHexadecimal
  }
}

extension [UInt8] {
  /// Adds a parameter with a quoted value.
  fileprivate mutating func append(name: String, quoted value: [UInt8]) {
    self += name.utf8
    self += "=\"".utf8
    for byte in value {
      if byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") { append(UInt8(ascii: "\\")) }
      append(byte)
    }
    append(UInt8(ascii: "\""))
  }
}

extension UInt8 {
  /// RFC 8187 section 3.2.1: attr-char.
  fileprivate var isOfExtendedValue: Bool {
    switch self {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"),
      UInt8(ascii: "&"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "^"),
      UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
      true
    default: false
    }
  }
}
