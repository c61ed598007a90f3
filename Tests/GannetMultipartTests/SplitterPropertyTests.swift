import GannetHTTP
import GannetMultipart
import TestSupport
import Testing

@Suite("multipart/x-mixed-replace: properties", .longWork)
struct SplitterPropertyTests {
  static let pieces = [
    "\r", "\n", "\r\n", "-", "--", "B", "--B", "\r\n--B", "\n--B\n", "\r\n--B\r\n\r\n", "--B--", "\r\n--B--",
    "x",
    "\u{FF}\u{D8}", "\u{FF}\u{D9}", "\u{FF}", Pictures.tables, Pictures.start, Pictures.scan("x\u{FF}\0"),
    " ", "A: b\r\n", "Content-Length: 5\r\n", "Content-Length: 30\n\n",
    "\n\n",
    "C-L", ":", "\0", "\r\n--B\r\nContent-Type: image/jpeg\r\n\r\n", "\n--B\nContent-Length: 17\n\n",
  ]

  @Test("streams made of what delimiters are made of: the same at every cut", arguments: 0..<8)
  func everyCut(seed: Int) {
    var generator = SeededGenerator(seed: UInt64(seed))
    for round in 0..<60 {
      var stream = round % 3 == 0 ? "" : "--B\r\n\(round % 3 == 1 ? "" : "Content-Length: 20\r\n")\r\n"
      for _ in 0..<Int.random(in: 1...16, using: &generator) {
        stream += Self.pieces.randomElement(using: &generator) ?? ""
      }
      for boundary in ["B", "--B", nil, "--"] {
        let (whole, mismatches) = Splitting.outcomes(of: Bytes.latin1(stream)) {
          MixedReplaceSplitter(boundary: boundary)
        }
        #expect(
          mismatches.isEmpty,
          "\(stream.debugDescription) boundary \(boundary ?? "-"): \(whole); \(mismatches.map { "\($0.cut): \($0.outcome)" })"
        )
      }
    }
  }

  @Test(
    "what looks like a delimiter again and again costs no more than other data",
    arguments: ["\r\n--", "\r\n--B", "\n--Bx", "\u{FF}\u{D9}--", "--B", "-", "\r", "\n", "--B\n"])
  func linear(pattern: String) throws {
    let head = Bytes.latin1("--Bxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\n\n")
    let ratio = try Growth.fourfold(of: 8000) { count in
      var splitter = MixedReplaceSplitter(boundary: "Bxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx")
      let data = Array(repeatElement(Bytes.latin1(pattern), count: count).joined())
      var outcome = Outcome()
      _ = try Splitting.take(&splitter, head, &outcome)
      for start in stride(from: 0, to: data.count, by: 1000) {
        _ = try Splitting.take(&splitter, Array(data[start..<min(start + 1000, data.count)]), &outcome)
      }
      while let event = try splitter.receivedEndOfFile() { Splitting.note(event, of: [], in: &outcome) }
      #expect(outcome.events.count >= 2)
    }
    #expect(ratio <= 8)
  }

  @Test("nor does it come byte by byte", arguments: ["\r\n--", "-", "\n", "\r\n", "\n--Bx"])
  func fewPieces(pattern: String) throws {
    let data = Array(repeatElement(Bytes.latin1(pattern), count: 60_000 / pattern.utf8.count).joined())
    var splitter = MixedReplaceSplitter(boundary: "B")
    var outcome = Outcome()
    _ = try Splitting.take(&splitter, Bytes.latin1("--B\n\nx\n"), &outcome)
    var (taken, pieces) = (0, 0)
    while true {
      let (consumed, event) = try splitter.step(data.span.extracting(droppingFirst: taken))
      taken += consumed
      if event == nil { break }
      pieces += 1
    }
    #expect(taken == data.count && pieces < 64)
  }

  @Test("doubts upon doubts cost no more than other data")
  func linearDoubts() throws {
    let part = Bytes.latin1("--B\nContent-Length: 900000\n\nabc\n")
    let ratio = try Growth.fourfold(of: 4000) { count in
      let stream = Array(repeatElement(part, count: count).joined())
      var splitter = MixedReplaceSplitter(boundary: "B")
      var parts = 0
      var taken = 0
      while true {
        let end = min(taken + 65_536, stream.count)
        let (consumed, event) = try splitter.step(stream.span.extracting(taken..<end))
        taken += consumed
        if case .partBegan = event { parts += 1 }
        if event == nil, taken == stream.count { break }
      }
      // One hesitant part shows that no length is to be looked at.
      while let event = try splitter.receivedEndOfFile() {
        if case .partBegan = event { parts += 1 }
      }
      #expect(parts == count)
    }
    #expect(ratio <= 8)
  }

  @Test(
    "lines without dashes and dashes without lines cost no more than other data",
    arguments: ["\n", "--", "\n-"])
  func linearLines(_ piece: String) throws {
    // A delimiter that has none begins any line.
    let opening = Bytes.latin1("B\n\n")
    let ratio = try Growth.fourfold(of: 65_536) { count in
      let stream = opening + Array(repeatElement(Bytes.latin1(piece), count: count).joined())
      var splitter = MixedReplaceSplitter(boundary: "B")
      var taken = 0
      var told = 0
      while taken < stream.count {
        let (consumed, event) = try splitter.step(stream.span.extracting(droppingFirst: taken))
        taken += consumed
        if case .data(let range) = event { told += range.count }
      }
      #expect(told > stream.count - 16)
    }
    #expect(ratio <= 8)
  }

  @Test("an error stays")
  func errorStays() {
    var splitter = MixedReplaceSplitter(boundary: "B")
    let bytes = Bytes.latin1("--B\nA: \0")
    #expect(throws: SyntaxError.self) {
      while try splitter.step(bytes.span).event != nil {}
    }
    #expect(throws: SyntaxError.self) { try splitter.step(Bytes.latin1("x").span) }
    #expect(throws: SyntaxError.self) { try splitter.receivedEndOfFile() }
  }

  @Test("fields longer than their limit are refused", arguments: ["--B\n", ""])
  func fieldLimit(start: String) {
    var limits = Limits()
    limits.partHeadBytes = 20
    let atLimit = "A: 3456789012345678\n\n"
    for (block, fits) in [(String(atLimit.dropFirst()), true), (atLimit, false)] {
      var outcome = Outcome()
      var splitter = MixedReplaceSplitter(boundary: "B", limits: limits)
      do throws(SyntaxError) {
        _ = try Splitting.take(
          &splitter, Bytes.latin1(start + (fits ? "A" + block.dropFirst() : block)), &outcome)
        #expect(fits)
      } catch {
        #expect(!fits && error.rule == .headSize)
      }
    }
  }

  @Test("a part in doubt is kept back no further than its limit")
  func doubtLimit() throws {
    var limits = Limits()
    limits.partDoubtBytes = 10
    for (length, events) in [(13, ["data one"]), (14, ["data one", "complete", "ended"])] {
      var outcome = Outcome()
      var splitter = MixedReplaceSplitter(boundary: "B", limits: limits)
      let head = "--B\nContent-Length: \(length)\n\n"
      _ = try Splitting.take(&splitter, Bytes.latin1(head + "one\n--B\n"), &outcome)
      outcome.endData()
      #expect(outcome.events == ["part Content-Length=\(length)"] + events)
    }
    // Nor does a delimiter where the data is to end, in sight as it may be.
    var outcome = Outcome()
    var splitter = MixedReplaceSplitter(boundary: "B", limits: limits)
    _ = try Splitting.take(
      &splitter, Bytes.latin1("--B\nContent-Length: 14\n\none\n--B\n\nabcde\n--B\n"), &outcome)
    outcome.endData()
    #expect(outcome.events.prefix(4) == ["part Content-Length=14", "data one", "complete", "ended"])
  }

  @Test(
    "a boundary that no header could hold splits nothing",
    arguments: ["a\nb", String(repeating: "x", count: 300)])
  func unusableBoundary(boundary: String) throws {
    var outcome = Outcome()
    var splitter = MixedReplaceSplitter(boundary: boundary)
    _ = try Splitting.take(&splitter, Bytes.latin1("xyz"), &outcome)
    outcome.endData()
    #expect(outcome.events == ["unsplit", "data xyz"])
  }
}
