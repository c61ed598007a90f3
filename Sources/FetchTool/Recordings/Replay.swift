import Gannet
package import GannetSockets
import GannetTLS

/// Loads a recording again, its server played in memory.
package struct Replay {
  /// A replay that didn't come to its end.
  package struct Failure: Error {
    /// What happened.
    package let reason: String
  }

  private let recording: Recording

  /// Prepares to replay: what the recorded client did not wait for is ended.
  package init(_ recording: Recording) { self.recording = recording.endingWhatIsUnfinished }

  /// The events of the load, each a line, data that follows data merged: what stands in the `.events` file beside a
  /// recording.
  ///
  /// - Parameters:
  ///   - cuts: where the server's bytes are cut.
  ///   - loop: a loop of this thread, which is run.
  ///   - limit: ends a replay that waits for something that never comes.
  package func events(
    cuts: ReplayCuts, on loop: EventLoop, limit: Duration = .seconds(20)
  ) throws -> [String] {
    try events(at: recording.load.url, on: loop, limit: limit) {
      $0.transportProvider = ReplayProvider(recording, cuts: cuts)
    }
  }

  /// The events of the load when it goes over the network, to a server that plays the recording at `url`.
  package func events(
    servedAt url: String, on loop: EventLoop, limit: Duration = .seconds(20)
  ) throws -> [String] {
    try events(at: url, on: loop, limit: limit) { _ in }
  }

  private func events(
    at url: String, on loop: EventLoop, limit: Duration,
    configure: (inout URLConnection.Configuration) -> Void
  ) throws -> [String] {
    var options = FetchOptions()
    try options.load(recording.load)
    var lines: [String] = []
    let events = try EventLog(mergesData: true) { lines.append($0) }
    let credential = options.login.map {
      URLCredential(user: $0.user, password: $0.password ?? "", persistence: .none)
    }
    let load = FetchLoad(
      try options.request(for: url, body: options.readBody()), tag: nil,
      settings: FetchLoad.Settings(options, credential: credential),
      output: BodyOutput(.none, parts: nil), events: events)
    var configuration = try options.configuration()
    configuration.credentialStorage = URLCredentialStorage()
    configuration.urlCache = URLCache(memoryCapacity: URLCache.shared.memoryCapacity)
    configure(&configuration)
    load.start(configuration, on: loop) { _ in }
    loop.run(until: ContinuousClock.now + limit)
    guard load.hasEnded else {
      load.stop(ToolError(.timedOut, ""))
      throw Failure(reason: "the load of \(url) has not ended within \(limit)")
    }
    return lines
  }
}
