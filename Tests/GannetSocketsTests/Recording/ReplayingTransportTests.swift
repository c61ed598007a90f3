import GannetSockets
import Testing

@Suite("Recording: a connection replayed in memory")
struct ReplayingTransportTests {
  static let request = Array("GET / HTTP/1.1\r\n\r\n".utf8)

  static func recording(ending: Recording.Event?) -> Recording {
    var recording = Recording(load: .init(method: "GET", url: "http://a/"))
    recording.connections = [.init(number: 7, scheme: "http", host: "a", port: 80)]
    var events: [Recording.Event] = [
      .sent(request), .received(Array("abc".utf8)), .received(Array("defg".utf8)), .sent(request),
      .received(Array("hi".utf8)),
    ]
    if let ending { events.append(ending) }
    recording.records = events.map { .init(connection: 7, microseconds: 0, event: $0) }
    return recording
  }

  /// Sends a request, then another each time `requestAfter` bytes have come; gives what each turn brought.
  func play(_ cuts: ReplayCuts, ending: Recording.Event?, requests: Int = 2, bufferBytes: Int = 64) throws
    -> [String]
  {
    let loop = try EventLoop()
    let transport = ReplayingTransport(Self.recording(ending: ending), connection: 7, cuts: cuts, on: loop)
    var seen: [String] = []
    var count = 0
    var sent = 0
    func request(_ due: Bool) {
      guard due, sent < requests else { return }
      sent += 1
      #expect(transport.send(Self.request.span) == .sent(Self.request.count))
    }
    transport.onReady = { readiness in
      #expect(readiness.contains(.readable))
      var turn = ""
      var buffer = [UInt8](repeating: 0, count: bufferBytes)
      while true {
        var span = buffer.mutableSpan
        switch transport.receive(into: &span) {
        case .bytes(let received):
          turn += String(decoding: buffer[..<received], as: UTF8.self)
          count += received
          continue
        case .wouldBlock: break
        case .endOfFile: turn += "|eof"
        case .failed: turn += "|failed"
        }
        break
      }
      seen.append(turn)
      request(count == 7 && sent == 1 || count == 9)
    }
    request(true)
    for _ in 0..<50 { loop.poll() }
    transport.close()
    return seen
  }

  @Test(
    arguments: [
      (.asRecorded, .endOfFile, ["abc", "defg", "hi", "|eof"]),
      (.every(100), .endOfFile, ["abcdefg", "hi", "|eof"]),
      (.every(1), .reset, ["a", "b", "c", "d", "e", "f", "g", "h", "i", "|failed"]),
      (.every(5), nil, ["abcde", "fg", "hi"]),
      (.at([2, 8]), .endOfFile, ["ab", "cdefg", "h", "i", "|eof"]),
      (.at([7]), .endOfFile, ["abcdefg", "hi", "|eof"]),
    ] as [(ReplayCuts, Recording.Event?, [String])])
  func isCutAsAsked(_ cuts: ReplayCuts, _ ending: Recording.Event?, _ expected: [String]) throws {
    #expect(try play(cuts, ending: ending) == expected)
    #expect(try play(cuts, ending: ending, bufferBytes: 1) == expected)
  }

  @Test func oneRequestTooManyFindsAReset() throws {
    #expect(try play(.every(100), ending: nil, requests: 3) == ["abcdefg", "hi", "|failed"])
  }

  @Test func nothingIsAnnouncedWhileReadingIsPaused() throws {
    let loop = try EventLoop()
    let transport = ReplayingTransport(Self.recording(ending: nil), connection: 7, cuts: .every(3), on: loop)
    var turns = 0
    transport.onReady = { _ in turns += 1 }
    transport.pauseReading(true)
    _ = transport.send(Self.request.span)
    for _ in 0..<5 { loop.poll() }
    #expect(turns == 0)
    transport.pauseReading(false)
    for _ in 0..<5 { loop.poll() }
    #expect(turns == 1)
    transport.pauseReading(true)
    transport.pauseReading(false)
    for _ in 0..<5 { loop.poll() }
    #expect(turns == 2)
    transport.close()
    var buffer: [UInt8] = [0]
    var span = buffer.mutableSpan
    #expect(transport.receive(into: &span) != .wouldBlock)
  }
}
