import FetchTool
import Testing

/// As much of a terminal as the progress display uses: rows that wrap, a cursor that moves up, and erasing below it.
struct TestTerminal {
  let columns: Int
  private(set) var rows: [String] = []
  private var row = 0

  init(columns: Int) { self.columns = columns }

  mutating func show(_ text: String) {
    var rest = text[...]
    while let character = rest.popFirst() {
      switch character {
      case "\n": row += 1
      case "\r": break
      case "\u{1B}":
        let code = rest.prefix { !$0.isLetter }
        rest = rest.dropFirst(code.count)
        if rest.popFirst() == "A" {
          row = max(0, row - (Int(code.dropFirst()) ?? 1))
        } else {
          rows.removeSubrange(min(row, rows.count)...)
        }
      default: put(character)
      }
    }
  }

  private mutating func put(_ character: Character) {
    while rows.count <= row { rows.append("") }
    if rows[row].count == columns {
      row += 1
      while rows.count <= row { rows.append("") }
    }
    rows[row].append(character)
  }
}

@Suite("Output: lines that are drawn again")
struct ProgressScreenTests {
  @Test func whatIsSaidStandsAboveTheLinesAndStays() {
    var screen = ProgressScreen()
    var terminal = TestTerminal(columns: 10)
    terminal.show(screen.draw(["a 1", "b 1"]))
    #expect(terminal.rows == ["a 1", "b 1"])
    // Longer than a row, and one load less.
    terminal.show(screen.draw(["b 2"], below: ["a failed", "because of this"]))
    #expect(terminal.rows == ["a failed", "because of", " this", "b 2"])
    terminal.show(screen.draw(["b 3"]))
    terminal.show(screen.draw([], below: ["b done"]))
    #expect(terminal.rows == ["a failed", "because of", " this", "b done"])
    terminal.show(screen.draw([], below: ["the end"]))
    #expect(terminal.rows == ["a failed", "because of", " this", "b done", "the end"])
  }

  @Test(arguments: [
    ("plain: é\t“”", "plain: é\t“”"), ("two\nlines\r", "two\\nlines\\r"),
    ("\u{1B}[2J\u{0}\u{9B}", "\\u{1B}[2J\\u{0}\\u{9B}"), ("\u{2028}", "\\u{2028}"),
  ])
  func messagesAreOneLine(_ text: String, _ printable: String) { #expect(text.printable == printable) }
}
