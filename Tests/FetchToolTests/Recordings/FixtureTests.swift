import FetchTool
import GannetSockets
import TestSupport
import Testing

@Suite("Fixtures: every recording gives its events at every cut", .longWork)
struct FixtureTests {
  @Test(arguments: Fixtures.names)
  func replays(_ name: String) throws {
    let recording = try Fixtures.recording(name)
    let expected = String(decoding: try Fixtures.bytes(name + ".events"), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    let loop = EventLoop.current
    let replay = Replay(recording)
    #expect(try replay.events(cuts: .asRecorded, on: loop) == expected)
    #expect(try replay.events(cuts: .every(1 << 20), on: loop) == expected)
    for connection in recording.connections {
      for cut in ServerStream(recording, connection: connection.number).cuts {
        let events = try replay.events(cuts: .at([cut]), on: loop)
        guard events == expected else {
          Issue.record("cut \(cut) of each connection changes the events to \(events)")
          return
        }
      }
    }
    let length =
      recording.connections.map { ServerStream(recording, connection: $0.number).bytes.count }.max() ?? 0
    if length <= 64 * 1024 {
      #expect(try replay.events(cuts: .every(1), on: loop) == expected)
    }
    #expect(try replay.events(cuts: .every(7), on: loop) == expected)
  }

  /// Hosts and ports are the listener's then, as is the scheme.
  @Test(arguments: Fixtures.names)
  func areServed(_ name: String) throws {
    let recording = try Fixtures.recording(name)
    let first = try #require(recording.connections.first)
    let loop = EventLoop.current
    let server = try PlaybackServer(recording, on: loop)
    defer { server.stop() }
    let port = server.ports[0]
    let events = try Replay(recording).events(servedAt: server.url, on: loop).map {
      $0.replacing("http://127.0.0.1:\(port)", with: "\(first.scheme)://\(first.hostAndPort)")
        .replacing("127.0.0.1:\(port)", with: first.hostAndPort)
        .replacing("\"port\":\(port)", with: "\"port\":\(first.port)")
    }
    let expected = String(decoding: try Fixtures.bytes(name + ".events"), as: UTF8.self)
      .split(separator: "\n").map(String.init)
    #expect(events == expected)
  }

  @Test func areWrittenAsTheyAreRead() throws {
    for name in Fixtures.names {
      let recording = try Fixtures.recording(name)
      #expect(try RecordingParser.parse(RecordingWriter.file(of: recording)) == recording, "\(name)")
    }
  }
}
