/// The credentials kept for this process, by protection space. Thread-safe.
public final class URLCredentialStorage: Sendable {
  /// The storage that loads use.
  public static let shared = URLCredentialStorage()

  private struct Entry: Sendable {
    var byUser: [String: URLCredential] = [:]
    var defaultUser: String?
  }
  private let entries = Guarded<[URLProtectionSpace: Entry]>([:])

  /// Makes an empty storage.
  public init() {}

  /// The credentials of a space, by user name; nil when there are none.
  public func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
    entries.withLock { $0[space]?.byUser }
  }

  /// Every credential, by space and user name.
  public var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
    entries.withLock { $0.mapValues(\.byUser) }
  }

  /// Keeps a credential for a space. The first one kept is also the default.
  public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
    guard let user = credential.user, credential.persistence != .none else { return }
    entries.withLock { entries in
      entries[space, default: Entry()].byUser[user] = credential
      if entries[space]?.defaultUser == nil { entries[space]?.defaultUser = user }
    }
  }

  /// Forgets a credential of a space.
  public func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
    guard let user = credential.user else { return }
    entries.withLock { entries in
      entries[space]?.byUser[user] = nil
      if entries[space]?.defaultUser == user { entries[space]?.defaultUser = nil }
      if entries[space]?.byUser.isEmpty == true { entries[space] = nil }
    }
  }

  /// The credential that a load tries first in this space.
  public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
    entries.withLock { entries in
      entries[space].flatMap { entry in entry.defaultUser.flatMap { entry.byUser[$0] } }
    }
  }

  /// Keeps a credential for a space and makes it the one tried first.
  public func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
    guard let user = credential.user, credential.persistence != .none else { return }
    entries.withLock { entries in
      entries[space, default: Entry()].byUser[user] = credential
      entries[space]?.defaultUser = user
    }
  }
}
