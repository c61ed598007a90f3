import Foundation
import Gannet
import GannetSockets
import TestSupport
import Testing

/// Loads over real sockets on loopback: what each kind of bad server, and each kind of address, gets.
@Suite struct SocketTests {
  /// Loads a URL, and waits until nothing is left of it.
  static func load(
    _ url: String, timeout: Double = 20, body: Data? = nil,
    _ configuration: URLConnection.Configuration = .init(),
    _ log: CallbackLog = CallbackLog()
  ) throws -> [String] {
    var request = URLRequest(string: url, timeoutInterval: timeout)
    if let body {
      request.httpMethod = "POST"
      request.httpBody = body
    }
    return try Loading.run(request, configuration, log)
  }

  private static let ok = "HTTP/1.1 200 OK\r\n"

  struct Row: Sendable, CustomTestStringConvertible {
    var testDescription: String { name }
    var name: String
    var conduct: LoopbackServer.Conduct
    var timeout = 20.0
    var lines: [String]
    var rule: String?
  }

  static let rows: [Row] = [
    Row(
      name: "length", conduct: .answers([.ok("hello")]),
      lines: ["response 200 length 5", "data hello", "finish"]),
    Row(
      name: "until close", conduct: .answers([Answer(ok + "\r\nhello", ending: .endOfFile)]),
      lines: ["response 200 length -1", "data hello", "finish"]),
    Row(name: "never answers", conduct: .silent, timeout: 0.15, lines: ["fail timedOut awaiting"]),
    Row(
      name: "closes at once", conduct: .closes, lines: ["fail networkConnectionLost awaiting"]),
    Row(name: "resets at once", conduct: .resets, lines: ["fail networkConnectionLost awaiting"]),
    Row(
      name: "closes after the request", conduct: .answers([Answer("", ending: .endOfFile)]),
      lines: ["fail networkConnectionLost awaiting"], rule: "no-response"),
    Row(
      name: "garbage", conduct: .answers([Answer("junk and more\r\n")]),
      lines: ["fail badServerResponse receiving"], rule: "status-line"),
    Row(
      name: "garbage before the request", conduct: .greets(Answer("SSH-2.0-x\r\n")),
      lines: ["fail badServerResponse receiving"], rule: "status-line"),
    Row(
      name: "stalls in the head", conduct: .answers([Answer("HTTP/1.1 200")]), timeout: 0.8,
      lines: ["fail timedOut receiving"]),
    Row(
      name: "stalls in the body", conduct: .answers([Answer(ok + "Content-Length: 9\r\n\r\nhello")]),
      timeout: 0.8,
      lines: ["response 200 length 9", "data hello", "fail timedOut receiving"]),
    Row(
      name: "endless head",
      conduct: .repeats(Array("X-Padding: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\r\n".utf8)),
      lines: ["fail badServerResponse receiving"], rule: "status-line"),
    Row(
      name: "endless 1xx", conduct: .repeats(Array("HTTP/1.1 102 P\r\n\r\n".utf8)),
      lines: Array(repeating: "informational 102", count: 64) + ["fail dataLengthExceedsMaximum receiving"],
      rule: "informational-count"),
    Row(
      name: "closes within the body",
      conduct: .answers([Answer(ok + "Content-Length: 9\r\n\r\nhello", ending: .endOfFile)]),
      lines: ["response 200 length 9", "data hello", "fail networkConnectionLost receiving"],
      rule: "truncated-body"),
    Row(
      name: "resets within the body",
      conduct: .answers([Answer(ok + "\r\nhello", ending: .failed(104))]),
      lines: ["response 200 length -1", "data hello", "fail networkConnectionLost receiving"]),
  ]

