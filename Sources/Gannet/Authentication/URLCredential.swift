/// A user name and password for a challenge.
public struct URLCredential: Hashable, Sendable {
  /// How long a credential is kept once it has been used.
  public enum Persistence: Hashable, Sendable {
    /// For the one load only.
    case none
    /// In `URLCredentialStorage`, until the process ends.
    case forSession
  }

  /// The user name; Basic cannot send one with a colon (RFC 7617 section 2).
  public let user: String?
  /// The password.
  public let password: String?
  /// How long it is kept.
  public let persistence: Persistence
  /// Whether there is a password.
  public var hasPassword: Bool { password != nil }

  /// Makes a credential.
  public init(user: String, password: String, persistence: Persistence) {
    self.user = user
    self.password = password
    self.persistence = persistence
  }
}

extension URLCredential: CustomStringConvertible {
  /// The user name; never the password.
  public var description: String { "URLCredential(user: \(user ?? "none"))" }
}
