import GannetHTTP
package import GannetSockets
package import GannetTLS

/// Plays the server's side of one recording to any client: a listener on loopback for each recorded origin.
package final class PlaybackServer {
  /// How to listen.
  package struct Settings {
    /// The first port; 0 lets the system choose. Further origins take the ports after it.
    package var port: UInt16 = 0
    /// The context for what is served over TLS; nil: all is served as plain http.
    package var tls: TLSContext?
    /// Told what a person may want to know of.
    package var note: (String) -> Void = { _ in }

    /// Plain http on ports that the system chooses.
    package init() {}
  }

  /// What to fetch: the recorded URL at its listener.
  package let url: String
  /// The method of the recorded load.
  package let method: String
  /// Called when a load has been played, with how many there were.
  package var onLoadPlayed: ((Int) -> Void)?
  /// Called when the last client has gone after `stop()`.
  package var onStopped: (() -> Void)?

  private let loop: EventLoop
  private let settings: Settings
  private let recording: Recording
  private var stage: PlaybackStage
  private var listeners: [Listener] = []
  private var sessions: [ObjectIdentifier: PlaybackSession] = [:]
  private var isStopping = false

  /// Listens. Throws what the system says when it cannot.
  package init(_ recording: Recording, on loop: EventLoop, settings: Settings = Settings())
    throws(SystemError)
  {
    self.loop = loop
    self.settings = settings
    method = recording.load.method
    let stage = PlaybackStage(recording)
    self.stage = stage
    let secure = Self.secureOrigins(stage.origins, settings)
    var rules: [HostRewriter.Rule] = []
    for (index, origin) in stage.origins.enumerated() {
      var address = SocketAddress.loopback
      if settings.port != 0 {
        address = .ipv4(0x7f00_0001, port: settings.port &+ UInt16(truncatingIfNeeded: index))
      }
      let listener = try Listener(on: loop, at: address)
      listeners.append(listener)
      let scheme = secure.contains(index) ? "https" : "http"
      rules.append(
        HostRewriter.Rule(
          origin: Origin(scheme: origin.scheme, host: origin.host, port: origin.port),
          replacement: "\(scheme)://\(listener.address)"))
    }
    let rewriter = HostRewriter(rules)
    self.recording = rewriter.rewrite(recording.endingWhatIsUnfinished)
    url = rewriter.rewrite(url: recording.load.url)
    for (index, listener) in listeners.enumerated() {
      let context = secure.contains(index) ? settings.tls : nil
      listener.onAccept = { [weak self] socket in self?.accepted(socket, origin: index, context) }
    }
  }

  /// With TLS, the connections that were recorded over https are served so; all of them, when none was.
  private static func secureOrigins(_ origins: [PlaybackStage.Origin], _ settings: Settings) -> Set<Int> {
    guard settings.tls != nil else { return [] }
    let recorded = origins.indices.filter { origins[$0].scheme == "https" }
    return Set(recorded.isEmpty ? Array(origins.indices) : recorded)
  }

  /// Ports it listens on.
  package var ports: [UInt16] { listeners.map(\.port) }

  /// Listens no more, sends what waits, and gives the clients time to receive it; then calls `onStopped`.
  package func stop() {
    guard !isStopping else { return }
    isStopping = true
    for listener in listeners { listener.close() }
    for session in Array(sessions.values) { session.windDown() }
    reportIfStopped()
  }

  private func reportIfStopped() {
    guard isStopping, sessions.isEmpty else { return }
    loop.perform { [self] _ in
      onStopped?()
      onStopped = nil
    }
  }

  private func accepted(_ socket: StreamSocket, origin: Int, _ context: TLSContext?) {
    var engine: TLSEngine?
    if let context {
      do throws(TLSError) { engine = try TLSEngine(server: context) } catch {
        settings.note("TLS cannot begin: \(error)")
        return socket.close()
      }
    }
    let session = PlaybackSession(socket, tls: engine, origin: origin, of: self)
    sessions[ObjectIdentifier(session)] = session
    session.start()
  }

  // MARK: For the sessions

  func takeSilently(origin: Int) -> PlaybackStage.Role? {
    counting { $0.takeSilently(origin: origin) }
  }

  func take(origin: Int, target: String?, hasAuthorization: Bool) -> PlaybackStage.Role? {
    counting { $0.take(origin: origin, target: target, hasAuthorization: hasAuthorization) }
  }

  func machine(for role: PlaybackStage.Role, scanner: RequestScanner) -> PlaybackMachine {
    PlaybackMachine(recording, connection: role.connection, scanner: scanner)
  }

  func ended(_ role: PlaybackStage.Role) { counting { $0.ended(role) } }

  /// Lets the stage decide, and reports the load that it finds played, if there is one. In the next turn: the session
  /// that asks is in the middle of something.
  private func counting<Result>(_ step: (inout PlaybackStage) -> Result) -> Result {
    let before = stage.loadsPlayed
    let result = step(&stage)
    let count = stage.loadsPlayed
    if count > before { loop.perform { [weak self] _ in self?.onLoadPlayed?(count) } }
    return result
  }

  func closed(_ session: PlaybackSession) {
    sessions[ObjectIdentifier(session)] = nil
    reportIfStopped()
  }

  func note(_ text: String) { settings.note(text) }

  func makeLinger(_ time: Duration, _ fire: @escaping () -> Void) -> LoopTimer {
    let timer = loop.makeTimer { _ in fire() }
    timer.schedule(at: loop.now + time)
    return timer
  }
}