  @Test(arguments: rows)
  func whatAServerDoesShows(_ row: Row) throws {
    let server = try LoopbackServer(row.conduct)
    defer { server.stop() }
    let log = CallbackLog()
    var lines = try Self.load(server.url(), timeout: row.timeout, .init(), log)
    // A reset may reach us while we connect or send, and before what was sent ahead of it is read.
    if row.name.hasPrefix("resets"), lines != row.lines {
      let isExpected = [.networkConnectionLost, .cannotConnectToHost].contains(log.error?.code)
      if isExpected, lines.dropLast() == row.lines.prefix(lines.count - 1) { lines = row.lines }
    }
    #expect(lines == row.lines)
    if let rule = row.rule {
      switch log.error?.cause {
      case .syntax(rule, _, _), .limit(rule): break
      case let other: Issue.record("\(String(describing: other))")
      }
    }
  }

  @Test func anEndlessHeadEndsByItsLimit() throws {
    let line = "X-Padding: " + String(repeating: "x", count: 1000) + "\r\n"
    let server = try LoopbackServer(
      .answers([Answer(Self.ok + String(repeating: line, count: 400) + "\r\n")]))
    defer { server.stop() }
    #expect(try Self.load(server.url()) == ["fail dataLengthExceedsMaximum receiving"])
  }

  @Test func aRefusedPortAndAHostThatIsNone() throws {
    let server = try LoopbackServer(.silent)
    let url = server.url()
    server.stop()
    let log = CallbackLog()
    #expect(try Self.load(url, .init(), log) == ["fail cannotConnectToHost connecting"])
    #expect(log.error?.cause == .system(errno: ECONNREFUSED))

    let lost = CallbackLog()
    let lines = try Self.load("http://no-such-host.invalid/", .init(), lost)
    #expect(["fail cannotFindHost resolving", "fail dnsLookupFailed resolving"].contains(lines.last))
    #expect(lost.error?.reason.contains("no-such-host.invalid") == true)
  }

  /// A listener whose queue is full: connecting is neither refused nor done.
  @Test func connectingHasATimeLimit() throws {
    let quiet = try EventLoop()
    let listener = try Listener(on: quiet, backlog: 0)
    let loop = try EventLoop()
    var configuration = URLConnection.Configuration()
    configuration.connectTimeLimit = .milliseconds(150)
    let logs = (0..<6).map { _ in CallbackLog() }
    let connections = logs.map { log in
      URLConnection(
        request: URLRequest(string: "http://127.0.0.1:\(listener.port)/", timeoutInterval: 0.4),
        delegate: log,
        configuration: configuration, on: .loop(loop.handle))
    }
    loop.run(until: .now + .seconds(10))
    let lines = logs.map { $0.finished() }
    #expect(lines.contains(["fail timedOut connecting"]), "\(lines)")
    for line in lines {
      #expect([["fail timedOut connecting"], ["fail timedOut awaiting"]].contains(line))
    }
    #expect(connections.count == 6)
    loop.shutDown()
    listener.close()
    quiet.shutDown()
  }

  @Test func addressesOfVersion6() throws {
    let server: LoopbackServer
    do { server = try LoopbackServer(.answers([.ok("six")]), at: .loopback6) } catch {
      print("skipped: there is no IPv6 here (\(error))")
      return
    }
    defer { server.stop() }
    #expect(try Self.load(server.url(host: "[::1]")).last == "finish")
    #expect(try Self.load(server.url(host: "[0:0:0:0:0:0:0:1]")).last == "finish")
  }

  @Test(arguments: ["127.0.0.1", "127.1", "0x7f.1", "2130706433", "localhost"])
  func addressesOfVersion4(_ host: String) throws {
    let server = try LoopbackServer(.answers([.ok("four")]))
    defer { server.stop() }
    #expect(try Self.load(server.url(host: host)).last == "finish")
  }

