import GannetSockets

/// Redraws a line for each running load on a terminal, below those of the loads that have ended.
final class ProgressDisplay {
  private static let interval = Duration.milliseconds(200)

  private let terminal: OutputFile
  private let lines: () -> (ended: [String], running: [String])
  private let loop: EventLoop
  private var timer: LoopTimer?
  private var drawnLines = 0

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

  /// Shows how it stands now.
  func draw() {
    let (ended, running) = lines()
    var text = drawnLines > 0 ? "\u{1B}[\(drawnLines)A" : ""
    for line in ended + running { text += "\r\u{1B}[2K\(line)\n" }
    // Lines left over from more loads that were running before.
    if drawnLines > ended.count + running.count { text += "\u{1B}[J" }
    drawnLines = running.count
    // A terminal that is gone shows nothing more; the loads go on.
    try? terminal.write(text)
  }
}
