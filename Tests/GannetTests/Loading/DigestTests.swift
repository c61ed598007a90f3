import Gannet
import GannetSockets
import GannetTLS
import TestSupport
import Testing

/// A server of the Digest scheme: computes what is right by itself, from what a request says.
private final class DigestServer {
  /// Challenges that are given one after the other, the last one for ever; `NONCE` becomes n1, n2 and so on.
  var challenges = ["Digest realm=\"r\", nonce=\"NONCE\", qop=\"auth\""]
  var passwords = ["u": "right"]
  /// How many answers a nonce is good for.
  var usesOfNonce = Int.max
  /// Whether a 401 says why a right answer is refused.
  var saysStale = true
  /// Fields of a 200.
  var fields = ""
  /// Gives the answer to a right request in place of 200.
  var accepted: ((String) -> Answer?)?

  /// The `Authorization` of every request, in order; "-" where there is none.
  private(set) var authorizations: [String] = []
  private var nonces = 0
  private var uses: [String: Int] = [:]

  /// The counts of the answers that came.
  var counts: [String] { authorizations.compactMap { Self.parameters($0)["nc"] } }

  func answer(_ request: String) -> Answer {
    let bytes = Array(request.utf8)
    let headEnd = bytes.indices.first { bytes[$0...].starts(with: "\r\n\r\n".utf8) } ?? bytes.count
    let lines = String(decoding: bytes[..<headEnd], as: UTF8.self).split(separator: "\r\n")
    let field = lines.first { $0.hasPrefix("Authorization: ") }?.dropFirst(15)
    authorizations.append(field.map(String.init) ?? "-")
    guard let field else { return challenge(isStale: false) }
    let parameters = Self.parameters(String(field))
    guard isRight(parameters, String(lines[0]), body: Array(bytes[headEnd...].dropFirst(4))) else {
      return challenge(isStale: false)
    }
    uses[parameters["nonce"] ?? "", default: 0] += 1
    guard uses[parameters["nonce"] ?? "", default: 0] <= usesOfNonce else {
      return challenge(isStale: saysStale)
    }
    return accepted?(request) ?? .ok("in", fields)
  }

  private func challenge(isStale: Bool) -> Answer {
    nonces += 1
    let value = challenges[min(nonces, challenges.count) - 1].replacing("NONCE", with: "n\(nonces)")
    let stale = isStale ? ", stale=true" : ""
    return .ok("no", status: "401 Unauthorized", "WWW-Authenticate: \(value)\(stale)\r\n")
  }

  private func isRight(_ parameters: [String: String], _ requestLine: String, body: [UInt8]) -> Bool {
    let user = parameters["username"] ?? ""
    let words = requestLine.split(separator: " ")
    guard let password = passwords[user], parameters["uri"] == String(words[1]) else { return false }
    let function: MessageDigest.Function =
      switch parameters["algorithm"]?.lowercased() {
      case nil, "md5", "md5-sess": .md5
      case "sha-256", "sha-256-sess": .sha256
      default: .sha512To256
      }
    func hash(_ text: String) -> String { hash(bytes: Array(text.utf8)) }
    func hash(bytes: [UInt8]) -> String {
      let digest = (try? MessageDigest.digest(of: bytes.span, function)) ?? []
      return digest.map { String($0 >> 4, radix: 16) + String($0 & 15, radix: 16) }.joined()
    }
    var secret = hash("\(user):\(parameters["realm"] ?? ""):\(password)")
    let (nonce, clientNonce) = (parameters["nonce"] ?? "", parameters["cnonce"] ?? "")
    if parameters["algorithm"]?.lowercased().hasSuffix("-sess") == true {
      secret = hash("\(secret):\(nonce):\(clientNonce)")
    }
    var first = "\(words[0]):\(parameters["uri"] ?? "")"
    if parameters["qop"] == "auth-int" { first += ":" + hash(bytes: body) }
    guard let quality = parameters["qop"] else {
      return parameters["response"] == hash("\(secret):\(nonce):\(hash(first))")
    }
    let count = parameters["nc"] ?? ""
    return count.utf8.count == 8
      && parameters["response"]
        == hash("\(secret):\(nonce):\(count):\(clientNonce):\(quality):\(hash(first))")
  }

