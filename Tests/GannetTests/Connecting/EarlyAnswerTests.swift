import Gannet
import GannetSockets
import TestSupport
import Testing

/// Answers that come before the request's body is sent (RFC 9112 section 9.5).
@Suite struct EarlyAnswerTests {
  private static let size = 4 << 20

  private static func post() -> URLRequest {
    var request = URLRequest(string: "http://h/a")
    request.httpMethod = "POST"
    request.httpBody = Data(repeating: 0x61, count: size)
    return request
  }

  /// A server that takes some bytes, answers, and then does as `after` says.
  private static func server(_ answer: Answer, after: @escaping (ScriptedPeer) -> Void) -> ScriptedServer {
    let server = ScriptedServer([[], [.ok("next")]])
    var hasAnswered = false
    server.onConnect = { peer in
      guard server.peers.count == 1 else { return }
      peer.capacity = 100_000
      peer.onSent = { peer in
        guard peer.sent.count >= 100_000, !hasAnswered else { return }
        hasAnswered = true
        peer.say(answer)
        after(peer)
      }
    }
    return server
  }

  enum After: CaseIterable, Sendable { case keepsReading, closes, resets, takesNoMore }

  @Test(arguments: After.allCases, [true, false])
  func aRefusalIsDeliveredAndTheUploadStops(_ after: After, _ saysClose: Bool) throws {
    let fields = saysClose ? "Connection: close\r\n" : ""
    let ending: ReceiveOutcome? = after == .closes ? .endOfFile : after == .resets ? .failed(104) : nil
    let server = Self.server(.ok("big", status: "413 Too Large", fields, ending: ending)) { peer in
      if after != .takesNoMore { peer.capacity = 300_000 }
    }
    let log = CallbackLog()
    let lines = try Loading.run(Self.post(), Loading.configuration(server), log)
    #expect(lines.filter { !$0.hasPrefix("sent") } == ["response 413 length 3", "data big", "finish"])
    #expect(server.peers[0].isClosed)
    #expect(server.peers[0].sent.count < Self.size / 2)
  }

  /// However fast the server takes the body, its answer is seen within it.
  @Test func aServerThatTakesAllDoesNotHideItsAnswer() throws {
    let server = ScriptedServer([[]])
    server.onConnect = { peer in
      var hasAnswered = false
      peer.onSent = { peer in
        if !hasAnswered, peer.sent.count > 100_000 { peer.say(.ok("big", status: "413 Too Large")) }
        hasAnswered = peer.sent.count > 100_000
      }
    }
    #expect(try Loading.run(Self.post(), Loading.configuration(server)).last == "finish")
    #expect(server.peers[0].sent.count < Self.size / 2)
  }

  /// A server may answer at once and read along: the body is sent to its end, and the load ends with it.
  @Test func aSuccessBeforeTheEndStopsNothing() throws {
    let server = Self.server(.ok("done")) { $0.capacity = nil }
    let lines = try Loading.run(Self.post(), Loading.configuration(server))
    #expect(lines.filter { !$0.hasPrefix("sent") } == ["response 200 length 4", "data done", "finish"])
    #expect(lines.suffix(2) == ["sent \(Self.size)/\(Self.size)", "finish"])
    #expect(server.peers[0].sent.count > Self.size)
  }

  /// One that answers and goes has what it wanted.
  @Test(arguments: [ReceiveOutcome.endOfFile, .failed(104)])
  func aSuccessBeforeTheEndOfABodyThatNobodyReads(_ ending: ReceiveOutcome) throws {
    let server = Self.server(.ok("done")) { peer in
      peer.capacity = 200_000
      peer.onSent = { peer in if peer.sent.count == 200_000 { peer.say(Answer("", ending: ending)) } }
    }
    let lines = try Loading.run(Self.post(), Loading.configuration(server))
    #expect(lines.filter { !$0.hasPrefix("sent") } == ["response 200 length 4", "data done", "finish"])
    #expect(server.peers[0].isClosed)
  }

  @Test func anEarlyRedirectIsFollowedOnANewConnection() throws {
    let server = Self.server(.ok("", status: "307 T", "Location: /b\r\n")) { $0.capacity = 200_000 }
    let lines = try Loading.run(Self.post(), Loading.configuration(server))
    #expect(lines.last == "finish")
    #expect(server.peers.count == 2)
    #expect(server.peers[1].sent.count > Self.size)
  }

