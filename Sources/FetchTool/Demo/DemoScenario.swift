import Gannet
import GannetSockets

/// One load of the demo: what the server plays, how it is fetched, and what must come of it.
struct DemoScenario {
  /// What came of a load, as its delegate saw it.
  struct Outcome {
    /// Requests that the delegate was asked about, canonical steps and redirects, as `status or 0, URL path`.
    var steps: [String] = []
    var challenges = 0
    var status: Int?
    var mimeType: String?
    /// The body, or each part's.
    var bodies: [[UInt8]] = []
    /// Parts that were said to be complete.
    var finishedParts = 0
    var error: ConnectionError?
    var hasFinished = false
  }

  let title: String
  let recording: Recording
  var usesTLS = false
  var credential: URLCredential?
  /// Changes the URL before it is asked for.
  var respell: (String) -> String = { $0 }
  let expected: Outcome

  /// What is not as it should be; nil when all is.
  func difference(from outcome: Outcome) -> String? {
    if let error = outcome.error { return "it failed: \(error.reason)" }
    guard outcome.hasFinished else { return "it did not finish" }
    if outcome.status != expected.status { return "the status is \(outcome.status ?? 0)" }
    if outcome.mimeType != expected.mimeType { return "the type is \(outcome.mimeType ?? "missing")" }
    if outcome.steps != expected.steps { return "its requests were \(outcome.steps)" }
    if outcome.challenges != expected.challenges { return "there were \(outcome.challenges) challenges" }
    if outcome.bodies.count != expected.bodies.count { return "\(outcome.bodies.count) bodies came" }
    if outcome.bodies != expected.bodies { return "the bytes are not those that were recorded" }
    if outcome.finishedParts != expected.finishedParts {
      return "\(outcome.finishedParts) parts were completed"
    }
    return nil
  }
}

extension Recording {
  /// The recording of one connection to `scheme://127.0.0.1:8080`, of exchanges each a target and the answer.
  init(
    demo scheme: String = "http", path: String, _ exchanges: [(target: String, answer: [[UInt8]])],
    ends: Bool = false
  ) {
    self.init(load: Load(method: "GET", url: "\(scheme)://127.0.0.1:8080\(path)"))
    connections = [Connection(number: 1, scheme: scheme, host: "127.0.0.1", port: 8080)]
    var events: [Event] = []
    for exchange in exchanges {
      events.append(.sent(Array("GET \(exchange.target) HTTP/1.1\r\n\r\n".utf8)))
      events += exchange.answer.map { .received($0) }
    }
    if ends { events.append(.endOfFile) }
    records = events.map { Record(connection: 1, microseconds: 0, event: $0) }
  }
}

/// The bytes of a response, as the demo's servers send them.
enum DemoResponse {
  /// A head of these lines.
  static func head(_ lines: String...) -> [UInt8] {
    Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8)
  }

  /// A response of known length.
  static func make(_ status: String, _ fields: [String], _ body: [UInt8]) -> [UInt8] {
    var lines = ["HTTP/1.1 \(status)"] + fields
    lines.append("Content-Length: \(body.count)")
    return Array((lines.joined(separator: "\r\n") + "\r\n\r\n").utf8) + body
  }

  /// A body in chunks, each a segment, with trailer fields.
  static func chunks(_ pieces: [String], trailers: String) -> [[UInt8]] {
    pieces.map { Array("\(String($0.utf8.count, radix: 16))\r\n\($0)\r\n".utf8) }
      + [Array("0\r\n\(trailers)\r\n\r\n".utf8)]
  }

  /// One part of a stream, with the delimiter before it.
  static func part(_ picture: [UInt8]) -> [UInt8] {
    Array("--frame\r\nContent-Type: image/jpeg\r\nContent-Length: \(picture.count)\r\n\r\n".utf8) + picture
      + [0x0D, 0x0A]
  }
}
