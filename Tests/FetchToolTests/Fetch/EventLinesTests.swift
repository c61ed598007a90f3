import FetchTool
import GannetSockets
import Testing

/// Callbacks that no recorded server makes, as `--events` prints them.
@Suite("Fetch: the lines of --events")
struct EventLinesTests {
  @Test func informationalResponsesAndTrailers() throws {
    let answer = """
      HTTP/1.1 102 \r\n\r\nHTTP/1.1 103 Early Hints\r\nLink: x\r\n\r
      HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\nX-Sum: y\r\nX-Sum: z\r\n\r\n
      """
    let recording = PlaybackServerTests.recording([.received(Array(answer.utf8))])
    let lines = try Replay(recording).events(cuts: .every(1), on: EventLoop.current)
    #expect(
      lines.filter { !$0.contains("didReceiveResponse") && !$0.contains("didReceiveData") } == [
        #"{"event":"didReceiveInformational","status":102,"fields":[]}"#,
        #"{"event":"didReceiveInformational","status":103,"fields":[["Link","x"]]}"#,
        #"{"event":"didReceiveTrailers","fields":[["X-Sum","y"],["X-Sum","z"]]}"#,
        #"{"event":"didFinishLoading","total":3,"#
          + #""sha256":"ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"}"#,
      ])
  }
}
