/// A user name and a password for the Basic scheme (RFC 7617).
package struct BasicCredential: Hashable, Sendable {
  package var user: String
  package var password: String

  package init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// Why a credential cannot be sent by the Basic scheme.
  package enum Refusal: Error, Hashable, Sendable {
    /// The user name has a colon: the server would take the rest for the password.
    case colonInUser
    /// The user name or the password has a control character.
    case controlCharacter
  }

  /// The value of the `Authorization` field: user and password as UTF-8, in base 64 (RFC 7617 section 2).
  package func authorization() throws(Refusal) -> String {
    var bytes: [UInt8] = []
    bytes.append(contentsOf: user.utf8)
    guard !bytes.contains(UInt8(ascii: ":")) else { throw .colonInUser }
    bytes.append(UInt8(ascii: ":"))
    bytes.append(contentsOf: password.utf8)
    guard !bytes.contains(where: { $0 < 0x20 || $0 == 0x7F }) else { throw .controlCharacter }
    return "Basic " + Base64.encode(bytes.span)
  }
}