  @Test func aContinueChangesNothing() throws {
    let server = ScriptedServer([[.ok("done")]])
    server.onConnect = { peer in
      peer.capacity = 100_000
      peer.onSent = { peer in
        guard peer.capacity == 100_000 else { return }
        peer.capacity = nil
        peer.say(Answer("HTTP/1.1 100 Continue\r\n\r\n"))
      }
    }
    let log = CallbackLog()
    let lines = try Loading.run(Self.post(), Loading.configuration(server), log)
    #expect(lines.last == "finish")
    #expect(lines.contains("informational 100"))
    #expect(lines.contains("sent \(Self.size)/\(Self.size)"))
    #expect(lines.count { $0.hasPrefix("sent") } >= 2)
  }

  /// Sending fails and nothing was received: the load ends by that, not by its time-out.
  @Test(arguments: [0, 10, 100_000])
  func aFailureToSendEndsTheLoad(_ after: Int) throws {
    let server = ScriptedServer([[.ok("x")]])
    server.wrap = { peer, loop in
      var plan = FaultPlan()
      plan.sendFails = (after: after, errno: 104)
      return FaultInjectingTransport(wrapping: peer, plan: plan, on: loop)
    }
    let log = CallbackLog()
    let lines = try Loading.run(Self.post(), Loading.configuration(server), log)
    #expect(lines.last == "fail networkConnectionLost sending")
    #expect(log.error?.cause == .system(errno: 104))
  }

  /// The send took the reset's error, so reading sees only an end: it is none to a body that ends by it.
  @Test func aResetThatTheSendSawIsNoEndOfABody() throws {
    let server = ScriptedServer([[]])
    server.wrap = { peer, loop in
      var plan = FaultPlan()
      plan.sendFails = (after: 100_000, errno: 104)
      return FaultInjectingTransport(wrapping: peer, plan: plan, on: loop)
    }
    server.onConnect = { peer in
      peer.onSent = { peer in
        if peer.sent.count == 100_000 { peer.say(Answer("HTTP/1.1 200 OK\r\n\r\nhalf", ending: .endOfFile)) }
      }
    }
    let log = CallbackLog()
    let lines = try Loading.run(Self.post(), Loading.configuration(server), log)
    #expect(
      lines.suffix(3) == ["response 200 length -1", "data half", "fail networkConnectionLost receiving"])
    #expect(log.error?.cause == .system(errno: 104))
  }

  /// The answer is there while the callback runs, but is told when it has returned: first of all its head.
  @Test(arguments: [4, 400_000])
  func aCallbackThatRunsTheLoop(_ size: Int) throws {
    let server = ScriptedServer([[.ok("done")]])
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let log = CallbackLog()
    log.onCallback = { name, _ in
      if name == "sent" { loop.run(until: .now + .milliseconds(20)) }
    }
    var request = URLRequest(string: "http://h/a")
    request.httpMethod = "PUT"
    request.httpBody = Data(repeating: 0x61, count: size)
    _ = URLConnection(
      request: request, delegate: log, configuration: Loading.configuration(server), on: .loop(loop.handle))
    loop.run(until: .now + .seconds(20))
    let lines = log.finished().filter { !$0.hasPrefix("sent") }
    #expect(lines == ["response 200 length 4", "data done", "finish"])
  }

  /// The delegate runs the loop when it is asked for a body, and the connection that was to carry it ends meanwhile.
  @Test func aConnectionThatEndsWhileABodyIsAskedFor() throws {
    let moved = Answer("HTTP/1.1 307 Moved\r\nLocation: /b\r\nContent-Length: 0\r\n\r\n")
    let server = ScriptedServer([[moved], [.ok("done")]])
    let loop = try EventLoop()
    defer { loop.shutDown() }
    let log = CallbackLog()
    log.newBody = { request in
      server.peers[0].say(Answer("", ending: .endOfFile))
      loop.run(until: .now + .milliseconds(20))
      return request.body
    }
    var request = URLRequest(string: "http://h/a", timeoutInterval: 2)
    request.httpMethod = "PUT"
    request.body = .stream {
      AsyncStream {
        $0.yield(Data([0x61]))
        $0.finish()
      }
    }
    _ = URLConnection(
      request: request, delegate: log, configuration: Loading.configuration(server), on: .loop(loop.handle))
    loop.run(until: .now + .seconds(20))
    #expect(log.finished().suffix(3) == ["response 200 length 4", "data done", "finish"])
    #expect(server.peers.count == 2)
  }
}
