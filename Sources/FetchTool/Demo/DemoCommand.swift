import Gannet
import GannetSockets
import GannetTLS

/// `gannet demo`: plays recorded answers on loopback and fetches them through real sockets, on one loop of one thread.
final class DemoCommand {
  /// Nothing here takes a tenth of it.
  private static let timeLimit = Duration.seconds(20)

  private let loop: EventLoop
  private let identity: LoopbackIdentity
  private var writeFailure: SystemError?
  private var loads = 0
  private var bytes = 0
  private var parts = 0
  /// How long the loads took that had parts.
  private var streamSeconds = 0.0
  private var differences: [String] = []

  init(on loop: EventLoop) throws(ToolError) {
    self.loop = loop
    do throws(TLSError) { identity = try LoopbackIdentity() } catch {
      throw ToolError(.tlsFailed, "no certificate could be made: \(error)")
    }
  }

  /// Runs every load. Gives the exit status: 0 only when all came as recorded.
  func run() throws(ToolError) -> Int32 {
    say(
      "Gannet \(GannetVersion.current): fetching recorded answers from a server on 127.0.0.1, through real sockets"
    )
    var time = Duration.zero
    for (index, scenario) in DemoScenario.all.enumerated() where writeFailure == nil {
      say("\n\(index + 1). \(scenario.title)")
      time += try run(scenario)
    }
    summarize(time)
    // Without anybody to read it the demo has failed.
    if let writeFailure { throw ToolError(.cannotWrite, "standard output: \(writeFailure.words)") }
    return differences.isEmpty ? 0 : 1
  }

  private func run(_ scenario: DemoScenario) throws(ToolError) -> Duration {
    var settings = PlaybackServer.Settings()
    settings.note = { [weak self] in self?.say("   server: \($0)") }
    if scenario.usesTLS { settings.tls = identity.context }
    let server: PlaybackServer
    do throws(SystemError) {
      server = try PlaybackServer(scenario.recording, on: loop, settings: settings)
    } catch { throw ToolError(.cannotListen, "cannot listen on 127.0.0.1: \(error.words)") }
    let request = URLRequest(string: scenario.respell(server.url))
    say("   \(request)")
    var configuration = URLConnection.Configuration()
    configuration.trust = .pem(String(decoding: identity.authorityPEM, as: UTF8.self))
    configuration.credentialStorage = URLCredentialStorage()
    let narrator = DemoNarrator(credential: scenario.credential) { [weak self] in self?.say("     " + $0) }
    let start = ContinuousClock.now
    let connection = URLConnection(
      request: request, delegate: narrator, configuration: configuration, on: .loop(loop.handle))
    loop.run(until: start + Self.timeLimit)
    let time = ContinuousClock.now - start
    connection?.cancel()
    server.stop()
    loads += 1
    bytes += narrator.byteCount
    if narrator.outcome.finishedParts > 0 {
      parts += narrator.outcome.finishedParts
      streamSeconds += time / .seconds(1)
    }
    if let difference = scenario.difference(from: narrator.outcome) {
      differences.append("\(scenario.title): \(difference)")
      say("   NOT AS RECORDED: \(difference)")
    }
    return time
  }

  private func summarize(_ time: Duration) {
    let rate = ProgressMeter.decimal(Double(parts) / max(streamSeconds, 1e-6))
    say("")
    say(
      "\(loads - differences.count) of \(loads) loads came as recorded: \(bytes) bytes in \(milliseconds(time)) ms."
    )
    say(
      "\(parts) pictures of the stream were received whole in \(milliseconds(.seconds(streamSeconds))) ms: \(rate) a second."
    )
    for difference in differences { say("not as recorded: \(difference)") }
  }

  private func milliseconds(_ time: Duration) -> String { ProgressMeter.decimal(time / .milliseconds(1)) }

  private func say(_ line: String) {
    guard writeFailure == nil else { return }
    do throws(SystemError) { try OutputFile.standardOutput.write(line + "\n") } catch { writeFailure = error }
  }
}
