import Gannet
package import GannetHTTP
package import GannetSockets

/// Gives a load the connections of a recording in place of sockets. For one load.
package final class ReplayProvider: TransportProvider {
  private let recording: Recording
  private let cuts: ReplayCuts
  private let taken = Guarded<Set<Int>>([])

  /// Plays `recording`, cut as asked.
  package init(_ recording: Recording, cuts: ReplayCuts) {
    self.recording = recording
    self.cuts = cuts
  }

  /// The first recorded connection to this origin that was not taken yet, else the first to any; one that is reset
  /// by the first request when there is none.
  package func makeTransport(to origin: Origin, on loop: EventLoop) -> any StreamTransport {
    let number = taken.withLock { taken in
      let left = recording.connections.filter { connection in
        !taken.contains(connection.number)
          && recording.records.contains { $0.connection == connection.number }
      }
      let fitting = left.first {
        $0.scheme == origin.scheme && $0.host.lowercased() == origin.host && $0.port == Int(origin.port)
      }
      let number = (fitting ?? left.first)?.number
      if let number { taken.insert(number) }
      return number
    }
    return ReplayingTransport(recording, connection: number ?? -1, cuts: cuts, on: loop)
  }
}
