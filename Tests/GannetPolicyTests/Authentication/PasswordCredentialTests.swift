import GannetPolicy
import Testing

@Suite("PasswordCredential")
struct PasswordCredentialTests {
  @Test(
    "the field's value",
    arguments: [
      ("", "", "Basic Og=="),
      ("a", "b:c", "Basic YTpiOmM="),
      ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="),
      ("test", "123£", "Basic dGVzdDoxMjPCow=="),
      ("??", ">>~", "Basic Pz86Pj5+"),
      ("ÿ", "ÿ", "Basic w786w78="),
    ])
  func value(user: String, password: String, expected: String) throws {
    #expect(try PasswordCredential(user: user, password: password).basicAuthorization() == expected)
  }

  @Test(
    "what is refused",
    arguments: [
      ("a:b", "c", .colonInUser),
      (":", "", .colonInUser),
      ("a\r\nX: y", "c", .colonInUser),
      ("a\n", "c", .controlCharacter),
      ("a", "c\u{0}", .controlCharacter),
      ("a", "\u{7F}", .controlCharacter),
    ] as [(String, String, PasswordCredential.Refusal)])
  func refused(user: String, password: String, refusal: PasswordCredential.Refusal) {
    #expect(throws: refusal) { try PasswordCredential(user: user, password: password).basicAuthorization() }
  }

  @Test("what Digest refuses: it sends the user name and a hash")
  func refusedByDigest() throws {
    for user in ["", "a:b", "ä", "a\"b"] {
      try PasswordCredential(user: user, password: "\r\n").checkForDigest()
    }
    for user in ["a\r\nX: y", "\t", "\u{0}", "\u{7F}"] {
      #expect(throws: PasswordCredential.Refusal.controlCharacter) {
        try PasswordCredential(user: user, password: "").checkForDigest()
      }
    }
  }

  @Test("base 64 of every byte and every length")
  func base64() {
    let bytes = (0...255).map { UInt8($0) }
    #expect(Base64.encode(bytes.span).hasPrefix("AAECAwQFBgcICQoLDA0ODxAREhMUFRYXGBkaGxwdHh8g"))
    #expect(Base64.encode(bytes.span).hasSuffix("8PHy8/T19vf4+fr7/P3+/w=="))
    for length in 0...64 {
      #expect(Base64.encode(bytes.span.extracting(..<length)).utf8.count == (length + 2) / 3 * 4)
    }
  }
}
