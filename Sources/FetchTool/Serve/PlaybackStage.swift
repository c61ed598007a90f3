package import GannetSockets

/// Decides which recorded connection a client's connection plays, and counts the loads that were played.
///
/// A load is played once each of its connections has been taken and has ended. A client that comes again, or goes
/// another way than the recorded one, begins the next round.
package struct PlaybackStage: Sendable {
  /// A scheme, host and port that connections were made to: one listener plays it.
  package struct Origin: Hashable, Sendable {
    package let scheme: String
    package let host: String
    package let port: UInt16
  }

  /// A recorded connection that is being played, in its round.
  package struct Role: Hashable, Sendable {
    package let connection: Int
    fileprivate let round: Int
  }

  /// What the first request of a recorded connection was.
  private struct Cue {
    let connection: Int
    let origin: Int
    let target: String?
    let hasAuthorization: Bool
    let beginsByItself: Bool
  }

  /// In the order of their first connections; those without a record are left out.
  package let origins: [Origin]
  /// Loads that were played to their end, or given up for the next.
  package private(set) var loadsPlayed = 0

  private let cues: [Cue]
  private var round = 0
  private var untaken: Set<Int> = []
  private var playing: Set<Int> = []

  package init(_ recording: Recording) {
    var origins: [Origin] = []
    var cues: [Cue] = []
    for connection in recording.connections {
      let events = recording.records.filter { $0.connection == connection.number }.map(\.event)
      guard let first = events.first else { continue }
      let origin = Origin(
        scheme: connection.scheme, host: connection.host.lowercased(), port: UInt16(clamping: connection.port)
      )
      let index = origins.firstIndex(of: origin) ?? origins.count
      if index == origins.count { origins.append(origin) }
      var scanner = RequestScanner()
      var beginsByItself = true
      if case .sent(let bytes) = first {
        _ = scanner.step(bytes.span)
        beginsByItself = false
      }
      cues.append(
        Cue(
          connection: connection.number, origin: index, target: scanner.target,
          hasAuthorization: scanner.hasAuthorization, beginsByItself: beginsByItself))
    }
    self.origins = origins
    self.cues = cues
    untaken = Set(cues.map(\.connection))
  }

  /// The role of a client that has just connected, when the server spoke first there.
  package mutating func takeSilently(origin: Int) -> Role? {
    let next = cues.first { $0.origin == origin && untaken.contains($0.connection) }
    guard let cue = next ?? cues.first(where: { $0.origin == origin }), cue.beginsByItself else { return nil }
    return take(cue)
  }

  /// The role of a client whose first request has this target: the first that fits best of those nobody has taken in
  /// this round, else the first that fits in the next.
  package mutating func take(origin: Int, target: String?, hasAuthorization: Bool) -> Role? {
    let here = cues.filter { $0.origin == origin }
    func fit(_ cue: Cue) -> Int {
      target == nil || cue.target != target ? 0 : cue.hasAuthorization == hasAuthorization ? 2 : 1
    }
    func best(of cues: [Cue]) -> Cue? {
      cues.reduce(nil) { best, cue in best.map { fit($0) >= fit(cue) } ?? false ? best : cue }
    }
    let current = best(of: here.filter { untaken.contains($0.connection) })
    guard let next = best(of: here) else { return nil }
    guard let current, fit(current) >= fit(next) else { return take(next) }
    return take(current)
  }

  /// The connection that played this role has ended, or its recording has.
  package mutating func ended(_ role: Role) {
    guard role.round == round else { return }
    playing.remove(role.connection)
    if untaken.isEmpty, playing.isEmpty { beginRound() }
  }

  private mutating func take(_ cue: Cue) -> Role {
    if !untaken.contains(cue.connection) { beginRound() }
    untaken.remove(cue.connection)
    playing.insert(cue.connection)
    return Role(connection: cue.connection, round: round)
  }

  private mutating func beginRound() {
    loadsPlayed += 1
    round += 1
    untaken = Set(cues.map(\.connection))
    playing = []
  }
}
