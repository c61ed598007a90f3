import GannetHTTP
import GannetPolicy
import Testing

@Suite("DigestAnswer")
struct DigestAnswerTests {
  private let origin = Origin(scheme: "http", host: "h", port: 80)
  private let noBody: [UInt8] = []

  private func answer(
    _ challenge: String, user: String, password: String, count: UInt32 = 1, clientNonce: String = "c"
  ) throws -> DigestAnswer {
    let login = DigestLogin(
      origin: origin, credential: PasswordCredential(user: user, password: password),
      challenge: try #require(digestChallenge(challenge)))
    return DigestAnswer(login, count: count, clientNonce: clientNonce)
  }

  /// RFC 7616 section 3.9.1, with the values of the same inputs for what it does not print.
  @Test(
    arguments: [
      ("MD5", "GET", "auth", "", "8ca523f5e9506fed4657c9700eebdbec"),
      ("SHA-256", "GET", "auth", "", "753927fa0e85d155564e2e272a28d1802ca10daf4496794697cf8db5856cb6c1"),
      ("MD5-sess", "GET", "auth", "", "e783283f46242139c486a698fec7211d"),
      ("MD5", "POST", "auth-int", "x=1", "7aa813e1f13ee0e06ac2fb6fbb5f9e29"),
    ])
  func theRFCsExample(algorithm: String, method: String, qop: String, body: String, response: String) throws {
    let answer = try answer(
      "Digest realm=\"http-auth@example.org\", nonce=\"7ypf/xlj9XXwfDPEoM4URrv/xwf94BcCAzFZH4GiTo0v\", qop=\"\(qop)\", "
        + "algorithm=\(algorithm)", user: "Mufasa", password: "Circle of Life",
      clientNonce: "f2/wE4q74E6zIJEtWaHKaf5wv/H5QzzpXusqGemxURZJ")
    let made = answer.response(
      method: method, target: "/dir/index.html", body: Array(body.utf8).span, digest)
    #expect(made?.text == response)
  }

  @Test("a server of RFC 2069: no qop, no count, no client nonce, no algorithm")
  func withoutQuality() throws {
    let answer = try answer(
      "Digest realm=\"iPOLiS\", nonce=\"3E6D6092539213F251271B0E14136E17\"", user: "admin", password: "pw")
    let field = answer.authorization(method: "GET", target: "/video.cgi?ch=1", body: noBody.span, digest)
    #expect(
      field?.text == """
        Digest username="admin", realm="iPOLiS", nonce="3E6D6092539213F251271B0E14136E17", uri="/video.cgi?ch=1", \
        response="2dcdae73954552c9126f697efaf01cb6"
        """)
  }

