import GannetHTTP
import GannetPolicy
import Testing

@Suite("DigestSessions")
struct DigestSessionsTests {
  private let origin = Origin(scheme: "http", host: "h", port: 80)
  private let noBody: [UInt8] = []

  // The client nonces are c1, c2 and so on.
  private func sessions() -> DigestSessions {
    let count = Counter()
    return DigestSessions(digest: digest) { "c\(count.next())" }
  }

  /// A parameter of the next answer, without its quotes.
  private func next(_ name: String, _ login: DigestLogin, _ sessions: inout DigestSessions) throws -> String {
    let made = sessions.answer(login, method: "GET", target: "/", body: noBody.span)
    // Behind the nonce, which may be long.
    let field = Array(try #require(made).suffix(120)).text
    let part = try #require(field.split(separator: ", ").first { $0.hasPrefix("\(name)=") })
    return part.dropFirst(name.utf8.count + 1).filter { $0 != "\"" }
  }

  @Test("a nonce's count goes up by one a request, whoever asks, and begins at 1 with each nonce")
  func counts() throws {
    var sessions = sessions()
    let (first, second) = (try digestLogin(nonce: "n"), try digestLogin(nonce: "m"))
    let other = try digestLogin(nonce: "n", user: "v")
    #expect(try next("nc", first, &sessions) == "00000001")
    #expect(try next("nc", first, &sessions) == "00000002")
    #expect(try next("nc", second, &sessions) == "00000001")
    #expect(try next("nc", other, &sessions) == "00000003")
    var elsewhere = first
    elsewhere.origin = Origin(scheme: "https", host: "h", port: 443)
    #expect(try next("nc", elsewhere, &sessions) == "00000001")
    for _ in 0..<12 { _ = try next("nc", second, &sessions) }
    #expect(try next("nc", second, &sessions) == "0000000e")
  }

  @Test("a nonce keeps its client nonce: what a session is hashed with does not change")
  func clientNonces() throws {
    var sessions = sessions()
    let (first, second) = (try digestLogin(nonce: "n"), try digestLogin(nonce: "m"))
    #expect(try next("cnonce", first, &sessions) == "c1")
    #expect(try next("cnonce", second, &sessions) == "c2")
    #expect(try next("cnonce", first, &sessions) == "c1")
  }

  @Test("the server's next nonce goes on with the session: RFC 7616 section 3.4.2 hashes the first one")
  func nextNonce() throws {
    var sessions = sessions()
    let login = try digestLogin(nonce: "n", more: ", qop=auth, algorithm=MD5-sess")
    #expect(try next("nc", login, &sessions) == "00000001")
    sessions.renew(login, nonce: Array("m".utf8))
    var renewed = login
    renewed.challenge.nonce = Array("m".utf8)
    let expected = DigestAnswer(renewed, count: 1, clientNonce: "c1", firstNonce: Array("n".utf8))
      .authorization(method: "GET", target: "/", body: noBody.span, digest)
    let made = sessions.answer(renewed, method: "GET", target: "/", body: noBody.span)
    #expect(made == expected && expected != nil)
    // The same again, and one of a session that is not known, change nothing.
    sessions.renew(login, nonce: Array("m".utf8))
    sessions.renew(login, nonce: Array("n".utf8))
    sessions.renew(try digestLogin(nonce: "unknown"), nonce: Array("x".utf8))
    #expect(try next("nc", renewed, &sessions) == "00000002")
    #expect(try next("nc", login, &sessions) == "00000002")
  }

  @Test("logins are remembered by origin, realm and user, the last one first, until they are refused")
  func logins() throws {
    var sessions = sessions()
    let (old, new) = (try digestLogin(nonce: "n"), try digestLogin(nonce: "m"))
    let other = try digestLogin(nonce: "o", user: "v")
    #expect(sessions.logins(of: origin) == [])
    sessions.keep(old)
    sessions.keep(other)
    sessions.keep(new)
    #expect(sessions.logins(of: origin) == [new, other])
    #expect(sessions.logins(of: Origin(scheme: "http", host: "h", port: 81)) == [])
    // A refusal of the old nonce comes late: the new one has been accepted since.
    sessions.drop(old)
    #expect(sessions.logins(of: origin) == [new, other])
    sessions.drop(new)
    #expect(sessions.logins(of: origin) == [other])
    // The same user in another realm, and at another origin, is another login.
    var (realm, elsewhere) = (other, other)
    realm.challenge.realm = Array("s".utf8)
    elsewhere.origin = Origin(scheme: "http", host: "h", port: 81)
    sessions.keep(realm)
    sessions.keep(elsewhere)
    #expect(sessions.logins(of: origin) == [realm, other])
    #expect(sessions.logins(of: elsewhere.origin) == [elsewhere])
  }

  @Test("what is remembered is limited, and what is forgotten begins anew")
  func limits() throws {
    var sessions = sessions()
    for index in 0...DigestSessions.maximumLogins {
      sessions.keep(try digestLogin(nonce: "n", user: "\(index)"))
    }
    let users = sessions.logins(of: origin).map(\.credential.user)
    #expect(users.count == DigestSessions.maximumLogins && users.last == "1")
    let long = String(repeating: "n", count: DigestSessions.maximumChallengeBytes)
    sessions.keep(try digestLogin(nonce: long, user: "long"))
    #expect(sessions.logins(of: origin).first?.credential.user != "long")
    let first = try digestLogin(nonce: "first")
    _ = try next("nc", first, &sessions)
    let huge = String(repeating: "n", count: DigestSessions.maximumNonceBytes / 4)
    for end in ["a", "b", "c"] {
      #expect(try next("nc", digestLogin(nonce: huge + end), &sessions) == "00000001")
    }
    #expect(try next("nc", first, &sessions) == "00000001")
    // One that is too long to be remembered is answered all the same.
    let tooLong = try digestLogin(nonce: String(repeating: "n", count: DigestSessions.maximumNonceBytes))
    for _ in 0..<2 { #expect(try next("nc", tooLong, &sessions) == "00000001") }
  }
}
