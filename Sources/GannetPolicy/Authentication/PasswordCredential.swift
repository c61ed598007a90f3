/// A user name and a password, for the Basic and Digest schemes.
package struct PasswordCredential: Hashable, Sendable {
  package var user: String
  package var password: String

  package init(user: String, password: String) {
    self.user = user
    self.password = password
  }

  /// Why a credential cannot be sent.
  package enum Refusal: Error, Hashable, Sendable {
    /// By Basic: the user name has a colon, and the server would take the rest for the password (RFC 7617 section 2).
    case colonInUser
    /// The user name has a control character; by Basic also: the password has one.
    case controlCharacter
    /// No server asks.
    case notAsked
  }

  /// The value of a Basic `Authorization`: user and password as UTF-8, in base 64 (RFC 7617 section 2).
  package func basicAuthorization() throws(Refusal) -> String {
    var bytes = Array(user.utf8)
    guard !bytes.contains(UInt8(ascii: ":")) else { throw .colonInUser }
    bytes.append(UInt8(ascii: ":"))
    bytes.append(contentsOf: password.utf8)
    guard !bytes.contains(where: \.isControl) else { throw .controlCharacter }
    return "Basic " + Base64.encode(bytes.span)
  }

  /// Throws when the user name cannot stand in a Digest `Authorization`. Of the password only a hash is sent, and a
  /// colon in the user name misleads nobody: the server finds the name by itself.
  package func checkForDigest() throws(Refusal) {
    if user.utf8.contains(where: \.isControl) { throw .controlCharacter }
  }
}

extension UInt8 {
  /// Whether this is a control character, the tab among them.
  var isControl: Bool { self < 0x20 || self == 0x7F }
}
