import Dispatch
import Gannet
import GannetSockets
import TestSupport
import Testing

/// Challenges, mostly Basic ones (`DigestTests` has the others): who is asked, what is sent, and what an answer that
/// comes later does (docs/CONTRACT.md, rule 8).
@Suite struct ChallengeTests {
  private static func unauthorized(
    _ fields: String = "WWW-Authenticate: Basic realm=\"r\"\r\n", body: String = "no",
    ending: ReceiveOutcome? = nil
  ) -> Answer {
    .ok(body, status: "401 Unauthorized", fields, ending: ending)
  }

  private static func credential(
    _ user: String, _ password: String, _ persistence: URLCredential.Persistence = .none
  ) -> URLCredential {
    URLCredential(user: user, password: password, persistence: persistence)
  }

  /// What follows `Authorization: ` in each request; "-" where there is none.
  private static func authorizations(_ server: ScriptedServer) -> [String] {
    server.requests.flatMap { $0.components(separatedBy: "GET ").dropFirst() }.map { request in
      guard let start = request.firstRange(of: "Authorization: ")?.upperBound else { return "-" }
      return String(request[start...].prefix { $0 != "\r\n" })
    }
  }

  @Test func theCredentialOfTheURLIsUsedAfterAChallenge() throws {
    let server = ScriptedServer([[Self.unauthorized(), .ok("in")]])
    let log = CallbackLog()
    let lines = try Loading.run(
      URLRequest(string: "http://u%40x:p%3Aw@h/"), Loading.configuration(server), log)
    #expect(lines == ["response 200 length 2", "data in", "finish"])
    #expect(Self.authorizations(server) == ["-", "Basic dUB4OnA6dw=="])
    #expect(!server.requests[0].contains("p%3Aw"))
    #expect(log.responses[0].urlString == "http://h/")
  }

