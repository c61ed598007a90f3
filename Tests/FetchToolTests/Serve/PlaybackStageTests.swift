import FetchTool
import GannetSockets
import Testing

@Suite("Serve: which recorded connection a client plays")
struct PlaybackStageTests {
  /// Connections to `a`, each with its first request; an empty one: the server speaks first.
  func stage(_ requests: [String]) -> PlaybackStage {
    var recording = Recording(load: .init(method: "GET", url: "http://a/"))
    for (index, request) in requests.enumerated() {
      recording.connections.append(.init(number: index + 1, scheme: "http", host: "a", port: 80))
      let event: Recording.Event =
        request.isEmpty ? .received([0x61]) : .sent(Array((request + "\r\n\r\n").utf8))
      recording.records.append(.init(connection: index + 1, microseconds: 0, event: event))
    }
    return PlaybackStage(recording)
  }

  @Test func followsTheRecordedOrder() {
    var stage = stage(["GET /a HTTP/1.1", "GET /b HTTP/1.1"])
    for _ in 1...3 {
      let first = stage.take(origin: 0, target: "/a", hasAuthorization: false)
      let second = stage.take(origin: 0, target: "/b", hasAuthorization: false)
      #expect(first?.connection == 1 && second?.connection == 2)
      if let first, let second {
        stage.ended(first)
        stage.ended(second)
      }
    }
    #expect(stage.loadsPlayed == 3)
  }

  @Test func aClientThatDoesNotFollowBeginsAgain() {
    var stage = stage(["GET /a HTTP/1.1", "GET /b HTTP/1.1"])
    let taken = (1...3).map { _ in stage.take(origin: 0, target: "/a", hasAuthorization: false)?.connection }
    #expect(taken == [1, 1, 1])
    #expect(stage.loadsPlayed == 2)
  }

  @Test func authorizationTellsConnectionsApart() {
    var stage = stage(["GET /a HTTP/1.1", "GET /a HTTP/1.1\r\nAuthorization: Basic x"])
    #expect(stage.take(origin: 0, target: "/a", hasAuthorization: false)?.connection == 1)
    #expect(stage.take(origin: 0, target: "/a", hasAuthorization: false)?.connection == 1)
    #expect(stage.take(origin: 0, target: "/a", hasAuthorization: true)?.connection == 2)
  }

  @Test func whateverTheRequestSomethingIsPlayed() {
    var stage = stage(["G", "GET /b HTTP/1.1"])
    #expect(stage.take(origin: 0, target: "/x", hasAuthorization: false)?.connection == 1)
    #expect(stage.take(origin: 0, target: nil, hasAuthorization: false)?.connection == 2)
    #expect(stage.take(origin: 0, target: "/x", hasAuthorization: false)?.connection == 1)
  }

  @Test func aServerThatSpokeFirstDoesSoAgain() {
    var stage = stage(["", "GET /b HTTP/1.1"])
    #expect(stage.takeSilently(origin: 0)?.connection == 1)
    #expect(stage.takeSilently(origin: 0) == nil)
    let none = PlaybackStage(Recording(load: .init(method: "GET", url: "http://a/")))
    #expect(none.origins.isEmpty)
  }
}
