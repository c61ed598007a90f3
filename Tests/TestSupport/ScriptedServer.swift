package import Gannet
import GannetHTTP
package import GannetSockets
import Synchronization

/// One answer of a scripted server: bytes, and perhaps the end of the connection.
package struct Answer: Sendable {
  package var bytes: [UInt8]
  package var ending: ReceiveOutcome?

  /// The text's bytes, with `\n` as it stands.
  package init(_ text: String, ending: ReceiveOutcome? = nil) {
    bytes = Array(text.utf8)
    self.ending = ending
  }

  /// These bytes.
  package init(bytes: [UInt8], ending: ReceiveOutcome? = nil) {
    self.bytes = bytes
    self.ending = ending
  }

  /// A response with a length.
  package static func ok(
    _ body: String, status: String = "200 OK", _ fields: String = "", ending: ReceiveOutcome? = nil
  ) -> Answer {
    Answer("HTTP/1.1 \(status)\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)", ending: ending)
  }
}

/// A server in memory: the n-th connection answers its m-th whole request with the m-th answer of the n-th list, and
/// with nothing when there is none. What it was sent can be read afterwards.
// UNCHECKED: used on the one thread that runs the test's loop.
package final class ScriptedServer: TransportProvider, @unchecked Sendable {
  private let connections: [[Answer]]
  /// How the bytes of each answer are cut.
  private let cut: Cut
  /// Every connection that was made.
  package private(set) var peers: [ScriptedPeer] = []
  /// Called with each connection that is made, before anything is sent on it.
  package var onConnect: ((ScriptedPeer) -> Void)?
  /// Answers the requests, given as text, for which no answer is listed.
  package var choose: ((String) -> Answer?)?
  /// Puts something between the client and a connection.
  package var wrap: ((ScriptedPeer, EventLoop) -> any StreamTransport)?

  /// A server whose connections answer like this.
  package init(_ connections: [[Answer]], cut: Cut = .whole) {
    self.connections = connections
    self.cut = cut
  }

  package func makeTransport(to origin: Origin, on loop: EventLoop) -> any StreamTransport {
    let answers = peers.count < connections.count ? connections[peers.count] : []
    let peer = ScriptedPeer(origin, answers, cut: cut, on: loop)
    peer.choose = choose
    peers.append(peer)
    onConnect?(peer)
    return wrap?(peer, loop) ?? peer
  }

  /// The text of everything that was sent, connection by connection.
  package var requests: [String] { peers.map { String(decoding: $0.sent, as: UTF8.self) } }
}

/// One connection of a scripted server.
package final class ScriptedPeer: StreamTransport {
  /// Where the client thinks it goes.
  package let origin: Origin
  /// What the client has sent.
  package private(set) var sent: [UInt8] = []
  package private(set) var isClosed = false
  /// How many bytes the client has taken.
  package private(set) var taken = 0

  private unowned let loop: EventLoop
  private var answers: [Answer]
  private var scanned = 0
  /// Where the request begins that is being sent.
  private var requestStart = 0
  fileprivate var choose: ((String) -> Answer?)?
  private var scanner = RequestScanner()
  private var pieces: [ArraySlice<UInt8>] = []
  private var ending: ReceiveOutcome?
  private let cut: Cut
  /// How many bytes are taken before the connection seems full; nil: all.
  package var capacity: Int? { didSet { wantWrite(wantsRoom) } }
  private var wantsRoom = false
  /// Called after each send that was taken.
  package var onSent: ((ScriptedPeer) -> Void)?

  package var onReady: ((Readiness) -> Void)? { didSet { announce() } }

  init(_ origin: Origin, _ answers: [Answer], cut: Cut, on loop: EventLoop) {
    self.origin = origin
    self.answers = answers
    self.cut = cut
    self.loop = loop
  }

  /// Bytes come without being asked for, or the connection ends.
  package func say(_ answer: Answer) {
    // A place past this answer's end is one in a longer answer of the same server.
    let cut: Cut = if case .at(let position) = cut, position >= answer.bytes.count { .whole } else { cut }
    pieces += cut.pieces(of: answer.bytes).filter { !$0.isEmpty }
    ending = ending ?? answer.ending
    announce()
  }

  package func receive(into buffer: inout MutableSpan<UInt8>) -> ReceiveOutcome {
    guard let piece = pieces.first else { return ending ?? .wouldBlock }
    let count = min(piece.count, buffer.count)
    for index in 0..<count { buffer[index] = piece[piece.startIndex + index] }
    taken += count
    if count == piece.count { pieces.removeFirst() } else { pieces[0] = piece.dropFirst(count) }
    // A short read means drained to a driver; what is left is announced like a new segment.
    announce()
    return .bytes(count)
  }

  package func send(_ bytes: Span<UInt8>) -> SendOutcome {
    if let ending, ending != .endOfFile, pieces.isEmpty { return .failed(32) }
    let count = min(bytes.count, (capacity ?? .max) - sent.count)
    guard count > 0 || bytes.isEmpty else { return .wouldBlock }
    for index in 0..<count { sent.append(bytes[index]) }
    answer()
    onSent?(self)
    return .sent(count)
  }

  private func answer() {
    while scanned < sent.count {
      scanned += scanner.step(sent.span.extracting(scanned..<sent.count))
      guard scanner.progress == .ended else { continue }
      scanner = RequestScanner()
      let request = sent[requestStart..<scanned]
      requestStart = scanned
      if !answers.isEmpty {
        say(answers.removeFirst())
      } else if let answer = choose?(String(decoding: request, as: UTF8.self)) {
        say(answer)
      }
    }
  }

  package func wantWrite(_ wanted: Bool) {
    wantsRoom = wanted
    guard wanted else { return }
    loop.perform { [weak self] _ in
      guard let self, wantsRoom, !isClosed, sent.count < capacity ?? .max else { return }
      onReady?(.writable)
    }
  }

  package func pauseReading(_ paused: Bool) {}
  package func finishWriting() {}
  package func close() { isClosed = true; onReady = nil }

  private func announce() {
    guard onReady != nil, !pieces.isEmpty || ending != nil else { return }
    loop.perform { [weak self] _ in
      guard let self, !isClosed, !pieces.isEmpty || ending != nil else { return }
      onReady?(ending == nil ? .readable : [.readable, .peerClosed])
    }
  }
}