  /// SHA-512/256 of FIPS 180-4, computed apart from this (`openssl dgst -sha512-256`): not what RFC 7616 printed, which
  /// comes of SHA-512 cut short.
  @Test("a user name and a function of RFC 7616")
  func hashedUser() throws {
    let answer = try answer(
      "Digest realm=\"api@example.org\", qop=auth, algorithm=SHA-512-256, opaque=\"HR+/=\", charset=UTF-8, userhash=true, "
        + "nonce=\"5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK\"", user: "Jäsøn Doe",
      password: "Secret, or not?", clientNonce: "NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm")
    let field = answer.authorization(method: "GET", target: "/doe.json", body: noBody.span, digest)
    #expect(
      field?.text == """
        Digest username="793263caabb707a56211940d90411ea4a575adeccb7e360aeb624ed06ece9b0b", realm="api@example.org", \
        nonce="5TsQWLVdgBdmrQ0XsxbDODV+57QdFR34I9HAbC/RVvkK", uri="/doe.json", \
        cnonce="NTg6RKcb9boFIAS3KrFK9BGeh+niz/sm", nc=00000001, qop=auth, \
        response="7a4e1192babbba02e91182d2895bfdbf7adafc6e48d4e517ca301974843d840c", opaque="HR+/=", \
        algorithm=SHA-512-256, userhash=true
        """)
  }

  /// What stands in the field beside the hashes: each parameter in quotes or not, as RFC 7616 section 3.4 has it.
  @Test(
    arguments: [
      ("", "", [], ["nc=", "qop=", "cnonce=", "opaque=", "algorithm=", "userhash="]),
      (", qop=\"auth\"", "", [", cnonce=\"c\", nc=0000002a, qop=auth, response=\""], ["qop=\""]),
      (", qop=\"AUTH-INT\"", "", [", qop=auth-int,"], []),
      (", algorithm=\"md5\"", "", [", algorithm=md5"], ["algorithm=\""]),
      (", algorithm=Md5-Sess", "", [", algorithm=Md5-Sess", ", cnonce=\"c\""], ["nc=", "qop="]),
      (", opaque=\"\"", "", [", opaque=\"\""], []),
      (", opaque=\"5ccc\\\"069c\"", "", [", opaque=\"5ccc\\\"069c\""], []),
      ("", "a\"b\\c", ["username=\"a\\\"b\\\\c\", "], []),
      ("", "ä", ["username=\"ä\", "], ["username*"]),
      (", charset=UTF-8", "ä b", ["username*=UTF-8''%C3%A4%20b, "], ["username="]),
      (", charset=UTF-8", "ä%'*(", ["username*=UTF-8''%C3%A4%25%27%2A%28, "], []),
      (", charset=UTF-8", "a b", ["username=\"a b\", "], ["username*"]),
      (", userhash=false", "", [], ["userhash"]),
    ] as [(String, String, [String], [String])])
  func whatIsSent(_ more: String, _ user: String, _ there: [String], _ absent: [String]) throws {
    let answer = try answer("Digest realm=r, nonce=n\(more)", user: user, password: "p", count: 42)
    let made = answer.authorization(method: "GET", target: "/?\"\\", body: noBody.span, digest)
    let field = try #require(made).text
    #expect(field.hasPrefix("Digest username"))
    #expect(field.contains(", realm=\"r\", nonce=\"n\", uri=\"/?\\\"\\\\\", "))
    for part in there { #expect(field.contains(part), "\(part) in \(field)") }
    for part in absent { #expect(!field.contains(part), "\(part) in \(field)") }
  }

  @Test("a missing realm is an empty one")
  func noRealm() throws {
    let field = try answer("Digest nonce=n", user: "u", password: "p")
      .authorization(method: "GET", target: "/", body: noBody.span, digest)
    // MD5 of MD5("u::p"), the nonce and MD5("GET:/").
    #expect(
      field?.text == """
        Digest username="u", realm="", nonce="n", uri="/", response="04ee1f01faf9f1764dadb343e35ff409"
        """)
  }

  /// The session's key is made once, of the nonce that it began with; the answer holds the nonce of today.
  @Test("a session goes on with its first nonce")
  func firstNonce() throws {
    var answer = try answer(
      "Digest realm=r, nonce=m, qop=auth, algorithm=MD5-sess", user: "u", password: "p")
    answer.firstNonce = Array("n".utf8)
    // MD5 of MD5(MD5("u:r:p"):n:c), the nonce m, the count, c, auth and MD5("GET:/").
    let made = answer.response(method: "GET", target: "/", body: noBody.span, digest)
    #expect(made?.text == "5f74f8cfb5fd59cf9270d46c5ac6e3c2")
  }

  @Test("bytes of the realm are hashed and sent as they came")
  func latin1() throws {
    let value = Array("Digest nonce=n, realm=\"".utf8) + [0xE4, 0x22]
    let challenge = try #require(
      AuthenticationChallengeParser.parse(value.span).first.flatMap { DigestChallenge($0) })
    let login = DigestLogin(
      origin: origin, credential: PasswordCredential(user: "u", password: "p"), challenge: challenge)
    let answer = DigestAnswer(login, count: 1, clientNonce: "c")
    let field = answer.authorization(method: "GET", target: "/", body: noBody.span, digest)
    #expect(field?.split(separator: 0x22).contains([0xE4]) == true)
    // MD5 of MD5("u:\xE4:p"), the nonce and MD5("GET:/").
    let response = answer.response(method: "GET", target: "/", body: noBody.span, digest)
    #expect(response?.text == "5432e0a912c5131a88a12b9f5e6d3f83")
  }

  @Test("a hash function that fails makes no answer")
  func noHash() throws {
    let answer = try answer("Digest realm=r, nonce=n, qop=auth-int, userhash=true", user: "u", password: "p")
    for allowed in 0..<5 {
      let calls = Counter()
      let field = answer.authorization(method: "GET", target: "/", body: noBody.span) {
        calls.next() <= allowed ? digest($0, $1) : nil
      }
      #expect(field == nil, "\(allowed)")
    }
  }
}
