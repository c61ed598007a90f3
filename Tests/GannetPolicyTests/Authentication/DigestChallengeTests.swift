import GannetHTTP
import GannetPolicy
import TestSupport
import Testing

@Suite("DigestChallenge")
struct DigestChallengeTests {
  @Test("algorithms, as servers spell them")
  func algorithms() {
    let known: [(String, HashFunction, Bool)] = [
      ("MD5", .md5, false), ("md5", .md5, false), ("MD5-sess", .md5, true), ("SHA-256", .sha256, false),
      ("sha-256-SESS", .sha256, true), ("SHA-512-256", .sha512To256, false),
      ("SHA-512-256-sess", .sha512To256, true),
    ]
    for (name, function, isSession) in known {
      for spelled in [name, "\"\(name)\""] {
        let challenge = digestChallenge("Digest nonce=n, algorithm=\(spelled)")
        #expect(challenge?.function == function && challenge?.isSession == isSession, "\(spelled)")
        #expect(challenge?.spelledAlgorithm?.text == name)
      }
    }
    for absent in ["", ", algorithm=", ", algorithm=\"\""] {
      let challenge = digestChallenge("Digest nonce=n\(absent)")
      #expect(challenge?.function == .md5 && challenge?.spelledAlgorithm == nil, "\(absent)")
    }
    for unknown in ["SHA-1", "MD5-sess-sess", "SHA-512", "\"MD5, SHA-256\"", "MD4", "MD5x"] {
      #expect(digestChallenge("Digest nonce=n, algorithm=\(unknown)") == nil, "\(unknown)")
    }
  }

  @Test(
    "qualities of protection",
    arguments: [
      ("", .unnamed), (", qop=", .unnamed), (", qop=\"\"", .unnamed), (", qop=\" , \"", .unnamed),
      (", qop=auth", .auth), (", qop=\"auth\"", .auth), (", qop=\"AUTH\"", .auth),
      (", qop=\"auth,\"", .auth), (", qop=\"auth, auth-int\"", .auth), (", qop=\"auth-int,auth\"", .auth),
      (", qop=\"auth-int auth\"", .auth), (", qop=\"foo,auth\"", .auth),
      (", qop=\"auth-int\"", .authWithBody),
      (", qop=Auth-Int", .authWithBody), (", qop=\"foo\"", nil), (", qop=authx", nil),
    ] as [(String, DigestChallenge.Protection?)])
  func protection(qop: String, expected: DigestChallenge.Protection?) {
    #expect(digestChallenge("Digest nonce=n\(qop)")?.protection == expected)
  }

  @Test("what makes no challenge, and what is taken as it is")
  func shape() {
    #expect(digestChallenge("Digest realm=r") == nil)
    #expect(digestChallenge("Digest") == nil)
    #expect(digestChallenge("Basic nonce=n") == nil)
    #expect(digestChallenge("Digest nonce=\"a\u{7}\"") == nil)
    #expect(digestChallenge("Digest nonce=\"a\", opaque=\"\r\n\"") == nil)
    #expect(digestChallenge("Digest nonce=\"a\", realm=\"\u{7}\"") == nil)
    #expect(digestChallenge("Digest nonce=\"a\", realm=\"b\tc\"")?.realm?.text == "b\tc")
    #expect(digestChallenge("dIGEST NONCE=\"\"")?.nonce == [])
    #expect(digestChallenge("Digest nonce=n")?.realm == nil)
    #expect(digestChallenge("Digest nonce=n")?.opaque == nil)
    #expect(digestChallenge("Digest nonce=n, opaque=\"\"")?.opaque == [])
    #expect(digestChallenge("Digest nonce=a==/b, realm=\"a\\\"b\\\\\"")?.nonce.text == "a==/b")
    #expect(digestChallenge("Digest nonce=n, realm=\"a\\\"b\\\\\"")?.realm?.text == "a\"b\\")
    #expect(digestChallenge("Digest nonce=n, nonce=m, realm=a, realm=b")?.nonce.text == "n")
    for (value, isTrue) in [("true", true), ("\"TRUE\"", true), ("false", false), ("yes", false)] {
      #expect(digestChallenge("Digest nonce=n, stale=\(value)")?.isStale == isTrue)
      #expect(digestChallenge("Digest nonce=n, userhash=\(value)")?.hashesUser == isTrue)
    }
    #expect(digestChallenge("Digest nonce=n, charset=\"utf-8\"")?.takesUTF8 == true)
    #expect(digestChallenge("Digest nonce=n, charset=latin1")?.takesUTF8 == false)
  }

  @Test("bytes that are no UTF-8 stay as they came")
  func latin1() throws {
    let value = Array("Digest nonce=n, realm=\"".utf8) + [0xE4, 0x22]
    let challenge = try #require(AuthenticationChallengeParser.parse(value.span).first)
    #expect(DigestChallenge(challenge)?.realm == [0xE4])
    #expect(challenge["realm"] == "ä")
  }

  @Test("a challenge of any length is read in linear time", .longWork)
  func hostile() {
    let pieces = [
      ",", "a=b,", "qop=auth,", "qop=\"auth,\",", "Digest nonce=n,", "Digest nonce=n, qop=\"foo\",",
      "nonce=\"", "\\",
      "Basic realm=r,",
    ]
    for start in ["Digest nonce=n,", "Digest nonce=n, qop=\"", "Digest nonce=\""] {
      for piece in pieces {
        let ratio = Growth.fourfold(of: 8 * 1024) { length in
          let text = start + String(repeating: piece, count: length / piece.utf8.count)
          var policy = AuthenticationPolicy { _ in true }
          let fields = FieldList([(name: "WWW-Authenticate", value: text)])
          guard let url = try? HTTPURL("http://h/") else { return }
          _ = policy.received(401, fields, url: url)
        }
        #expect(ratio <= 8, "\(start)\(piece)…")
      }
    }
  }
}