  /// A camera locks the account after a few wrong answers: one that was refused is not sent again by itself.
  @Test(arguments: [false, true])
  func aWrongPasswordIsTriedOnce(_ isStoredToo: Bool) throws {
    let server = ScriptedServer([Array(repeating: Self.unauthorized(), count: 9)])
    let configuration = Loading.configuration(server)
    let wrong = Self.credential("u", "wrong", .forSession)
    if isStoredToo {
      let space = URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: "r")
      configuration.credentialStorage.setDefaultCredential(wrong, for: space)
    }
    let log = CallbackLog()
    let lines = try Loading.run(URLRequest(string: "http://u:wrong@h/"), configuration, log)
    #expect(lines == ["challenge r failures 1", "response 401 length 2", "data no", "finish"])
    #expect(Self.authorizations(server).count == 2)
    #expect(log.challenges[0].proposedCredential?.user == "u")
    #expect(log.challenges[0].failureResponse?.urlString == "http://h/")
  }

  @Test(arguments: [true, false])
  func theStorageIsAskedBeforeTheDelegate(_ isAllowed: Bool) throws {
    let server = ScriptedServer([[Self.unauthorized(), isAllowed ? .ok("in") : Self.unauthorized()]])
    let configuration = Loading.configuration(server)
    let space = URLProtectionSpace(host: "h", port: 80, protocol: "http", realm: "r")
    configuration.credentialStorage.setDefaultCredential(Self.credential("u", "p", .forSession), for: space)
    let log = CallbackLog()
    log.usesCredentialStorage = isAllowed
    let lines = try Loading.run(URLRequest(string: "http://h/"), configuration, log)
    if isAllowed {
      #expect(lines == ["response 200 length 2", "data in", "finish"])
      #expect(Self.authorizations(server) == ["-", "Basic dTpw"])
    } else {
      #expect(lines == ["challenge r failures 0", "response 401 length 2", "data no", "finish"])
    }
  }

  @Test func anAcceptedCredentialIsKeptAsItsPersistenceSays() throws {
    for persistence in [URLCredential.Persistence.none, .forSession] {
      let server = ScriptedServer([[Self.unauthorized(), .ok("in")]])
      let configuration = Loading.configuration(server)
      let log = CallbackLog()
      log.challengeAnswer = { $0.sender?.use(Self.credential("u", "p", persistence), for: $0) }
      #expect(try Loading.run(URLRequest(string: "http://h/"), configuration, log).last == "finish")
      #expect(configuration.credentialStorage.allCredentials.isEmpty == (persistence == .none))
    }
    // One of a realm without end is not.
    let realm = String(repeating: "r", count: URLCredentialStorage.maximumKeptRealmBytes + 1)
    let flood = ScriptedServer([
      [Self.unauthorized("WWW-Authenticate: Basic realm=\"\(realm)\"\r\n"), .ok("in")]
    ])
    let bounded = Loading.configuration(flood)
    let answering = CallbackLog()
    answering.challengeAnswer = { $0.sender?.use(Self.credential("u", "p", .forSession), for: $0) }
    #expect(try Loading.run(URLRequest(string: "http://h/"), bounded, answering).last == "finish")
    #expect(bounded.credentialStorage.allCredentials.isEmpty)
    // A refused one is not.
    let server = ScriptedServer([Array(repeating: Self.unauthorized(), count: 3)])
    let configuration = Loading.configuration(server)
    let log = CallbackLog()
    log.challengeAnswer = { challenge in
      guard challenge.previousFailureCount < 1 else {
        challenge.sender?.continueWithoutCredential(for: challenge)
        return
      }
      challenge.sender?.use(Self.credential("u", "p", .forSession), for: challenge)
    }
    #expect(try Loading.run(URLRequest(string: "http://h/"), configuration, log).last == "finish")
    #expect(configuration.credentialStorage.allCredentials.isEmpty)
  }

  @Test func theDelegateMayAnswerAsOftenAsItLikes() throws {
    let server = ScriptedServer([Array(repeating: Self.unauthorized(), count: 9)])
    let log = CallbackLog()
    log.challengeAnswer = { challenge in
      let count = challenge.previousFailureCount
      challenge.sender?.use(count < 4 ? Self.credential("u", "\(count)") : nil, for: challenge)
      challenge.sender?.cancel(challenge)  // the first answer counts
    }
    let lines = try Loading.run(URLRequest(string: "http://h/"), Loading.configuration(server), log)
    #expect(
      lines == (0...4).map { "challenge r failures \($0)" }
        + ["response 401 length 2", "data no", "finish"])
    #expect(log.challenges.map { $0.proposedCredential?.password } == [nil, "0", "1", "2", "3"])
    #expect(server.peers.count == 1)
  }

  enum Reply: CaseIterable, Sendable { case use, nothing, without, byDefault, reject, cancel, colon, load }
  /// How the 401 comes: its body's length, and whether the server closes the connection behind it, or resets it.
  enum Shape: CaseIterable, Sendable { case empty, short, chunked, closes, resets, untilClose }

  private static func answer(_ shape: Shape) -> Answer {
    let basic = "WWW-Authenticate: Basic realm=\"r\"\r\n"
    return switch shape {
    case .empty: unauthorized(body: "")
    case .short: unauthorized()
    case .chunked: Answer("HTTP/1.1 401 U\r\n\(basic)Transfer-Encoding: chunked\r\n\r\n2\r\nno\r\n0\r\n\r\n")
    case .closes: unauthorized("Connection: close\r\n" + basic, ending: .endOfFile)
    case .resets: unauthorized("Connection: close\r\n" + basic, ending: .failed(104))
    case .untilClose: Answer("HTTP/1.0 401 U\r\n\(basic)\r\nno", ending: .endOfFile)
    }
  }

  /// Every answer, given at once or later from another thread, to every shape of response.
  @Test(arguments: Reply.allCases, Shape.allCases)
  func theAnswerMayComeLaterAndFromAnotherThread(_ reply: Reply, _ shape: Shape) throws {
    for isLater in [false, true] {
      for cut in [Cut.whole, .everyByte] {
        let server = ScriptedServer([[Self.answer(shape), .ok("in")], [.ok("in")]], cut: cut)
        let log = CallbackLog()
        log.challengeAnswer = { [unowned log] challenge in
          let loading = log.current
          let answer = { @Sendable in Self.give(reply, challenge, loading) }
          if isLater {
            DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2), execute: answer)
          } else {
            answer()
          }
        }
        let lines = try Loading.run(URLRequest(string: "http://h/"), Loading.configuration(server), log)
        let body = shape == .empty ? [] : ["data no"]
        let length = [.untilClose, .chunked].contains(shape) ? -1 : shape == .empty ? 0 : 2
        switch reply {
        case .use:
          #expect(Array(lines.dropFirst()) == ["response 200 length 2", "data in", "finish"])
          #expect(server.peers.count == ([.empty, .short, .chunked].contains(shape) ? 1 : 2))
        case .cancel:
          #expect(Array(lines.dropFirst()) == ["didCancel", "fail userCancelledAuthentication receiving"])
        case .load: #expect(lines.count == 1)
        case .nothing, .without, .byDefault, .reject, .colon:
          #expect(
            Array(lines.dropFirst()) == ["response 401 length \(length)"] + body + ["finish"],
            "\(cut) \(isLater)")
        }
      }
    }
  }

  private static func give(
    _ reply: Reply, _ challenge: URLAuthenticationChallenge, _ connection: URLConnection?
  ) {
    switch reply {
    case .use: challenge.sender?.use(credential("u", "p"), for: challenge)
    case .nothing: challenge.sender?.use(nil, for: challenge)
    case .without: challenge.sender?.continueWithoutCredential(for: challenge)
    case .byDefault: challenge.sender?.performDefaultHandling(for: challenge)
    case .reject: challenge.sender?.rejectProtectionSpaceAndContinue(with: challenge)
    case .cancel: challenge.sender?.cancel(challenge)
    case .colon: challenge.sender?.use(credential("u:v", "p"), for: challenge)
    case .load:
      connection?.cancel()
      challenge.sender?.use(credential("u", "p"), for: challenge)
    }
  }

  /// Asked for nothing, told nothing: the response is delivered.
  @Test(arguments: [
    "HTTP/1.1 401 U\r\nContent-Length: 2\r\n\r\nno",
    "HTTP/1.1 401 U\r\nWWW-Authenticate: Digest realm=\"r\", nonce=\"n\", qop=x\r\nContent-Length: 2\r\n\r\nno",
    "HTTP/1.1 401 U\r\nWWW-Authenticate: NTLM\r\nContent-Length: 2\r\n\r\nno",
    "HTTP/1.1 407 P\r\nProxy-Authenticate: Basic realm=\"r\"\r\nContent-Length: 2\r\n\r\nno",
    "HTTP/1.1 403 F\r\nWWW-Authenticate: Basic realm=\"r\"\r\nContent-Length: 2\r\n\r\nno",
  ])
  func whatIsNoChallengeIsDelivered(_ answer: String) throws {
    let lines = try Loading.run("http://u:p@h/", [Answer(answer), .ok("in")])
    #expect(Array(lines.dropFirst()) == ["data no", "finish"])
  }

  @Test func aDelegateWithoutMethodsLeavesThe401ToItself() throws {
    final class Mute: URLConnectionDelegate {}
    let server = ScriptedServer([[Self.unauthorized(), .ok("in")], [Self.unauthorized(), .ok("in")]])
    for delegate in [Mute(), nil] as [Mute?] {
      let loop = try EventLoop()
      _ = URLConnection(
        request: URLRequest(string: "http://h/"), delegate: delegate,
        configuration: Loading.configuration(server), on: .loop(loop.handle))
      let begun = ContinuousClock.now
      loop.run(until: .now + .seconds(5))
      #expect(ContinuousClock.now - begun < .seconds(4))
      loop.shutDown()
    }
    #expect(server.requests.allSatisfy { !$0.contains("Authorization") })
  }

  @Test(arguments: [
    ("Basic", "-"), ("Basic realm=foo", "foo"), ("Basic realm=\"", ""), ("Basic realm=''", "''"),
    ("basic REALM=\"x\"", "x"), ("Digest realm=\"d\", nonce=\"n\", Basic realm=\"b\"", "d"),
    ("Digest realm=\"d\", Basic realm=\"b\"", "b"), ("Digest nonce=\"n\"", "-"),
  ])
  func realmsAreReadAsTheyCome(_ value: String, _ realm: String) throws {
    let lines = try Loading.run("http://h/", [Self.unauthorized("WWW-Authenticate: \(value)\r\n")])
    #expect(lines.first == "challenge \(realm) failures 0")
    #expect(lines.last == "finish")
  }

  @Test func aRedirectAfterAChallengeTakesThreeRequests() throws {
    let server = ScriptedServer([
      [Self.unauthorized(), .ok("", status: "302 Found", "Location: /b\r\n"), .ok("B")]
    ])
    let log = CallbackLog()
    let lines = try Loading.run(URLRequest(string: "http://u:p@h/a"), Loading.configuration(server), log)
    #expect(lines.last == "finish")
    #expect(server.requests[0].components(separatedBy: "GET /").count == 4)
    #expect(log.responses.last?.urlString.hasSuffix("/b") == true)
  }

  @Test func anAnswerDoesNotFollowARedirectToAnotherOrigin() throws {
    let server = ScriptedServer([
      [Self.unauthorized(), .ok("", status: "302 Found", "Location: http://o/b\r\n"), .ok("C")],
      [.ok("", status: "302 Found", "Location: http://h/c\r\n")],
    ])
    let log = CallbackLog()
    log.challengeAnswer = { $0.sender?.use(Self.credential("u", "p"), for: $0) }
    let lines = try Loading.run(URLRequest(string: "http://h/a"), Loading.configuration(server), log)
    #expect(lines.last == "finish")
    // Connection by connection: /a, /a, /c; then /b.
    #expect(Self.authorizations(server) == ["-", "Basic dTpw", "-", "-"])
  }

  @Test func aBodyIsSentAgainInFull() throws {
    let body = Data(repeating: 0x61, count: 1 << 20)
    let server = ScriptedServer([[Self.unauthorized(), .ok("in")]])
    var request = URLRequest(string: "http://u:p@h/")
    request.httpMethod = "POST"
    request.httpBody = body
    let lines = try Loading.run(request, Loading.configuration(server))
    #expect(lines.last == "finish")
    let heads = server.requests[0].components(separatedBy: "POST / HTTP/1.1").dropFirst()
    #expect(heads.count == 2)
    for head in heads { #expect(head.utf8.count { $0 == 0x61 } >= body.count) }
    #expect(server.peers.count == 1)
  }

  @Test func aLongBodyOfA401CostsItsConnection() throws {
    let server = ScriptedServer([
      [Self.unauthorized(body: String(repeating: "n", count: 100_000))], [.ok("in")],
    ])
    let lines = try Loading.run(URLRequest(string: "http://u:p@h/"), Loading.configuration(server))
    #expect(lines.last == "finish")
    #expect(server.peers.count == 2)
    #expect(server.peers[0].isClosed)
  }

  /// The inactivity clock stands while an answer is awaited.
  @Test func aLateAnswerIsNoTimeOut() throws {
    var request = URLRequest(string: "http://h/")
    request.timeoutInterval = 0.03
    let server = ScriptedServer([[Self.unauthorized(), .ok("in")]])
    let log = CallbackLog()
    log.challengeAnswer = { challenge in
      DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(120)) {
        challenge.sender?.use(Self.credential("u", "p"), for: challenge)
      }
    }
    #expect(try Loading.run(request, Loading.configuration(server), log).last == "finish")
  }
}
