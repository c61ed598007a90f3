/// The credentials kept for this process, by protection space. Thread-safe.
public final class URLCredentialStorage: Sendable {
  /// The storage that loads use.
  public static let shared = URLCredentialStorage()

  /// Spaces that loads have kept a credential for; past them the one kept first is let go. A server names its realms as it
  /// likes, and would fill memory with them.
  package static let maximumKeptSpaces = 256
  /// Bytes of a realm whose credential a load keeps.
  package static let maximumKeptRealmBytes = 4096

  private struct Entry: Sendable {
    var byUser: [String: URLCredential] = [:]
    var defaultUser: String?
  }

  private struct State: Sendable {
    var entries: [URLProtectionSpace: Entry] = [:]
    /// The spaces that only loads have kept something for, the last at the end.
    var kept: [URLProtectionSpace] = []
  }

  private let state = Guarded(State())

  /// Makes an empty storage.
  public init() {}

  /// The credentials of a space, by user name; nil when there are none.
  public func credentials(for space: URLProtectionSpace) -> [String: URLCredential]? {
    state.withLock { $0.entries[space]?.byUser }
  }

  /// Every credential, by space and user name.
  public var allCredentials: [URLProtectionSpace: [String: URLCredential]] {
    state.withLock { $0.entries.mapValues(\.byUser) }
  }

  /// Keeps a credential for a space. The first one kept is also the default.
  public func set(_ credential: URLCredential, for space: URLProtectionSpace) {
    store(credential, for: space, asDefault: false) { $0.kept.removeAll { $0 == space } }
  }

  /// Forgets a credential of a space.
  public func remove(_ credential: URLCredential, for space: URLProtectionSpace) {
    guard let user = credential.user else { return }
    state.withLock { state in
      state.entries[space]?.byUser[user] = nil
      if state.entries[space]?.defaultUser == user { state.entries[space]?.defaultUser = nil }
      guard state.entries[space]?.byUser.isEmpty == true else { return }
      state.entries[space] = nil
      state.kept.removeAll { $0 == space }
    }
  }

  /// The credential that a load tries first in this space.
  public func defaultCredential(for space: URLProtectionSpace) -> URLCredential? {
    state.withLock { state in
      state.entries[space].flatMap { entry in entry.defaultUser.flatMap { entry.byUser[$0] } }
    }
  }

  /// Keeps a credential for a space and makes it the one tried first.
  public func setDefaultCredential(_ credential: URLCredential, for space: URLProtectionSpace) {
    store(credential, for: space, asDefault: true) { $0.kept.removeAll { $0 == space } }
  }

  /// Keeps a credential that a server has accepted, as `setDefaultCredential` does, within limits: who named the space is
  /// the server. What the program has kept itself is not let go.
  package func keep(_ credential: URLCredential, for space: URLProtectionSpace) {
    guard space.realm?.utf8.count ?? 0 <= Self.maximumKeptRealmBytes else { return }
    store(credential, for: space, asDefault: true) { state in
      guard state.entries[space] == nil else { return }
      if state.kept.count == Self.maximumKeptSpaces { state.entries[state.kept.removeFirst()] = nil }
      state.kept.append(space)
    }
  }

  private func store(
    _ credential: URLCredential, for space: URLProtectionSpace, asDefault: Bool,
    noting note: (inout State) -> Void
  ) {
    guard let user = credential.user, credential.persistence != .none else { return }
    state.withLock { state in
      note(&state)
      state.entries[space, default: Entry()].byUser[user] = credential
      if asDefault || state.entries[space]?.defaultUser == nil { state.entries[space]?.defaultUser = user }
    }
  }
}
