import GannetHTTP
import TestSupport
import Testing

/// What a `data` URL holds.
@Suite(.timeLimit(.minutes(1))) struct DataURLTests {
  private static func read(_ text: String) throws -> DataURL { try DataURL(HTTPURL(text)) }

  @Test(arguments: [
    ("data:,hi", "text/plain", "us-ascii", "hi"),
    ("data:,", "text/plain", "us-ascii", ""),
    ("data:text/html;charset=UTF-8,a%20b%2c%zz c", "text/html", "utf-8", "a b,%zz c"),
    ("data:TEXT/Css,x#not", "text/css", nil, "x"),
    ("data:nonsense,x", "text/plain", "us-ascii", "x"),
    ("data:;charset=x,a,b", "text/plain", "x", "a,b"),
    ("data:a/b ; base64,aG k%3D", "a/b", nil, "hi"),
    ("data:;BASE64,aGk", "text/plain", "us-ascii", "hi"),
    ("data:base64,aGk", "text/plain", "us-ascii", "aGk"),
    ("DATA://h/,x", "text/plain", "us-ascii", "x"),
    ("data:text/plain;a=1;b=2,x", "text/plain", nil, "x"),
  ])
  func typeAndBytes(_ text: String, _ type: String, _ charset: String?, _ body: String) throws {
    let data = try Self.read(text)
    #expect(data.mediaType.essence == type && data.mediaType.charset == charset)
    #expect(String(decoding: data.bytes, as: UTF8.self) == body)
  }

  @Test(arguments: [
    ("data:", DataURLError.Rule.noComma, nil, 5), ("data:text/html", .noComma, nil, 14),
    ("data:%2C#,", .noComma, nil, 8), ("data:;base64,a-", .notBase64, UInt8(ascii: "-"), 14),
    ("data:;base64,ab=c", .notBase64, UInt8(ascii: "c"), 16),
    ("data:;base64,abcde", .badPadding, nil, 18), ("data:;base64,ab=", .badPadding, nil, 16),
    ("data:;base64,%3D==", .badPadding, UInt8(ascii: "="), 17),
  ])
  func whatIsWrongIsNamed(_ text: String, _ rule: DataURLError.Rule, _ byte: UInt8?, _ offset: Int) throws {
    let error = #expect(throws: DataURLError.self) { try Self.read(text) }
    #expect(error?.rule == rule && error?.byte == byte && error?.offset == offset)
  }
}

@Suite("vectors: data URLs", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct DataURLVectorTests {
  /// Nil when the URL, or what it holds, is refused.
  private static func read(_ text: String) -> DataURL? {
    (try? HTTPURL(text)).flatMap { try? DataURL($0) }
  }

  @Test("the URL standard: data URLs")
  func standard() throws {
    var tally = Conformance(
      "data URLs (WPT)",
      differences: [
        ("a control character is refused in what a caller gives", ["12", "33", "35"]),
        ("blanks around the = of a parameter are dropped, as in a field", ["72"]),
      ])
    let rows = try VectorFile.lists("url/wpt-data-urls.json")
    for (index, row) in rows.enumerated() {
      let url = try #require(row[0] as? String)
      let data = Self.read(url)
      let type = (row[1] as? String).flatMap { MediaType($0) }
      let bytes = row.count > 2 ? (row[2] as? [Int])?.map { UInt8(truncatingIfNeeded: $0) } : nil
      let isSame =
        data?.mediaType.essence == type?.essence && data?.mediaType.charset == type?.charset
        && data?.bytes == bytes
      tally.note("\(index)", isSame ? nil : "\(url): \(data.map { "\($0)" } ?? "refused")")
    }
    tally.finish(rows: 78)
  }

  @Test("the Infra standard: forgiving base64")
  func base64() throws {
    var tally = Conformance("base64 (WPT)")
    for (index, row) in try VectorFile.lists("url/wpt-forgiving-base64.json").enumerated() {
      let text = try #require(row[0] as? String)
      var escaped = ""
      for byte in text.utf8 { escaped += "%" + (byte < 16 ? "0" : "") + String(byte, radix: 16) }
      let data = Self.read("data:;base64,\(escaped)")
      let bytes = (row[1] as? [Int])?.map { UInt8(truncatingIfNeeded: $0) }
      tally.note(
        "\(index)", data?.bytes == bytes ? nil : "\(text): \(data.map { "\($0.bytes)" } ?? "refused")")
    }
    tally.finish(rows: 80)
  }

  @Test("Chromium: data URLs")
  func chromium() throws {
    var tally = Conformance(
      "data URLs (Chromium)",
      differences: [
        ("an empty charset is none, as in the URL standard's rows", ["chromium/data-url/3"]),
        ("spaces count, as in the URL standard's rows", ["chromium/data-url/16", "chromium/data-url/20"]),
        ("a line end is refused in what a caller gives", ["chromium/data-url/18"]),
        ("the row holds source text for its bytes", ["chromium/data-url/32", "chromium/data-url/33"]),
      ])
    for row in try VectorFile.rows("url/chromium-data-url.jsonl") {
      let url = String(decoding: row.latin1("url") ?? [], as: UTF8.self)
      let data = Self.read(url)
      var difference: String?
      if row.flag("valid") {
        let charset = row.string("charset")?.lowercased()
        if data?.mediaType.essence != row.string("mime_type")?.lowercased()
          || data?.mediaType.charset ?? "" != charset || data?.bytes != row.latin1("data")
        {
          difference = data.map { "\($0)" } ?? "refused"
        }
      } else if let data {
        difference = "\(data)"
      }
      tally.note(row.id, difference.map { "\(url): \($0)" })
    }
    tally.finish(rows: 35)
  }
}
