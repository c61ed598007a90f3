import Foundation
import GannetExchange
import GannetHTTP
import TestSupport
import Testing

/// Every event in every state, tried on the machine itself: none traps, and what they lead to is the diagram in `docs`.
@Suite("states of an exchange")
struct StateDiagramTests {
  private static let head = "HTTP/1.1 200 OK\r\n"
  private static let last = "Connection: close\r\n"

  /// What can happen, in the words of the diagram.
  private enum Happening: CaseIterable {
    case request, informational, emptyBody, emptyLastBody, lengthHead, chunkedHead, closeHead, switching,
      data, lastData
    case lastChunk, wrong, endOfFile

    var words: String {
      switch self {
      case .request: "request sent"
      case .informational: "1xx"
      case .emptyBody: "head without a body"
      case .emptyLastBody: "last head, without a body"
      case .lengthHead: "head with a length"
      case .chunkedHead: "head of chunks"
      case .closeHead: "head without an end"
      case .switching: "101 not asked for"
      case .data: "data"
      case .lastData: "the last of the data"
      case .lastChunk: "the last chunk"
      case .wrong: "a byte that does not belong there"
      case .endOfFile: "end of file"
      }
    }

    /// The input that it is.
    var input: String {
      switch self {
      case .request, .endOfFile: ""
      case .informational: "HTTP/1.1 100 Continue\r\n\r\n"
      case .emptyBody: head + "Content-Length: 0\r\n\r\n"
      case .emptyLastBody: head + last + "Content-Length: 0\r\n\r\n"
      case .lengthHead: head + "Content-Length: 2\r\n\r\n"
      case .chunkedHead: head + "Transfer-Encoding: chunked\r\n\r\n"
      case .closeHead: head + "\r\n"
      case .switching: "HTTP/1.1 101 Switching\r\n\r\n"
      case .data: "1"
      case .lastData: "22"
      case .lastChunk: "0\r\n\r\n"
      case .wrong: "\0"
      }
    }

    func happen(to machine: inout ExchangeMachine) {
      do throws(SyntaxError) {
        switch self {
        case .request: machine.sentRequest(method: "GET")
        case .endOfFile: while try machine.receivedEndOfFile() != nil {}
        default:
          var rest = Bytes.latin1(input)
          while true {
            let (consumed, event) = try machine.receive(rest.span)
            rest.removeFirst(consumed)
            if event == nil { return }
          }
        }
      } catch {
        // A failure is a state: the diagram shows it.
      }
    }
  }

  private static func name(_ state: ExchangeMachine.State) -> String {
    switch state {
    case .idle: "idle"
    case .awaitingHead: "awaitingHead"
    case .receivingLength: "receivingLength"
    case .receivingChunks: "receivingChunks"
    case .receivingUntilClose: "receivingUntilClose"
    case .ending: "ending"
    case .ended: "ended"
    case .failed: "failed"
    }
  }

  /// What leads into each state from the start, and which happenings mean something there; in the others all the
  /// same is tried, but only a state that they lead to by their own meaning is drawn.
  private static let states: [(way: [Happening], meaningful: [Happening])] = [
    ([], [.request, .wrong, .endOfFile]),
    (
      [.request],
      [
        .informational, .emptyBody, .emptyLastBody, .lengthHead, .chunkedHead, .closeHead, .switching, .wrong,
        .endOfFile,
      ]
    ),
    ([.request, .lengthHead], [.data, .lastData, .endOfFile]),
    ([.request, .chunkedHead], [.lastChunk, .wrong, .endOfFile]),
    ([.request, .closeHead], [.data, .endOfFile]),
    ([.request, .emptyLastBody], [.request, .data, .endOfFile]),
    ([.wrong], [.request, .data, .endOfFile]),
  ]

  private static func drawn() -> String {
    var lines = [
      "%% Made by StateDiagramTests from the machine itself; WRITE_DOCS=1 swift test draws it anew.",
      "stateDiagram-v2", "  [*] --> idle",
    ]
    for (way, meaningful) in states {
      var start = ExchangeMachine()
      for step in way { step.happen(to: &start) }
      var edges: [(to: String, words: [String])] = []
      for happening in Happening.allCases {
        var machine = start
        happening.happen(to: &machine)
        guard meaningful.contains(happening) else { continue }
        let target = name(machine.state)
        if let index = edges.firstIndex(where: { $0.to == target }) {
          edges[index].words.append(happening.words)
        } else {
          edges.append((target, [happening.words]))
        }
      }
      lines += edges.map { "  \(name(start.state)) --> \($0.to): \($0.words.joined(separator: ", "))" }
    }
    return lines.joined(separator: "\n") + "\n"
  }

  @Test("the diagram in docs is what the machine does")
  func diagram() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../docs/exchange-states.mmd")
    let drawn = Self.drawn()
    if ProcessInfo.processInfo.environment["WRITE_DOCS"] != nil { try Data(drawn.utf8).write(to: file) }
    #expect(try String(contentsOf: file, encoding: .utf8) == drawn)
  }
}
