#if canImport(Musl)
  import Musl
#else
  import Glibc
#endif

/// Where a connection is to go.
package enum Endpoint: Hashable, Sendable, CustomStringConvertible {
  /// A name or a numeric address (IPv6 without brackets).
  case host(String, port: UInt16)
  /// A Unix socket's path.
  case unix(path: String)

  /// As it stands in an authority, or the path.
  package var description: String {
    switch self {
    case .host(let host, let port):
      host.utf8.contains(UInt8(ascii: ":")) ? "[\(host)]:\(port)" : "\(host):\(port)"
    case .unix(let path): path
    }
  }
}

/// Why there is no connection.
package struct ConnectFailure: Error, Hashable, Sendable {
  package enum Phase: Hashable, Sendable { case resolving, connecting }

  /// How far it got.
  package let phase: Phase
  /// Whether it was the time limit that ended it.
  package let isTimeout: Bool
  /// The errno: of the address whose failure says most, or beneath the resolver's code.
  package let errno: CInt?
  /// What `getaddrinfo` returned.
  package let resolverCode: CInt?
  /// Whether the resolver could not ask, so that asking later may help.
  package var isTemporary: Bool { resolverCode == EAI_AGAIN }
  /// One sentence for a person, with each address that was tried and what it answered.
  package let words: String

  static func unresolved(_ endpoint: Endpoint, _ failure: ResolveFailure) -> ConnectFailure {
    let name = if case .host(let host, _) = endpoint { host } else { "\(endpoint)" }
    return ConnectFailure(
      phase: .resolving, isTimeout: false, errno: failure.errno, resolverCode: failure.code,
      words: "cannot find host \(name): \(failure.words)")
  }

  static func tooSlow(_ endpoint: Endpoint, race: ConnectionRace?, limit: Duration) -> ConnectFailure {
    guard let race else {
      return ConnectFailure(
        phase: .resolving, isTimeout: true, errno: nil, resolverCode: nil,
        words: "no address for \(endpoint) within \(limit)")
    }
    return ConnectFailure(
      phase: .connecting, isTimeout: true, errno: telling(race.failures.map(\.errno)), resolverCode: nil,
      words: "no connection to \(endpoint) within \(limit)\(details(of: race, endpoint))")
  }

  static func refused(_ endpoint: Endpoint, race: ConnectionRace) -> ConnectFailure {
    ConnectFailure(
      phase: .connecting, isTimeout: false, errno: telling(race.failures.map(\.errno)), resolverCode: nil,
      words: "cannot connect to \(endpoint)\(details(of: race, endpoint))")
  }

  /// The errno that says most: that a network is missing (no IPv6 here, say) explains less than any other.
  private static func telling(_ errnos: [CInt]) -> CInt? {
    let missing = SystemError.missingNetwork
    return errnos.first { !missing.contains($0) } ?? errnos.first
  }

  /// What each address answered, beginning with a colon. The address itself is left out when it is what was asked for.
  private static func details(of race: ConnectionRace, _ endpoint: Endpoint) -> String {
    let failed = race.failures.map { ("\($0.address)", SystemError.words(for: $0.errno)) }
    let silent = race.unanswered.map { ("\($0)", "no answer") }
    let all = failed + silent
    if all.isEmpty { return "" }
    let texts = all.map { address, words in address == "\(endpoint)" ? words : "\(address): \(words)" }
    return ": " + texts.joined(separator: "; ")
  }
}
