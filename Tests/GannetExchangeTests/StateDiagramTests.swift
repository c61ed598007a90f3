import Foundation
import GannetExchange
import GannetHTTP
import TestSupport
import Testing

/// Every event in every state, tried on the machine itself: none traps, and what they lead to is the diagram in `docs`.
@Suite("states of an exchange", .longWork)
struct StateDiagramTests {
  private static let head = "HTTP/1.1 200 OK\r\n"
  private static let last = "Connection: close\r\n"

  /// What can happen, in the words of the diagram.
  private enum Happening: CaseIterable {
    case request, informational, emptyBody, emptyLastBody, lengthHead, chunkedHead, closeHead, switching,
      data, lastData
    case lastChunk, wrong, endOfFile
    case begun, begunWithBody, begunExpecting, headSent, bodySent, continueTimeLimit, stopped, refusal,
      drained
    case streamHead, delimiter

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
      case .begun: "request begun"
      case .begunWithBody: "request with a body begun"
      case .begunExpecting: "request that expects 100 begun"
      case .headSent: "head sent"
      case .bodySent: "body sent"
      case .continueTimeLimit: "time limit"
      case .stopped: "sending stopped"
      case .refusal: "head of a refusal"
      case .drained: "its end told"
      case .streamHead: "head of a multipart stream in chunks"
      case .delimiter: "a delimiter where a chunk was announced"
      }
    }

    /// The input that it is.
    var input: String {
      switch self {
      case .request, .endOfFile, .begun, .begunWithBody, .begunExpecting, .headSent, .bodySent,
        .continueTimeLimit, .stopped, .drained:
        ""
      case .informational: "HTTP/1.1 100 Continue\r\n\r\n"
      case .streamHead: head + "Content-Type: multipart/mixed\r\nTransfer-Encoding: chunked\r\n\r\n"
      case .delimiter: "-"
      case .refusal: "HTTP/1.1 413 Large\r\nContent-Length: 2\r\n\r\n"
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

    /// Whether it is worth telling that it changes nothing in this state.
    func repeats(in state: String) -> Bool {
      self == .data || self == .informational && state == "awaitingHead"
    }

    /// Whether it begins a request.
    var begins: Bool { [.request, .begun, .begunWithBody, .begunExpecting].contains(self) }

    func happen(to machine: inout ExchangeMachine) { _ = happen(to: &machine, bytes: Bytes.latin1(input)) }

    /// These bytes of it, or what is no input. Whether the machine told anything.
    func happen(to machine: inout ExchangeMachine, bytes: [UInt8]) -> Bool {
      var tellsAnything = false
      do throws(SyntaxError) {
        switch self {
        case .request: machine.sentRequest(method: "GET")
        case .begun: machine.beganRequest(method: "GET")
        case .begunWithBody: machine.beganRequest(method: "POST", body: .follows)
        case .begunExpecting: machine.beganRequest(method: "POST", body: .followsContinue)
        case .headSent: machine.sentHead()
        case .bodySent: machine.sentBody()
        case .continueTimeLimit: machine.continueTimeLimitPassed()
        case .stopped: machine.stoppedSending()
        case .endOfFile: while try machine.receivedEndOfFile() != nil { tellsAnything = true }
        default:
          var rest = bytes
          while true {
            let (consumed, event) = try machine.receive(rest.span)
            rest.removeFirst(consumed)
            if event == nil { break }
            tellsAnything = true
          }
        }
      } catch {
        // A failure is a state: the diagram shows it.
      }
      return tellsAnything
    }
  }

  private static func name(_ state: ExchangeMachine.State) -> String {
    switch state {
    case .idle: "idle"
    case .awaitingHead: "awaitingHead"
    case .receivingLength: "receivingLength"
    case .receivingChunks: "receivingChunks"
    case .receivingUntilClose: "receivingUntilClose"
    case .awaitingRequestEnd: "awaitingRequestEnd"
    case .ending: "ending"
    case .ended: "ended"
    case .failed: "failed"
    }
  }

  private static func name(_ request: ExchangeMachine.Request) -> String {
    switch request {
    case .none: "none"
    case .sendingHead: "sendingHead"
    case .awaitingContinue: "awaitingContinue"
    case .sendingBody: "sendingBody"
    case .sent: "sent"
    case .stopped: "stopped"
    }
  }

  /// A step of the machine from one state to another, and what made it.
  private struct Steps {
    var edges: [(ends: String, words: [String])] = []

    mutating func add(_ from: String, _ to: String, _ words: String?) {
      let ends = "\(from) --> \(to)"
      let index = edges.firstIndex { $0.ends == ends } ?? edges.count
      if index == edges.count { edges.append((ends, [])) }
      if let words, !edges[index].words.contains(words) { edges[index].words.append(words) }
    }

    /// A line each, with those from one state together.
    func lines(indent: String) -> [String] {
      let from = edges.map { $0.ends.prefix { $0 != " " } }
      let order = from.indices.sorted {
        (from.firstIndex(of: from[$0]) ?? 0, $0) < (from.firstIndex(of: from[$1]) ?? 0, $1)
      }
      return order.map { "\(indent)\(edges[$0].ends): \(edges[$0].words.joined(separator: ", "))" }
    }
  }

  /// What every happening does in every place that happenings lead to, byte by byte, of the response and of its request.
  /// A place is a state with what decides on the next ones; machines in the same place do the same.
  private static func explored() -> (states: Steps, requests: Steps, places: [ExchangeMachine]) {
    var (states, requests) = (Steps(), Steps())
    var seen: Set<String> = []
    var places: [(machine: ExchangeMachine, request: Happening?)] = []
    func note(_ machine: ExchangeMachine, _ request: Happening?, after last: Happening?) {
      let key = "\(place(machine)) \(request?.words ?? "") \(last == .streamHead)"
      if seen.insert(key).inserted { places.append((machine, request)) }
    }
    var first = ExchangeMachine()
    first.acceptsUnchunkedStreams = true
    note(first, nil, after: nil)
    var index = 0
    while index < places.count {
      let (start, request) = places[index]
      index += 1
      for happening in Happening.allCases {
        var machine = start
        let bytes = Bytes.latin1(happening.input)
        for position in 0..<max(1, bytes.count) {
          let before = machine
          let byte = Array(bytes.dropFirst(position).prefix(1))
          let tellsAnything = happening.happen(to: &machine, bytes: byte)
          let isWhole = position + 1 >= bytes.count
          let hasMoved = before.state != machine.state || before.request != machine.request
          guard hasMoved || isWhole else { continue }
          let (from, to) = (name(before.state), name(machine.state))
          let words = words(for: happening, to, isWhole: isWhole)
          if from != to || tellsAnything && isWhole && happening.repeats(in: from) {
            states.add(from, to, words)
          }
          if before.request != machine.request {
            requests.add(name(before.request), name(machine.request), words)
          }
          let isBegun = before.request == .none && happening.begins
          note(machine, isBegun ? happening : request, after: isWhole ? happening : nil)
          // What is left of it belongs to another place.
          if from != to { break }
        }
      }
    }
    return (states, requests, places.map(\.machine))
  }

  private static func place(_ machine: ExchangeMachine) -> String {
    let state: String = if case .failed = machine.state { "failed" } else { "\(machine.state)" }
    return "\(state) \(machine.request) \(machine.persistence) \(machine.receivedAnything)"
  }

  /// What a step is called; nil in the middle of an input that other steps give their name, or by bytes that mean no
  /// more than others there.
  private static func words(for happening: Happening, _ state: String, isWhole: Bool) -> String? {
    let isInput = !happening.input.isEmpty
    // It means something in one place only.
    if happening == .delimiter, state != "receivingUntilClose", state != "failed" { return nil }
    if state == "failed", isInput, happening != .switching { return Happening.wrong.words }
    return isWhole && happening != .wrong ? happening.words : nil
  }

  private static func drawn() -> String {
    let (states, requests, _) = explored()
    let lines =
      [
        "%% Made by StateDiagramTests from the machine itself; WRITE_DOCS=1 swift test draws it anew.",
        "stateDiagram-v2", "  [*] --> idle",
      ] + states.lines(indent: "  ") + ["  state \"its request\" as request {", "    [*] --> none"]
      + requests.lines(indent: "    ") + ["  }"]
    return lines.joined(separator: "\n") + "\n"
  }

  @Test("every step has a name, and every state is reached")
  func complete() {
    let (states, requests, places) = Self.explored()
    for edge in states.edges + requests.edges { #expect(!edge.words.isEmpty, "\(edge.ends) has no name") }
    #expect(places.count > 30)
    let reached = Set(states.edges.flatMap { $0.ends.components(separatedBy: " --> ") })
    #expect(
      reached == [
        "idle", "awaitingHead", "receivingLength", "receivingChunks", "receivingUntilClose",
        "awaitingRequestEnd",
        "ending", "ended", "failed",
      ])
  }

  @Test("the diagram in docs is what the machine does")
  func diagram() throws {
    let file = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
      .appendingPathComponent("../../docs/exchange-states.mmd")
    let drawn = Self.drawn()
    if ProcessInfo.processInfo.environment["WRITE_DOCS"] != nil { try Data(drawn.utf8).write(to: file) }
    #expect(try String(contentsOf: file, encoding: .utf8) == drawn)
  }

  /// Every two events in every place: none traps, and what the two halves of the machine say of each other stays true.
  @Test("every event in every state")
  func everyEvent() {
    let places = Self.explored().places
    var seen: Set<String> = []
    var tried = 0
    for place in places {
      seen.insert("\(Self.name(place.state))/\(Self.name(place.request))")
      for first in Happening.allCases {
        var machine = place
        first.happen(to: &machine)
        Self.check(machine)
        for second in Happening.allCases {
          var next = machine
          second.happen(to: &next)
          Self.check(next)
          tried += 1
        }
      }
    }
    #expect(tried == places.count * Happening.allCases.count * Happening.allCases.count)
    let halves = ["awaitingHead", "receivingLength", "receivingChunks", "receivingUntilClose"]
    for state in halves {
      for request in ["sendingBody", "sent"] { #expect(seen.contains("\(state)/\(request)")) }
    }
    for place in ["awaitingHead/awaitingContinue", "awaitingHead/stopped", "awaitingRequestEnd/sendingBody"] {
      #expect(seen.contains(place))
    }
  }

  private static func check(_ machine: ExchangeMachine) {
    let isTrue =
      switch machine.state {
      case .idle: machine.request == .none
      case .ended, .failed, .ending: !machine.request.isUnderWay
      case .awaitingRequestEnd: machine.request.isUnderWay
      case .awaitingHead, .receivingLength, .receivingChunks, .receivingUntilClose: machine.request != .none
      }
    if !isTrue { Issue.record("\(name(machine.state)) while the request is \(name(machine.request))") }
  }
}
