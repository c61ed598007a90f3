import Foundation
import Gannet
import GannetSockets
import GannetTLS
import TestSupport
import Testing

/// Loads over TLS on loopback: whose certificate is believed, in which words it is not, and how a connection may end.
@Suite struct SecureTests {
  private static let authority = Result { try CertificateAuthority() }
  private static let day: Int64 = 86_400
  private static var now: Int64 { Int64(Date().timeIntervalSince1970) }

  private static func identity(_ hosts: [String], from: Int64 = -1, to: Int64 = 30) throws
    -> CertificateIdentity
  {
    try authority.get().issue(
      CertificateTemplate(hosts: hosts, notBefore: now + from * day, notAfter: now + to * day))
  }

  private static func trusting() throws -> URLConnection.Configuration {
    var configuration = URLConnection.Configuration()
    configuration.trust = .pem(String(decoding: try authority.get().certificatePEM, as: UTF8.self))
    return configuration
  }

  private static func load(
    _ server: LoopbackServer, host: String = "127.0.0.1", timeout: Double = 20, body: Data? = nil,
    _ configuration: URLConnection.Configuration, _ log: CallbackLog = CallbackLog()
  ) throws -> [String] {
    try SocketTests.load(server.url("https", host: host), timeout: timeout, body: body, configuration, log)
  }