  @Test func unixSockets() throws {
    let path = NSTemporaryDirectory() + "gannet-\(UUID().uuidString.prefix(8)).sock"
    let server = try LoopbackServer(.answers([.ok("local")]), at: .unix(path: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    var configuration = URLConnection.Configuration()
    configuration.unixSocketPath = path
    let log = CallbackLog()
    #expect(try Self.load("http://a.test/x", configuration, log).suffix(2) == ["data local", "finish"])
    #expect(log.responses.first?.urlString == "http://a.test/x")
    server.stop()
    #expect(try Self.load("http://a.test/x", configuration) == ["fail cannotConnectToHost connecting"])
    configuration.unixSocketPath = path + ".none"
    #expect(try Self.load("http://a.test/x", configuration) == ["fail cannotConnectToHost connecting"])
    configuration.unixSocketPath = String(repeating: "x", count: 500)
    #expect(try Self.load("http://a.test/x", configuration) == ["fail cannotConnectToHost connecting"])
  }

  /// The refusal of a long body, by servers that go on reading, close, or reset. Closing with bytes unread resets too.
  @Test(arguments: [ReceiveOutcome?.none, .endOfFile], [true, false])
  func aRefusalOfALongBodyArrives(_ ending: ReceiveOutcome?, _ readsOn: Bool) throws {
    let body = Data(repeating: 0x61, count: 16 << 20)
    let refusal = Answer.ok("big", status: "413 Too Large", "Connection: close\r\n", ending: ending)
    let server = try LoopbackServer(.answersEarly(after: 1 << 20, refusal, readsOn: readsOn))
    defer { server.stop() }
    let log = CallbackLog()
    let lines = try Self.load(server.url(), body: body, .init(), log)
    #expect(lines.filter { !$0.hasPrefix("sent") } == ["response 413 length 3", "data big", "finish"])
    #expect(lines.last { $0.hasPrefix("sent") } != "sent \(body.count)/\(body.count)", "the upload stopped")
  }

  /// A send meets the reset first and takes its error: what reading finds then is no end of the body.
  @Test func aResetWhileSendingIsNoEndOfABody() throws {
    let half = Answer("HTTP/1.1 200 OK\r\n\r\nhalf", ending: .failed(104))
    for _ in 0..<5 {
      let server = try LoopbackServer(.answersEarly(after: 1 << 20, half, readsOn: false))
      let log = CallbackLog()
      let lines = try Self.load(server.url(), body: Data(repeating: 0x61, count: 16 << 20), .init(), log)
      #expect(lines.last?.hasPrefix("fail networkConnectionLost") == true, "\(lines)")
      #expect(log.error?.cause == .system(errno: ECONNRESET))
      server.stop()
    }
  }

  @Test func aLongBodyGoesOutWhole() throws {
    let body = Data(repeating: 0x61, count: 8 << 20)
    let server = try LoopbackServer(.answers([.ok("got it")]))
    defer { server.stop() }
    let lines = try Self.load(server.url(), body: body)
    #expect(lines.last == "finish")
    #expect(lines.contains("sent \(body.count)/\(body.count)"))
    #expect(lines.count { $0.hasPrefix("sent") } >= 2)
  }

  @Test func aLongBodyComesInWhole() throws {
    let server = try LoopbackServer(.answers([.ok(String(repeating: "x", count: 8 << 20))]))
    defer { server.stop() }
    #expect(try Self.load(server.url()).suffix(2) == ["data \(8 << 20) bytes", "finish"])
  }

  @Test func aServerThatRestartsIsConnectedToAgain() throws {
    let first = try LoopbackServer(.answers([.ok("a")]))
    let address = first.address
    let loop = try EventLoop()
    for round in 0..<2 {
      let log = CallbackLog()
      _ = URLConnection(request: URLRequest(string: first.url()), delegate: log, on: .loop(loop.handle))
      let server = round == 0 ? first : try LoopbackServer(.answers([.ok("a")]), at: address)
      loop.run(until: .now + .seconds(5))
      #expect(log.finished().last == "finish")
      server.stop()
    }
    loop.shutDown()
  }
}
