import FetchTool
import GannetHTTP
import TestSupport
import Testing

/// An input of `gannet parse`, its flags, and the lines it prints.
struct ParseCase: Sendable, CustomTestStringConvertible {
  let name: String
  let flags: [String]
  let input: String
  let lines: [String]
  var testDescription: String { name }

  init(_ name: String, flags: String = "", _ input: String, _ lines: [String]) {
    (self.name, self.input, self.lines) = (name, input, lines)
    self.flags = flags.split(separator: " ").map(String.init)
  }
}

@Suite("gannet parse")
struct ParseCommandTests {
  @Test("lines, whole and at every cut", arguments: messageCases + streamCases + decodingCases)
  func lines(_ row: ParseCase) throws {
    var options = try #require(try ParseOptions.read(row.flags))
    let input = Bytes.latin1(row.input)
    #expect(ParseCommand.events(of: input, options).map(\.line.text) == row.lines)
    options.cut = .every
    #expect(ParseCommand.events(of: input, options).map(\.line.text) == row.lines)
    for length in [1, 2, 7] {
      options.cut = .pieces(length)
      #expect(ParseCommand.events(of: input, options).map(\.line.text) == row.lines)
    }
  }

  private static func head(
    _ framing: String, status: Int = 200, version: String = "1.1", fields: String = "[]"
  ) -> String {
    #"{"event":"head","version":"\#(version)","status":\#(status),"reason":"OK","fields":\#(fields),"framing":"\#(framing)"}"#
  }
  private static let end = #"{"event":"end","reusable":true}"#
  private static let lastEnd = #"{"event":"end","reusable":false}"#
  private static let length = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\n"
  private static let lengthHead = head("length:5", fields: #"[["Content-Length","5"]]"#)
  private static let hello = #"{"event":"body","base64":"aGVsbG8="}"#

  private static let messageCases = [
    ParseCase("one response", length + "hello", [lengthHead, hello, end]),
    ParseCase(
      "two responses", length + "hello" + length + "hello", [lengthHead, hello, end, lengthHead, hello, end]),
    ParseCase(
      "methods, the last one repeated", flags: "--method GET --method HEAD",
      length + "hello" + length + length,
      [
        lengthHead, hello, end, head("none", fields: #"[["Content-Length","5"]]"#), end,
        head("none", fields: #"[["Content-Length","5"]]"#), end,
      ]),
    ParseCase(
      "chunks, trailers, informational",
      "HTTP/1.1 103 Early\r\nA: \u{E9}\r\n\r\nHTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
        + "3\r\nhel\r\n2\r\nlo\r\n0\r\nT: \"1\"\r\n\r\n",
      [
        #"{"event":"informational","status":103,"reason":"Early","fields":[["A","é"]]}"#,
        head("chunked", fields: #"[["Transfer-Encoding","chunked"]]"#), hello,
        #"{"event":"trailers","fields":[["T","\"1\""]]}"#, end,
      ]),
    ParseCase(
      "until close", "HTTP/1.0 200 OK\r\n\r\nhello", [head("close", version: "1.0"), hello, lastEnd]),
    ParseCase(
      "still open", flags: "--no-eof", "HTTP/1.0 200 OK\r\n\r\nhello", [head("close", version: "1.0"), hello]),
    ParseCase("an end after all", flags: "--no-eof --eof", length + "hello", [lengthHead, hello, end]),
    ParseCase(
      "bytes after the end", "HTTP/1.1 204 OK\r\nConnection: close\r\n\r\nhello",
      [
        head("none", status: 204, fields: #"[["Connection","close"]]"#), lastEnd,
        #"{"event":"unexpected","length":5}"#,
      ]),
    ParseCase(
      "a tunnel", flags: "--method CONNECT", "HTTP/1.1 200 OK\r\n\r\nhello",
      [head("upgrade"), lastEnd, #"{"event":"unexpected","length":5}"#]),
    ParseCase(
      "cut short", length + "hel",
      [
        lengthHead, #"{"event":"body","base64":"aGVs"}"#,
        #"{"event":"error","rule":"truncated-body","reason":"the connection ended 2 bytes too early","offset":41}"#,
      ]),
    ParseCase(
      "not cut short yet", flags: "--no-eof", length + "hel",
      [lengthHead, #"{"event":"body","base64":"aGVs"}"#]),
    ParseCase(
      "an error in the second response", length + "helloHTTP/1.1 2x0",
      [
        lengthHead, hello, end,
        #"{"event":"error","rule":"status-code","reason":"the status is not a number from 100 to 999","offset":53}"#,
      ]),
    ParseCase(
      "nothing", "",
      [
        #"{"event":"error","rule":"no-response","reason":"the connection ended without a response","offset":0}"#
      ]),
    ParseCase("nothing yet", flags: "--no-eof", "", []),
  ]

  private static let streamHead =
    "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace;boundary=B\r\n\r\n"
  private static let streamLine = head(
    "close", version: "1.0", fields: #"[["Content-Type","multipart/x-mixed-replace;boundary=B"]]"#)

  private static let streamCases = [
    ParseCase(
      "parts",
      streamHead
        + "--B\r\nContent-Length: 5\r\n\r\nhello\r\n--B\r\n\r\n\r\n--B\r\n\r\nhello\r\n--B--\r\nepilogue",
      [
        streamLine, #"{"event":"part","index":0,"fields":[["Content-Length","5"]]}"#, hello,
        #"{"event":"part","index":1,"fields":[]}"#, #"{"event":"part","index":2,"fields":[]}"#, hello,
        lastEnd,
      ]),
    ParseCase(
      "chunks whose borders lie in the delimiter",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Type: multipart/x-mixed-replace; boundary=B\r\n\r\n"
        + "5\r\n--B\r\n\r\n6\r\n\r\nhell\r\n4\r\no\r\n-\r\n3\r\n-B-\r\n1\r\n-\r\n0\r\n\r\n",
      [
        head(
          "chunked",
          fields:
            #"[["Transfer-Encoding","chunked"],["Content-Type","multipart/x-mixed-replace; boundary=B"]]"#),
        #"{"event":"part","index":0,"fields":[]}"#, hello, end,
      ]),
    ParseCase(
      "a short part", streamHead + "--B\r\nContent-Length: 9\r\n\r\nhello",
      [
        streamLine, #"{"event":"part","index":0,"fields":[["Content-Length","9"]]}"#, hello,
        #"{"event":"error","rule":"truncated-body","#
          + #""reason":"the stream ended 4 bytes before the end that a part promised","offset":102}"#,
      ]),
    ParseCase(
      "a broken field of a part", streamHead + "--B\r\nA: \0",
      [
        streamLine,
        #"{"event":"error","rule":"field-value","reason":"a control byte in a field value","offset":79}"#,
      ]),
    ParseCase(
      "no delimiter", "HTTP/1.0 200 OK\r\nContent-Type: multipart/x-mixed-replace\r\n\r\nhello",
      [
        head("close", version: "1.0", fields: #"[["Content-Type","multipart/x-mixed-replace"]]"#), hello,
        lastEnd,
      ]),
  ]

  /// `hello`, compressed.
  private static let gzipped =
    "\u{1F}\u{8B}\u{08}\0\0\0\0\0\0\u{03}\u{CB}\u{48}\u{CD}\u{C9}\u{C9}\u{07}\0\u{86}\u{A6}\u{10}\u{36}\u{05}\0\0\0"
  private static let gzipHead = "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: "
  private static func gzipLine(_ count: Int) -> String {
    head("length:\(count)", fields: #"[["Content-Encoding","gzip"],["Content-Length","\#(count)"]]"#)
  }

  private static let decodingCases = [
    ParseCase("decoded", flags: "--decode", gzipHead + "25\r\n\r\n" + gzipped, [gzipLine(25), hello, end]),
    ParseCase("not coded", flags: "--decode", length + "hello", [lengthHead, hello, end]),
    ParseCase(
      "as it is", gzipHead + "25\r\n\r\n" + gzipped,
      [gzipLine(25), #"{"event":"body","base64":"H4sIAAAAAAAAA8tIzcnJBwCGphA2BQAAAA=="}"#, end]),
    ParseCase(
      "cut short within the coding", flags: "--decode",
      gzipHead + "20\r\n\r\n" + String(gzipped.unicodeScalars.prefix(20)),
      [
        gzipLine(20), hello,
        #"{"event":"error","rule":"content-coding","reason":"the body ended before its gzip coding did","offset":83}"#,
      ]),
  ]

  @Test("what the words ask for")
  func options() throws {
    let options = try #require(
      try ParseOptions.read(["--method=PUT", "--cut", "3", "--no-eof", "--decode", "--method", "HEAD"]))
    #expect(options.methods == ["PUT", "HEAD"])
    #expect(options.cut == .pieces(3))
    #expect(!options.endsWithInput && options.decodes)
    #expect(try ParseOptions.read([]) == ParseOptions())
    #expect(try ParseOptions.read(["--cut=every"])?.cut == .every)
    #expect(try ParseOptions.read(["--decode", "--help"]) == nil)
  }

  @Test(
    "words that are wrong",
    arguments: [
      ["--cut", "0"], ["--cut", "-1"], ["--cut", "x"], ["--cut"], ["--method", ""], ["--method", "A B"],
      ["--what"],
      ["file"], ["--decode=1"],
    ])
  func badWords(words: [String]) {
    #expect(throws: ArgumentError.self) { try ParseOptions.read(words) }
  }

  @Test("past 4 KiB the cuts lie around what is not data")
  func sampledCuts() throws {
    let data = String(repeating: "0123456789abcdef", count: 4096)
    let input = Bytes.latin1(
      "HTTP/1.1 200 OK\r\nContent-Length: 65536\r\n\r\n" + data + Self.length + "hello")
    var options = ParseOptions()
    options.cut = .every
    let events = ParseCommand.events(of: input, options)
    #expect(events.count == 6 && !events.contains(where: \.isFailure))
  }
}
