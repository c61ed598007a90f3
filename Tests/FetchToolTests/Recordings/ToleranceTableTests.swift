import FetchTool
import FoundationEssentials
import GannetExchange
import GannetHTTP
import GannetSockets
import TestSupport
import Testing

/// The table of tolerances in `docs/CONFORMANCE.md`: each row has its recording, each recording its row, and what the
/// row says of the connection is what the machine says after that recording.
@Suite("The table of tolerances")
struct ToleranceTableTests {
  struct Entry: Sendable, CustomTestStringConvertible {
    let recording: String
    let usedAgain: String
    var testDescription: String { recording }
  }

  /// The rows between the section's heading and the next one.
  static let entries: [Entry] = {
    let path = Fixtures.folder + "/../docs/CONFORMANCE.md"
    let text = FileManager.default.contents(atPath: path).map { String(decoding: $0, as: UTF8.self) } ?? ""
    let section = text.split(separator: "\n").drop { $0 != "## What is tolerated" }.dropFirst()
    return section.prefix { !$0.hasPrefix("#") }.filter { $0.hasPrefix("| ") }.dropFirst().map { line in
      let cells = line.split(separator: "|").map { $0.split(separator: " ").joined(separator: " ") }
      return Entry(
        recording: cells.dropLast().last.map { String($0.filter { $0 != "`" }) } ?? "",
        usedAgain: cells.last ?? "")
    }
  }()

  @Test("rows and recordings are the same")
  func complete() {
    #expect(Self.entries.count > 30)
    let named = Set(Self.entries.map(\.recording))
    #expect(named.subtracting(Fixtures.names) == [])
    #expect(Set(Fixtures.names.filter { $0.hasPrefix("tolerances/") }).subtracting(named) == [])
  }

  @Test("what becomes of the connection", arguments: entries)
  func persistence(_ entry: Entry) throws {
    let recording = try Fixtures.recording(entry.recording)
    // A camera that is left at its close delimiter has not ended on the wire.
    let stream = ServerStream(recording.endingWhatIsUnfinished, connection: 1)
    var machine = ExchangeMachine()
    machine.sentRequest(method: recording.load.method)
    var rest = stream.bytes[...]
    var isReusable: Bool?
    func note(_ event: ExchangeMachine.Event) { if case .end(let reusable) = event { isReusable = reusable } }
    while isReusable == nil {
      let (consumed, event) = try machine.receive(rest.span)
      rest = rest.dropFirst(consumed)
      guard let event else { break }
      note(event)
    }
    while isReusable == nil, stream.hasEnded, let event = try machine.receivedEndOfFile() { note(event) }
    let reason: String =
      if case .tolerated(let tolerances) = machine.persistence { "\(tolerances)" } else {
        "\(machine.persistence)"
      }
    switch entry.usedAgain {
    case "–": #expect(isReusable != nil)
    case "yes": #expect(isReusable == true && reason == "reusable")
    default:
      #expect(isReusable == false)
      let said = entry.usedAgain.prefix { $0 != "," }
      #expect(said == "no: " + reason)
    }
  }
}
