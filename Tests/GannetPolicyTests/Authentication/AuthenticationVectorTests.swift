import GannetHTTP
import GannetPolicy
import TestSupport
import Testing

@Suite("vectors: authentication", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct AuthenticationVectorTests {
  /// Malformed fields, read as browsers read them instead of refused.
  static let readAnyway: [String: [AuthenticationChallenge]] = [
    // The first of two realms counts.
    "challenge/simplebasic2realms": [
      AuthenticationChallenge(
        scheme: "basic", parameters: [.init(name: "realm", value: "foo"), .init(name: "realm", value: "bar")])
    ],
    // A quoted value that isn't closed ends with the field.
    "challenge/missingquote": [
      AuthenticationChallenge(scheme: "basic", parameters: [.init(name: "realm", value: "basic")])
    ],
  ]

  @Test("challenges")
  func challenges() throws {
    let rows = try VectorFile.rows("auth/auth-vectors.jsonl").filter {
      $0.string("scheme") == "challenge-parse"
    }
    for row in rows {
      var fields = FieldList()
      for line in row.strings("header_lines") {
        let bytes = line.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
        fields.append(name: Array("WWW-Authenticate".utf8).span, value: bytes.span)
      }
      let challenges = AuthenticationChallengeParser.parse(fields)
      guard let expected = row.value("expect") as? [[Any]] else {
        #expect(challenges == Self.readAnyway[row.id], "\(row.id)")
        continue
      }
      #expect(challenges.map(\.scheme) == expected.map { $0[0] as? String }, "\(row.id)")
      for (challenge, pair) in zip(challenges, expected) {
        let wanted = try #require(pair[1] as? [String: String])
        var got = Dictionary(uniqueKeysWithValues: challenge.parameters.map { ($0.name, $0.value) })
        got[""] = challenge.token68
        #expect(got == wanted.mapValues(text), "\(row.id)")
      }
    }
    #expect(rows.count == 22)
  }

  /// The text that bytes, given as code points, are read as.
  private func text(_ latin1: String) -> String {
    let bytes = latin1.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
    return String(fieldText: bytes.span)
  }

  @Test("Basic")
  func basic() throws {
    let rows = try VectorFile.rows("auth/auth-vectors.jsonl").filter { $0.string("scheme") == "Basic" }
    for row in rows {
      let credential = PasswordCredential(
        user: try #require(row.string("username")), password: try #require(row.string("password")))
      let field = try? credential.basicAuthorization()
      #expect(field == row.object("expect")?["token"].map { "Basic " + $0 }, "\(row.id)")
    }
    #expect(rows.count == 4)
  }

  /// Rows whose value is another, and ours.
  static let others: [String: String] = [
    // A user name given as Latin-1 bytes, which a server that names no charset may mean: UTF-8 is what is hashed, as the
    // user name is sent, and as curl does.
    "latin1-user": "ff6cf5214ce9f0a94f4fa7edf67193c5"
  ]

  @Test("Digest")
  func digests() throws {
    let rows = try VectorFile.rows("auth/auth-vectors.jsonl").filter { $0.string("scheme") == nil }
    for row in rows {
      let (field, body) = (challengeField(row), row.latin1("body") ?? [])
      let challenge = try #require(
        AuthenticationChallengeParser.parse(Array(field.utf8).span).first.flatMap { DigestChallenge($0) })
      let user = row.has("username_bytes") ? row.string("username_bytes") : row.string("username")
      let login = DigestLogin(
        origin: Origin(scheme: "http", host: "h", port: 80),
        credential: PasswordCredential(user: user ?? "", password: row.string("password") ?? ""),
        challenge: challenge)
      let count = UInt32(row.string("nc") ?? "1", radix: 16)
      let answer = DigestAnswer(login, count: try #require(count), clientNonce: row.string("cnonce") ?? "")
      let (method, target) = (try #require(row.string("method")), try #require(row.string("uri")))
      let expected = try #require(row.object("expect"))
      let response = answer.response(method: method, target: target, body: body.span, digest)?.text
      #expect(response == Self.others[row.id] ?? expected["response"], "\(row.id)")
      guard let hashed = expected["username_hash"] else { continue }
      let sent = answer.authorization(method: method, target: target, body: body.span, digest)?.text
      #expect(sent?.hasPrefix("Digest username=\"\(hashed)\", ") == true, "\(row.id)")
    }
    #expect(rows.count == 21)
  }

  /// The challenge that a row is the answer to.
  private func challengeField(_ row: VectorFile.Row) -> String {
    func quoted(_ key: String) -> String {
      let text = (row.string(key) ?? "").replacing("\\", with: "\\\\").replacing("\"", with: "\\\"")
      return "\"\(text)\""
    }
    var field = "Digest realm=\(quoted("realm")), nonce=\(quoted("nonce"))"
    for name in ["opaque", "qop", "algorithm", "charset"] where row.has(name) {
      field += ", \(name)=\(quoted(name))"
    }
    return row.flag("userhash") ? field + ", userhash=true" : field
  }
}
