import GannetSockets

/// Redraws a line for each running load on a terminal, below those of the loads that have ended and all that is said.
final class ProgressDisplay {
  private static let interval = Duration.milliseconds(200)

  private let terminal: OutputFile
  private let lines: () -> (ended: [String], running: [String])
  private let loop: EventLoop
  private var timer: LoopTimer?
  private var screen = ProgressScreen()

  /// `lines` gives what to show: lines of loads that ended since the last call, and of those that run.
  init(
    on loop: EventLoop, terminal: OutputFile, lines: @escaping () -> (ended: [String], running: [String])
  ) {
    self.loop = loop
    self.terminal = terminal
    self.lines = lines
    timer = loop.makeTimer { [weak self] _ in self?.tick() }
    timer?.schedule(at: loop.now + Self.interval)
  }

  private func tick() {
    draw()
    timer?.schedule(at: loop.now + Self.interval)
  }

  /// Shows how it stands now, with `messages` below the loads that have ended.
  func draw(saying messages: [String] = []) {
    let (ended, running) = lines()
    let text = screen.draw(running, below: ended + messages)
    // A terminal that is gone shows nothing more; the loads go on.
    try? terminal.write(text)
  }
}
