import GannetSockets
import Testing

@Suite("Recording: playing the server's side")
struct PlaybackMachineTests {
  @Test(arguments: [
    "GET / HTTP/1.1\r\nHost: a\r\n\r\n",
    "\r\nGET / HTTP/1.1\n\n",
    "POST / HTTP/1.1\r\nContent-Length: 5\r\n\r\n\r\n\r\n\r",
    "POST / HTTP/1.1\r\ncontent-length:0\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: gzip, chunked\r\n\r\n5;x=y\r\nabcde\r\nA\r\n0123456789\r\n0\r\nT: r\r\n\r\n",
    "POST / HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
  ])
  func scannerEndsAtTheRequestsLastByte(_ request: String) {
    let bytes = Array(request.utf8)
    let more = bytes + Array("GET /next".utf8)
    for cut in 0...more.count {
      var scanner = RequestScanner()
      var total = 0
      for piece in [Array(more[..<cut]), Array(more[cut...])] {
        var taken = 0
        while taken < piece.count, scanner.progress != .ended {
          taken += scanner.step(piece.span.extracting(taken..<piece.count))
        }
        total += taken
      }
      #expect(scanner.progress == .ended)
      #expect(total == bytes.count, "cut \(cut)")
      #expect(scanner.target == "/")
    }
  }

  func text(_ action: PlaybackMachine.Action) -> String {
    switch action {
    case .send(let bytes): String(decoding: bytes, as: UTF8.self)
    case .end: "end"
    case .reset: "reset"
    case .awaitClient: "await"
    case .finished: "finished"
    }
  }

  @Test func aRecordWaitsForOneWholeRequest() {
    var machine = PlaybackMachine([
      .sent(Array("G".utf8)), .received(Array("one".utf8)), .received(Array("two".utf8)), .sent([]),
      .received(Array("three".utf8)), .endOfFile,
    ])
    let requests = Array("POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\nxyGET /b HTTP/1.1\r\n\r\n".utf8)
    var seen: [String] = []
    var position = 0
    for end in 1...requests.count {
      while true {
        let action = machine.next()
        if action != .awaitClient { seen.append("\(position) " + text(action)) } else { break }
      }
      position += machine.receive(requests.span.extracting(position..<end))
    }
    #expect(seen == ["41 one", "41 two"])
    #expect(position == requests.count)
    #expect((0..<4).map { _ in text(machine.next()) } == ["three", "end", "finished", "finished"])
    #expect(machine.receive(requests.span) == 0)
  }

  @Test func aServerThatSpokeWithinARequestDoesSoAgain() {
    let head = Array("POST /a HTTP/1.1\r\nContent-Length: 2\r\n\r\n".utf8)
    var machine = PlaybackMachine([
      .sent(head), .received(Array("100".utf8)), .sent(Array("xy".utf8)), .received(Array("200".utf8)),
    ])
    #expect(!machine.beginsByItself)
    #expect(text(machine.next()) == "await")
    #expect(machine.receive((head + Array("ab".utf8)).span) == head.count)
    #expect((0..<2).map { _ in text(machine.next()) } == ["100", "await"])
    #expect(machine.receive(Array("abc".utf8).span) == 2)
    #expect((0..<2).map { _ in text(machine.next()) } == ["200", "finished"])
  }

  @Test func aServerMayBegin() {
    var machine = PlaybackMachine([.received([0x61]), .reset])
    #expect(machine.beginsByItself)
    #expect((0..<3).map { _ in text(machine.next()) } == ["a", "reset", "finished"])
  }
}
