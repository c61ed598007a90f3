import GannetHTTP
import GannetPolicy
import TestSupport
import Testing

@Suite("AuthenticationChallengeParser")
struct AuthenticationChallengeParserTests {
  /// `scheme name=value name=value` or `scheme token68`, for each challenge.
  func parse(_ values: String...) -> [String] {
    AuthenticationChallengeParser.parse(FieldList(values.map { (name: "www-authenticate", value: $0) })).map {
      ([$0.scheme] + $0.parameters.map { "\($0.name)=\($0.value)" } + ($0.token68.map { [$0] } ?? []))
        .joined(separator: "|")
    }
  }

  @Test(
    "one field",
    arguments: [
      ("", []),
      (" ,, ", []),
      ("Basic", ["basic"]),
      ("Basic ", ["basic"]),
      ("Basic realm=\"x y\"", ["basic|realm=x y"]),
      ("basic REALM=\"x\"", ["basic|realm=x"]),
      ("Basic realm=foo", ["basic|realm=foo"]),
      ("Basic realm=", ["basic|realm="]),
      ("Basic realm=\"", ["basic|realm="]),
      ("Basic realm=\"a", ["basic|realm=a"]),
      ("Basic realm=\"a\\", ["basic|realm=a\\"]),
      ("Basic realm=\"\"", ["basic|realm="]),
      ("Basic realm=''", ["basic|realm=''"]),
      ("Basic realm", ["basic|realm"]),
      ("Basic realm = \"x\" , charset\t=\tUTF-8", ["basic|realm=x|charset=UTF-8"]),
      ("Basic realm=\"a\\\"b\\\\c\"", ["basic|realm=a\"b\\c"]),
      ("Basic realm=\"a,b=c\", Other", ["basic|realm=a,b=c", "other"]),
      ("Basic realm=\"a\", realm=\"b\"", ["basic|realm=a|realm=b"]),
      ("Basic realm=\"a\"charset=UTF-8", ["basic|realm=a|charset=UTF-8"]),
      ("Basic realm=\"a\" charset=UTF-8", ["basic|realm=a|charset=UTF-8"]),
      ("Basic , realm=\"a\"", ["basic|realm=a"]),
      (",Basic realm=a,", ["basic|realm=a"]),
      ("Newauth, Basic realm=a", ["newauth", "basic|realm=a"]),
      ("Newauth Basic realm=a", ["newauth", "basic|realm=a"]),
      ("Negotiate", ["negotiate"]),
      ("Negotiate YII+/=, Basic realm=a", ["negotiate|YII+/=", "basic|realm=a"]),
      ("Negotiate YII==", ["negotiate|YII=="]),
      ("Other a=b==, c=d", ["other|a=b==|c=d"]),
      ("realm=a", []),
      ("=, =x, \"quoted, Basic\" Basic realm=a", ["basic|realm=a"]),
      ("\"Basic realm=a", []),
      ("Basic realm=a, ;;;, b=c", ["basic|realm=a|b=c"]),
      ("Basic /=", ["basic|/="]),
      ("Negotiate abc, d=e", ["negotiate|abc"]),
    ] as [(String, [String])])
  func oneField(value: String, expected: [String]) {
    #expect(parse(value) == expected)
  }

  @Test("several fields, each by itself")
  func severalFields() {
    #expect(parse("Basic realm=\"a", "realm=b", "Other x=y") == ["basic|realm=a", "other|x=y"])
    #expect(parse() == [])
  }

  @Test("a parameter is found by its name, the first of them")
  func lookup() {
    let value = Array("Basic realm=a, realm=b".utf8)
    let challenge = AuthenticationChallengeParser.parse(value.span)[0]
    #expect(challenge["realm"] == "a")
    #expect(challenge["charset"] == nil)
  }

  @Test("a realm in UTF-8, and one in Latin-1")
  func realmBytes() {
    let utf8 = Array("Basic realm=\"ä\"".utf8)
    #expect(AuthenticationChallengeParser.parse(utf8.span)[0]["realm"] == "ä")
    let latin1 = Array("Basic realm=\"".utf8) + [0xE4, 0x22]
    #expect(AuthenticationChallengeParser.parse(latin1.span)[0]["realm"] == "ä")
  }

  @Test("every cut of a long field is read without a trap")
  func everyCut() {
    let whole = Array("Negotiate YII==, Basic realm=\"a\\\"b\", x = 'y' , Other =, \"z".utf8)
    for end in 0...whole.count {
      for start in 0...end { _ = AuthenticationChallengeParser.parse(whole.span.extracting(start..<end)) }
    }
  }

  @Test(
    "a head full of nothing is read in linear time",
    arguments: ["a ", ",", "a=", "\"", "a b=", "= ", "\\", "a a/ "])
  func hostile(piece: String) {
    let ratio = Growth.fourfold(of: 16 * 1024) { length in
      let value = Array("Basic \(String(repeating: piece, count: length / piece.utf8.count))".utf8)
      _ = AuthenticationChallengeParser.parse(value.span)
    }
    #expect(ratio <= 8)
  }
}
