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
      let credential = BasicCredential(
        user: try #require(row.string("username")), password: try #require(row.string("password")))
      let field = try? credential.authorization()
      #expect(field == row.object("expect")?["token"].map { "Basic " + $0 }, "\(row.id)")
    }
    #expect(rows.count == 4)
  }
}
