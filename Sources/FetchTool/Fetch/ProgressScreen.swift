/// The bottom of a terminal: lines that are drawn again and again, below all that is said for good.
package struct ProgressScreen: Sendable {
  private var drawnLines = 0

  /// Nothing is drawn yet.
  package init() {}

  /// What to write so that `said` stands for good where lines were drawn, however often it wraps, and `lines` below it.
  package mutating func draw(_ lines: [String], below said: [String] = []) -> String {
    var text = drawnLines > 0 ? "\u{1B}[\(drawnLines)A\r\u{1B}[J" : ""
    for line in said + lines { text += line + "\n" }
    drawnLines = lines.count
    return text
  }
}
