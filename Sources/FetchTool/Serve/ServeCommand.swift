import GannetSockets
import GannetTLS

/// `gannet serve FILE…`.
struct ServeCommand {
  static let flags: [Flag] = [
    Flag("port", nil, .required), Flag("tls"), Flag("ca-out", nil, .required), Flag("once"),
    Flag("count", nil, .required),
  ]

  private var files: [String] = []
  private var port: UInt16 = 0
  private var usesTLS = false
  private var authorityFile: String?
  private var count: Int?

  init(arguments: [Argument]) throws(ArgumentError) {
    for argument in arguments {
      switch argument {
      case .operand(let file): files.append(file)
      case .flag("port", let value):
        guard let number = value.flatMap({ UInt16($0) }) else {
          throw ArgumentError("--port takes a number from 0 to 65535, not \"\(value ?? "")\"")
        }
        port = number
      case .flag("tls", _): usesTLS = true
      case .flag("ca-out", let value): authorityFile = value
      case .flag("once", _): count = 1
      case .flag(_, let value):
        guard let number = value.flatMap({ Int($0) }), number > 0 else {
          throw ArgumentError("--count takes a number above 0, not \"\(value ?? "")\"")
        }
        count = number
      }
    }
    guard !files.isEmpty else { throw ArgumentError("no recording given") }
    if authorityFile != nil, !usesTLS { throw ArgumentError("--ca-out needs --tls") }
  }

  /// Plays the recordings until each has been loaded as often as asked; for ever when nothing was asked.
  func run() throws(ToolError) {
    let loop = EventLoop.current
    var settings = PlaybackServer.Settings()
    settings.port = port
    settings.note = { OutputFile.complain("gannet: " + $0) }
    if usesTLS { settings.tls = try makeIdentity() }
    var servers: [PlaybackServer] = []
    for file in files {
      let server = try makeServer(file, loop, settings)
      servers.append(server)
      if port != 0 { settings.port &+= UInt16(clamping: server.ports.count) }
    }
    try ToolError.writing("standard output") { () throws(SystemError) in
      try OutputFile.standardOutput.write(servers.map { $0.url + "\n" }.joined())
    }
    for (file, server) in zip(files, servers) where server.method != "GET" {
      OutputFile.complain("gannet: \(file): recorded with \(server.method): fetch it with that method")
    }
    if count == nil, OutputFile.standardError.isTerminal { OutputFile.complain("gannet: Ctrl-C ends this") }
    if let count { stop(servers, after: count, loop) }
    loop.runForever()
  }

  private func makeIdentity() throws(ToolError) -> TLSContext {
    let identity: LoopbackIdentity
    do throws(TLSError) { identity = try LoopbackIdentity() } catch {
      throw ToolError(.tlsFailed, "no certificate could be made: \(error)")
    }
    if let authorityFile {
      try ToolError.writing(authorityFile) { () throws(SystemError) in
        try OutputFile(creating: authorityFile).write(identity.authorityPEM.span)
      }
    }
    return identity.context
  }

  private func makeServer(
    _ file: String, _ loop: EventLoop, _ settings: PlaybackServer.Settings
  ) throws(ToolError) -> PlaybackServer {
    let recording = try Recording(file: file)
    guard !recording.records.isEmpty else {
      throw ToolError(.cannotRead, "\(file): nothing was recorded in it")
    }
    do throws(SystemError) { return try PlaybackServer(recording, on: loop, settings: settings) } catch {
      throw ToolError(.cannotListen, "\(file): cannot listen on port \(settings.port): \(error.words)")
    }
  }

  /// Stops a server once its recording has been loaded so often, and the loop with the last of them.
  private func stop(_ servers: [PlaybackServer], after count: Int, _ loop: EventLoop) {
    var running = servers.count
    for server in servers {
      server.onLoadPlayed = { [unowned server] played in if played >= count { server.stop() } }
      server.onStopped = {
        running -= 1
        if running == 0 { loop.stop() }
      }
    }
  }
}