  /// The parameters of an `Authorization`, without quotes.
  static func parameters(_ field: String) -> [String: String] {
    var found: [String: String] = [:]
    for part in field.dropFirst("Digest ".utf8.count).components(separatedBy: ", ") {
      guard let equals = part.firstIndex(of: "=") else { continue }
      found[String(part[..<equals])] = part[part.index(after: equals)...].filter { $0 != "\"" }
    }
    return found
  }
}

/// Digest challenges on a load, and the logins that a loop remembers (docs/CONTRACT.md, rule 8).
@Suite struct DigestTests {
  /// Loads on one loop, one after the other.
  private struct Bench: ~Copyable {
    let server: DigestServer
    let scripted: ScriptedServer
    let loop: EventLoop
    var configuration: URLConnection.Configuration

    init(_ server: DigestServer = DigestServer()) throws {
      self.server = server
      scripted = ScriptedServer([])
      // SAFETY of sharing: the server is used on the loop's one thread.
      scripted.choose = { server.answer($0) }
      loop = try EventLoop()
      configuration = Loading.configuration(scripted)
    }

    /// Loads these at once, and gives the callbacks of each.
    func load(_ requests: [URLRequest], _ logs: [CallbackLog]) -> [[String]] {
      let connections = zip(requests, logs).map { request, log in
        URLConnection(
          request: request, delegate: log, configuration: configuration, on: .loop(loop.handle))
      }
      loop.run(until: .now + .seconds(50))
      return zip(connections, logs).map { $0 == nil ? ["nil"] : $1.finished() }
    }

    func load(_ request: URLRequest, _ log: CallbackLog = CallbackLog()) -> [String] {
      load([request], [log])[0]
    }

    func load(_ url: String, _ log: CallbackLog = CallbackLog()) -> [String] {
      load(URLRequest(string: url), log)
    }

    deinit { loop.shutDown() }
  }

  private static let got = ["response 200 length 2", "data in", "finish"]
  private static let refused = ["response 401 length 2", "data no", "finish"]

  /// Answers with this password each time, or as long as nothing was refused.
  private static func answering(
    _ password: String = "right", _ persistence: URLCredential.Persistence = .none, onlyFirst: Bool = false
  ) -> CallbackLog {
    let log = CallbackLog()
    log.challengeAnswer = { challenge in
      let gives = !onlyFirst || challenge.previousFailureCount == 0
      let credential = URLCredential(user: "u", password: password, persistence: persistence)
      challenge.sender?.use(gives ? credential : nil, for: challenge)
    }
    return log
  }

  @Test(arguments: [
    "nonce=\"NONCE\"", "nonce=\"NONCE\", qop=\"auth,auth-int\"",
    "nonce=\"NONCE\", algorithm=MD5-sess, qop=auth",
    "nonce=\"NONCE\", algorithm=\"SHA-256\", qop=auth, opaque=\"\"",
    "nonce=\"NONCE\", algorithm=SHA-256-sess, qop=auth, charset=UTF-8",
    "nonce=\"NONCE\", algorithm=SHA-512-256, qop=\"auth-int\"",
  ])
  func aChallengeIsAnswered(_ parameters: String) throws {
    let bench = try Bench()
    bench.server.challenges = ["Digest realm=\"r\", \(parameters)"]
    #expect(bench.load("http://u:right@h/cgi?a=1&b=[x]").suffix(3) == Self.got)
    let authorizations = bench.server.authorizations
    #expect(authorizations.count == 2 && authorizations[0] == "-")
    #expect(authorizations[1].contains("uri=\"/cgi?a=1&b=%5Bx%5D\""))
    #expect(authorizations[1].contains("opaque=\"\"") == parameters.contains("opaque=\"\""))
  }

  @Test func theDelegateIsAskedByCocoasName() throws {
    let bench = try Bench()
    let log = Self.answering()
    #expect(bench.load("http://h/", log) == ["challenge r failures 0"] + Self.got)
    let space = log.challenges[0].protectionSpace
    #expect(space.authenticationMethod.rawValue == "NSURLAuthenticationMethodHTTPDigest")
    #expect(space.receivesCredentialSecurely && space.protocol == "http")
    #expect(log.challenges[0].failureResponse?.urlString == "http://h/")
  }