  @Test(arguments: ["127.0.0.1", "localhost", "LOCALHOST"])
  func aCertificateThatHolds(_ host: String) throws {
    let server = try LoopbackServer(
      .answers([.ok("in")]), identity: try Self.identity(["127.0.0.1", "localhost"]))
    defer { server.stop() }
    let lines = try Self.load(server, host: host, try Self.trusting())
    #expect(lines.suffix(2) == ["data in", "finish"])

    let path = NSTemporaryDirectory() + "gannet-\(UUID().uuidString.prefix(8)).pem"
    try Data(try Self.authority.get().certificatePEM).write(to: URL(fileURLWithPath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    var configuration = URLConnection.Configuration()
    configuration.trust = .file(path)
    #expect(try Self.load(server, host: host, configuration).last == "finish")
  }

  /// A stream in chunks, past what a socket and TLS hold, with a wait for 100 that never comes.
  @Test func aStreamOverTLS() throws {
    let server = try LoopbackServer(.answers([.ok("in")]), identity: try Self.identity(["127.0.0.1"]))
    defer { server.stop() }
    var configuration = try Self.trusting()
    configuration.expectContinueTimeLimit = .milliseconds(10)
    configuration.collectsMetrics = true
    var request = URLRequest(string: server.url("https"))
    request.httpMethod = "PUT"
    request.setValue("100-continue", forHTTPHeaderField: "Expect")
    request.body = .stream(trailers: ["X": "y"]) {
      AsyncStream { pieces in
        for _ in 0..<50 { pieces.yield(Data(repeating: 0x61, count: 100_000)) }
        pieces.finish()
      }
    }
    let log = CallbackLog()
    let loop = try EventLoop()
    defer { loop.shutDown() }
    _ = URLConnection(request: request, delegate: log, configuration: configuration, on: .loop(loop.handle))
    loop.run(until: .now + .seconds(20))
    let lines = log.finished()
    #expect(lines.suffix(4) == ["response 200 length 2", "data in", "metrics", "finish"], "\(lines)")
    #expect(lines.last { $0.hasPrefix("sent") } == "sent 5000000/-1")
    let transaction = try #require(log.metrics?.transactions.first)
    #expect(transaction.tlsVersion?.hasPrefix("TLSv1") == true && transaction.tlsCipher != nil)
    #expect(transaction.countOfRequestBodyBytesSent > 5_000_000)
  }

  @Test func anOlderVersionAndAnAddressOfVersion6() throws {
    let old = try LoopbackServer(
      .answers([.ok("in")]), identity: try Self.identity(["127.0.0.1"]), maximumVersion: .tls12)
    #expect(try Self.load(old, try Self.trusting()).last == "finish")
    old.stop()
    guard
      let six = try? LoopbackServer(
        .answers([.ok("in")]), at: .loopback6, identity: try Self.identity(["::1"]))
    else {
      print("skipped: there is no IPv6 here")
      return
    }
    #expect(try Self.load(six, host: "[::1]", try Self.trusting()).last == "finish")
    six.stop()
  }

  enum Flaw: CaseIterable, Sendable {
    case wrongHost, addressAsName, expired, notYetValid, selfSigned, unknownAuthority, unknownToTheSystem,
      noFile
  }

  @Test(arguments: Flaw.allCases)
  func aCertificateThatDoesNotHoldIsRefusedInWords(_ flaw: Flaw) throws {
    var configuration = try Self.trusting()
    var identity = try Self.identity(["127.0.0.1"])
    let expected: (code: ConnectionError.Code, words: String)
    switch flaw {
    case .wrongHost:
      identity = try Self.identity(["a.test", "b.test"])
      expected = (.serverCertificateUntrusted, "the certificate is for a.test, b.test, not for 127.0.0.1")
    case .addressAsName:
      let template = CertificateTemplate(names: [.dns(Array("127.0.0.1".utf8))], commonName: "127.0.0.1")
      identity = try Self.authority.get().issue(template)
      expected = (.serverCertificateUntrusted, "not for 127.0.0.1")
    case .expired:
      identity = try Self.identity(["127.0.0.1"], from: -9, to: -2)
      expected = (.serverCertificateHasBadDate, "expired on")
    case .notYetValid:
      identity = try Self.identity(["127.0.0.1"], from: 2, to: 9)
      expected = (.serverCertificateNotYetValid, "not valid before")
    case .selfSigned:
      identity = try CertificateAuthority.selfSigned(CertificateTemplate(hosts: ["127.0.0.1"]))
      expected = (.serverCertificateUntrusted, "self-signed")
    case .unknownAuthority:
      identity = try CertificateAuthority().issue(CertificateTemplate(hosts: ["127.0.0.1"]))
      expected = (.serverCertificateHasUnknownRoot, "authority is not known")
    case .unknownToTheSystem:
      configuration.trust = .system
      expected = (.serverCertificateHasUnknownRoot, "authority is not known")
    case .noFile:
      configuration.trust = .file("/nonexistent/authorities.pem")
      expected = (.secureConnectionFailed, "/nonexistent/authorities.pem")
    }
    let server = try LoopbackServer(.answers([.ok("in")]), identity: identity)
    defer { server.stop() }
    let log = CallbackLog()
    let lines = try Self.load(server, configuration, log)
    // A machine without a store of authorities says so.
    if flaw == .unknownToTheSystem, log.error?.code == .secureConnectionFailed { return }
    #expect(lines == ["fail \(expected.code.name) handshaking"])
    #expect(log.error?.reason.contains(expected.words) == true, "\(log.error?.reason ?? "")")
    guard case .tls? = log.error?.cause else {
      Issue.record("\(String(describing: log.error?.cause))")
      return
    }
    configuration.trust = .unverified
    #expect(try Self.load(server, configuration).last == "finish")
  }

  @Test func aServerThatSpeaksPlainHTTPIsNamed() throws {
    let plain = try LoopbackServer(.greets(Answer("HTTP/1.1 400 Bad Request\r\n\r\n", ending: .endOfFile)))
    let log = CallbackLog()
    #expect(try Self.load(plain, try Self.trusting(), log) == ["fail secureConnectionFailed handshaking"])
    #expect(log.error?.reason.contains("plain HTTP") == true, "\(log.error?.reason ?? "")")
    plain.stop()
  }

  @Test func aHandshakeThatIsNotAnswered() throws {
    let failed = "fail secureConnectionFailed handshaking"
    for (conduct, expected) in [
      (LoopbackServer.Conduct.silent, ["fail timedOut handshaking"]),
      (.closes, [failed]),
      // A reset may reach us while we still connect.
      (.resets, [failed, "fail cannotConnectToHost connecting"]),
      (.greets(Answer("SSH-2.0-x\r\n")), [failed]),
    ] {
      let server = try LoopbackServer(conduct)
      let isSilent = if case .silent = conduct { true } else { false }
      let lines = try Self.load(server, timeout: isSilent ? 0.2 : 20, try Self.trusting())
      #expect(lines.count == 1 && expected.contains(lines[0]), "\(conduct): \(lines)")
      server.stop()
    }
  }

  @Test(arguments: [
    ("Content-Length: 5\r\n\r\nhello", true, true), ("Content-Length: 5\r\n\r\nhello", false, true),
    ("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n0\r\n\r\n", false, true),
    ("\r\nhello", true, true), ("\r\nhello", false, false),
    ("Content-Length: 9\r\n\r\nhello", true, false), ("Content-Length: 9\r\n\r\nhello", false, false),
    ("Transfer-Encoding: chunked\r\n\r\n5\r\nhello\r\n", false, false),
  ])
  func theEndOfAConnection(_ rest: String, _ saysGoodbye: Bool, _ isComplete: Bool) throws {
    let server = try LoopbackServer(
      .answers([Answer("HTTP/1.1 200 OK\r\n" + rest, ending: .endOfFile)]),
      identity: try Self.identity(["127.0.0.1"]), saysGoodbye: saysGoodbye)
    defer { server.stop() }
    let lines = try Self.load(server, try Self.trusting())
    #expect(lines.dropFirst().first == "data hello")
    #expect(lines.last == (isComplete ? "finish" : "fail networkConnectionLost receiving"))
  }

  @Test func aResetIsToldAsOne() throws {
    let server = try LoopbackServer(
      .answers([Answer("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhello", ending: .failed(104))]),
      identity: try Self.identity(["127.0.0.1"]), saysGoodbye: false)
    defer { server.stop() }
    let log = CallbackLog()
    #expect(
      try Self.load(server, try Self.trusting(), log).last?.hasPrefix("fail networkConnectionLost") == true)
    #expect(log.error?.cause == .system(errno: ECONNRESET))
  }

  @Test func longBodiesBothWays() throws {
    let answer = Answer.ok(String(repeating: "x", count: 5 << 20))
    let server = try LoopbackServer(.answers([answer]), identity: try Self.identity(["127.0.0.1"]))
    defer { server.stop() }
    let lines = try Self.load(server, body: Data(repeating: 0x61, count: 5 << 20), try Self.trusting())
    #expect(lines.suffix(2) == ["data \(5 << 20) bytes", "finish"])
    #expect(lines.contains("sent \(5 << 20)/\(5 << 20)"))
  }

  /// Without a close_notify, within a request: a whole answer is one, and nothing is not something cut short.
  @Test(arguments: [("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin", true), ("", false)])
  func theEndOfAConnectionWithinARequest(_ answer: String, _ isComplete: Bool) throws {
    let server = try LoopbackServer(
      .answersEarly(after: 1, Answer(answer, ending: .endOfFile), readsOn: true),
      identity: try Self.identity(["127.0.0.1"]), saysGoodbye: false)
    defer { server.stop() }
    var request = URLRequest(string: server.url("https"), timeoutInterval: 5)
    request.httpMethod = "POST"
    request.body = .stream { AsyncStream<Data> { _ in } }
    let log = CallbackLog()
    let lines = try Loading.run(request, try Self.trusting(), log)
    if isComplete {
      #expect(lines == ["response 200 length 2", "data in", "finish"])
    } else {
      #expect(lines == ["fail networkConnectionLost sending"])
      #expect(log.error?.reason == "the connection ended without a response")
    }
  }

  /// TLS takes a piece whole of which the socket takes a part, and it may be the last one: one of these bodies ends just
  /// where a socket is full.
  @Test func theLastPieceMeetsAFullSocket() throws {
    let piece = 256 * 1024
    for pieces in 12...26 {
      let server = try LoopbackServer(
        .dozes(.milliseconds(150), .ok("in")), identity: try Self.identity(["127.0.0.1"]))
      let lines = try Self.load(
        server, timeout: 3, body: Data(repeating: 0x61, count: pieces * piece), try Self.trusting())
      #expect(lines.last == "finish", "\(pieces): \(lines)")
      server.stop()
    }
  }

  /// The server closes each connection behind its answer: none is used again, and nothing fails.
  @Test(arguments: [true, false])
  func closedConnectionsAreNotUsedAgain(_ saysGoodbye: Bool) throws {
    let server = try LoopbackServer(
      .answers([.ok("x", ending: .endOfFile)]), identity: try Self.identity(["127.0.0.1"]),
      saysGoodbye: saysGoodbye)
    defer { server.stop() }
    let loop = try EventLoop()
    for _ in 0..<10 {
      let request = URLRequest(string: server.url("https"))
      let log = CallbackLog()
      _ = URLConnection(
        request: request, delegate: log, configuration: try Self.trusting(), on: .loop(loop.handle))
      loop.run(until: .now + .seconds(5))
      #expect(log.finished().last == "finish")
    }
    loop.shutDown()
  }
}