  /// A camera locks the account after a few wrong answers.
  @Test func aWrongPasswordIsSentOnce() throws {
    let bench = try Bench()
    #expect(bench.load("http://u:wrong@h/") == ["challenge r failures 1"] + Self.refused)
    let log = Self.answering("wrong", onlyFirst: true)
    #expect(bench.load("http://h/", log) == (0...1).map { "challenge r failures \($0)" } + Self.refused)
    #expect(log.challenges.last?.proposedCredential?.password == "wrong")
    #expect(bench.server.authorizations.count == 4)
  }

  @Test func aStaleNonceIsReplacedWithoutAWord() throws {
    let bench = try Bench()
    bench.server.usesOfNonce = 1
    let url = "http://u:right@h/"
    for _ in 0..<3 { #expect(bench.load(url) == Self.got) }
    // The first load asks; each later one sends its login at once, and again with the new nonce.
    #expect(bench.server.counts == ["00000001", "00000002", "00000001", "00000002", "00000001"])
    // Always stale: the delegate is asked in the end.
    bench.server.usesOfNonce = 0
    #expect(bench.load(url) == ["challenge r failures 1"] + Self.refused)
    #expect(bench.server.authorizations.count == 6 + 3)
  }

  /// A server that forgets its nonces and does not say so.
  @Test func aNonceThatIsForgottenIsReplacedOnce() throws {
    let bench = try Bench()
    bench.server.usesOfNonce = 1
    bench.server.saysStale = false
    for _ in 0..<2 { #expect(bench.load("http://u:right@h/") == Self.got) }
    #expect(bench.server.authorizations.count == 2 + 2)
    // The password was changed: one answer unasked, one with the new nonce, then the delegate.
    bench.server.passwords = [:]
    #expect(bench.load("http://u:right@h/") == ["challenge r failures 1"] + Self.refused)
    #expect(bench.server.authorizations.count == 4 + 2)
  }

  @Test func laterLoadsAnswerAtOnceAndNoCountIsSentTwice() throws {
    let bench = try Bench()
    #expect(bench.load("http://h/", Self.answering("right", .forSession)).last == "finish")
    let logs = (0..<4).map { _ in CallbackLog() }
    let lines = bench.load((0..<4).map { URLRequest(string: "http://h/\($0)") }, logs)
    #expect(lines == Array(repeating: Self.got, count: 4))
    #expect(bench.server.authorizations.first == "-")
    #expect(bench.server.authorizations.count == 6)
    #expect(bench.server.counts.sorted() == (1...5).map { "0000000\($0)" })
    // By the URL's credential it is the same login.
    #expect(bench.load("http://u:right@h/") == Self.got)
    #expect(bench.server.counts.last == "00000006")
  }

  /// What a load may not use unasked is not sent unasked.
  @Test func aLoginIsTheLoadsThatMayUseIt() throws {
    let bench = try Bench()
    // A credential for one load only.
    for _ in 0..<2 {
      #expect(bench.load("http://h/", Self.answering()) == ["challenge r failures 0"] + Self.got)
    }
    #expect(bench.server.authorizations.map { $0 == "-" } == [true, false, true, false])
    // Nor by another load that knows it: the login is not remembered at all.
    #expect(bench.load("http://u:right@h/") == Self.got)
    #expect(bench.server.authorizations.suffix(2).map { $0 == "-" } == [true, false])
    #expect(bench.load("http://h/", Self.answering("right", .forSession)).last == "finish")
    let before = bench.server.authorizations.count
    // The delegate forbids the storage.
    let log = CallbackLog()
    log.usesCredentialStorage = false
    #expect(bench.load("http://h/", log) == ["challenge r failures 0"] + Self.refused)
    // Another user's URL; another origin; the caller's own field.
    #expect(bench.load("http://v:right@h/").last == "finish")
    #expect(bench.load("http://h:81/").last == "finish")
    var request = URLRequest(string: "http://h/")
    request.setValue("own", forHTTPHeaderField: "Authorization")
    _ = bench.load(request)
    let first = bench.server.authorizations[before...]
    #expect(first.first == "-")
    #expect(first.contains("own"))
  }

  /// What a URL's credential got is for those who have that credential.
  @Test func aLoginIsSentUnaskedOnlyWithTheCredentialOfItsOwn() throws {
    let bench = try Bench()
    #expect(bench.load("http://u:right@h/") == Self.got)
    #expect(bench.load("http://u:wrong@h/") == ["challenge r failures 1"] + Self.refused)
    #expect(bench.load("http://h/") == ["challenge r failures 0"] + Self.refused)
    // The storage holds another one for the space.
    let space = URLProtectionSpace(
      host: "h", port: 80, protocol: "http", realm: "r", authenticationMethod: .httpDigest)
    let other = URLCredential(user: "u", password: "other", persistence: .forSession)
    bench.configuration.credentialStorage.setDefaultCredential(other, for: space)
    _ = bench.load("http://h/")
    #expect(bench.server.authorizations.map { $0 == "-" } == [true, false, true, false, true, true, false])
  }

  /// The delegate's credential for one load, and the stored one for where its redirect leads.
  @Test func aLoginOfTheStorageIsKeptBesideOneForThisLoad() throws {
    let bench = try Bench()
    bench.server.accepted = {
      $0.contains("Host: h\r\n") ? .ok("", status: "302 Found", "Location: http://o/\r\n") : nil
    }
    bench.server.passwords["v"] = "stored"
    let space = URLProtectionSpace(
      host: "o", port: 80, protocol: "http", realm: "r", authenticationMethod: .httpDigest)
    let stored = URLCredential(user: "v", password: "stored", persistence: .forSession)
    bench.configuration.credentialStorage.setDefaultCredential(stored, for: space)
    #expect(bench.load("http://h/", Self.answering()).suffix(3) == Self.got)
    #expect(bench.load("http://o/") == Self.got)
    #expect(bench.server.authorizations.map { $0 == "-" } == [true, false, true, false, false])
  }

  @Test func aLoadThatIsCancelledWhenItsStorageIsAskedSaysNothing() throws {
    final class Cancelling: URLConnectionDataDelegate {
      var lines: [String] = []
      func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool {
        connection.cancel()
        return true
      }
      func connection(_ connection: URLConnection, didReceive response: URLResponse) {
        lines.append("response")
      }
      func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
        lines.append("\(error)")
      }
    }
    let bench = try Bench()
    #expect(bench.load("http://h/", Self.answering("right", .forSession)).last == "finish")
    let delegate = Cancelling()
    _ = URLConnection(
      request: URLRequest(string: "http://h/"), delegate: delegate, configuration: bench.configuration,
      on: .loop(bench.loop.handle))
    bench.loop.run(until: .now + .seconds(50))
    #expect(delegate.lines == [])
    #expect(bench.server.authorizations.count == 2)
  }

  @Test func aRedirectIsAnsweredAnewAtItsOriginAlone() throws {
    let bench = try Bench()
    bench.server.accepted = { request in
      if request.hasPrefix("GET /a ") { return .ok("", status: "302 Found", "Location: /b\r\n") }
      if request.hasPrefix("GET /b ") { return .ok("", status: "302 Found", "Location: http://o/c\r\n") }
      return nil
    }
    let lines = bench.load("http://u:right@h/a")
    #expect(lines.suffix(4) == ["challenge r failures 0"] + Self.refused)
    let authorizations = bench.server.authorizations
    #expect(authorizations.count == 4)
    #expect(authorizations[2].contains("uri=\"/b\"") && authorizations[2].contains("nc=00000002"))
    #expect(authorizations[3] == "-")
  }

  /// A redirect may change the method; what is answered is the request that is sent.
  @Test func theMethodAfterARedirectIsHashed() throws {
    let bench = try Bench()
    bench.server.accepted = {
      $0.hasPrefix("POST ") ? .ok("", status: "303 See Other", "Location: /b\r\n") : nil
    }
    var request = URLRequest(string: "http://u:right@h/a")
    request.httpMethod = "POST"
    #expect(bench.load(request).suffix(3) == Self.got)
    #expect(bench.server.authorizations.map { $0 == "-" } == [true, false, false])
  }

  @Test func theNextNonceIsUsed() throws {
    let bench = try Bench()
    bench.server.fields = "Authentication-Info: nextnonce=\"later\", rspauth=\"00\"\r\n"
    bench.server.usesOfNonce = 1
    for _ in 0..<2 { #expect(bench.load("http://u:right@h/") == Self.got) }
    #expect(bench.server.authorizations.count == 3)
    #expect(bench.server.authorizations[2].contains("nonce=\"later\""))
    #expect(bench.server.counts == ["00000001", "00000001"])
  }

  @Test func aBodyIsSentAgainInFull() throws {
    for qop in ["auth", "auth-int"] {
      let bench = try Bench()
      bench.server.challenges = ["Digest realm=\"r\", nonce=\"NONCE\", qop=\"\(qop)\""]
      var request = URLRequest(string: "http://u:right@h/")
      request.httpMethod = "POST"
      request.httpBody = Data(repeating: 0x61, count: 1 << 20)
      #expect(bench.load(request).suffix(3) == Self.got)
      #expect(bench.server.authorizations.count == 2)
      #expect(bench.scripted.requests[0].utf8.count { $0 == 0x61 } >= 2 << 20)
    }
  }

  /// A body that is not at hand cannot be hashed: such a challenge is passed over.
  @Test func aStreamIsNotHashed() throws {
    for other in ["", ", Basic realm=\"b\""] {
      let bench = try Bench()
      bench.server.challenges = ["Digest realm=\"r\", nonce=\"NONCE\", qop=\"auth-int\"\(other)"]
      var request = URLRequest(string: "http://h/")
      request.httpMethod = "POST"
      request.body = .stream(length: 2) {
        AsyncStream {
          $0.yield(Data("ab".utf8)); $0.finish()
        }
      }
      let lines = bench.load(request)
      #expect(lines.contains("challenge b failures 0") == !other.isEmpty)
      #expect(lines.suffix(3) == Self.refused)
    }
    // Nor for a login that is known.
    let bench = try Bench()
    bench.server.challenges = ["Digest realm=\"r\", nonce=\"NONCE\", qop=\"auth-int\""]
    #expect(bench.load("http://u:right@h/") == Self.got)
    var request = URLRequest(string: "http://u:right@h/")
    request.httpMethod = "POST"
    request.body = .stream(length: 2) {
      AsyncStream {
        $0.yield(Data("ab".utf8)); $0.finish()
      }
    }
    #expect(bench.load(request).suffix(3) == Self.refused)
    #expect(bench.server.authorizations.map { $0 == "-" } == [true, false, true])
  }

  @Test func aSpacePassedOverLeadsToTheNext() throws {
    let bench = try Bench()
    bench.server.challenges = ["Digest realm=\"d\", nonce=\"NONCE\", Basic realm=\"b\""]
    let log = CallbackLog()
    log.challengeAnswer = { challenge in
      if challenge.protectionSpace.authenticationMethod == .httpDigest {
        challenge.sender?.rejectProtectionSpaceAndContinue(with: challenge)
      } else {
        challenge.sender?.cancel(challenge)
      }
    }
    #expect(
      bench.load("http://h/", log) == [
        "challenge d failures 0", "challenge b failures 0", "didCancel",
        "fail userCancelledAuthentication receiving",
      ])
    #expect(log.challenges.map(\.protectionSpace.authenticationMethod) == [.httpDigest, .httpBasic])
  }

  @Test func theQueryIsLeftOutWhereThatIsWanted() throws {
    var bench = try Bench()
    bench.configuration.digestOmitsQuery = true
    _ = bench.load("http://u:right@h/cgi?a=1")
    #expect(bench.server.authorizations.last?.contains("uri=\"/cgi\"") == true)
  }

  /// Each answer is another, so no later request would find what it got.
  @Test func whatADigestGotIsNotStored() throws {
    let bench = try Bench()
    bench.server.fields = "Cache-Control: max-age=60\r\nETag: \"v\"\r\n"
    for _ in 0..<2 { #expect(bench.load("http://u:right@h/") == Self.got) }
    #expect(bench.configuration.urlCache?.currentMemoryUsage == 0)
  }
}
