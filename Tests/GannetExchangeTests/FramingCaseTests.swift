import GannetExchange
import GannetHTTP
import TestSupport
import Testing

/// Kinds of trouble with message framing that were reported against HTTP clients, each variant a row: what comes of it,
/// the same whole, byte by byte and at every cut. An end that nothing can follow is told with its reason.
@Suite("cases of framing", .longWork)
struct FramingCaseTests {
  @Test(
    "input of a connection",
    arguments: truncatedChunks + chunkEnds + chunkSizes + twoLengths + lengths + bodyless + informational)
  func framing(_ row: ExchangeCase) { check(row) }

  @Test(
    "input of a connection, in its head",
    arguments: fieldLines + codings + beforeTheHead + persistence + endings)
  func heads(_ row: ExchangeCase) { check(row) }

  private func check(_ row: ExchangeCase) {
    var client = Exchanging.Client(row.methods)
    client.tellsReasons = true
    let (whole, mismatches) = Exchanging.outcomes(
      of: Bytes.latin1(row.input), endOfFile: row.endsWithInput, client)
    #expect(whole.events == row.events)
    #expect(whole.error.map { "\($0.rule.rawValue) at \($0.offset)" } == row.error)
    #expect(whole.leftOver == row.leftOver)
    #expect(mismatches.isEmpty, "\(mismatches.map { "\($0.cut): \($0.outcome)" })")
  }

  // MARK: Chunks

  private static let truncatedChunks = [
    chunks("5\r\nhello\r\n", ["data hello"], error: "truncated-body at 57"),
    chunks("5\r\nhel", ["data hel"], error: "truncated-body at 53"),
    chunks("5\r", [], error: "truncated-body at 49"),
    chunks("", [], error: "truncated-body at 47"),
    chunks("5\r\nhello\r\n0", ["data hello"], error: "truncated-body at 58"),
    chunks("5\r\nhello\r\n0\r", ["data hello"], error: "truncated-body at 59"),
    // All data is known.
    chunks("5\r\nhello\r\n0\r\n", ["data hello", "end, closed"]),
    chunks("5\r\nhello\r\n0\r\nX: y", ["data hello", "end, closed"]),
    chunks("5\r\nhello\r\n0\r\nX: y\r\n\r", ["data hello", "end, closed"]),
    // Complete, and then the connection ended.
    chunks("0\r\n\r\n", ["end"]),
    chunks("5\r\nhello\r\n0\r\n\r\n", ["data hello", "end"]),
    chunks("5\r\nhello\r\n0\r\nX: y\r\n\r\n", ["data hello", "trailers X=y", "end"]),
  ]

  private static let chunkEnds = [
    chunks("5\r\nAAAAAXX0\r\n\r\n", ["data AAAAA"], error: "chunk-data-end at 55"),
    chunks("5\r\nAAAAAXXX\r\n0", ["data AAAAA"], error: "chunk-data-end at 55"),
    chunks("5\r\nAAAAA\rX", ["data AAAAA"], error: "chunk-data-end at 56"),
    chunks("5\r\nAAAAA\n0\r\n\r\n", ["data AAAAA"], error: "chunk-data-end at 55"),
    chunks("5\r\nAAAAA0\r\n\r\n", ["data AAAAA"], error: "chunk-data-end at 55"),
    chunks("5\r\nAAAA\r\n0\r\n\r\n", ["data AAAA\r"], error: "chunk-data-end at 55"),
  ]

  private static let chunkSizes = [
    size("5 ", nil), size("5\t \t", nil), size("00000005", nil), size("0000000000000000000000005", nil),
    size("5;", nil), size("5;a=b", nil), size("5;a=b;c=\"d;\\\"e\"", nil), size("5 ; a = b", nil),
    size("5;a=\"\u{E9}\"", nil),
    ExchangeCase(
      "upper and lower case",
      chunkedHead + "A\r\n0123456789\r\na\r\n0123456789\r\n0\r\n\r\n",
      ["200 chunked", "data 01234567890123456789", "end"]),
    ExchangeCase(
      "blanks, zeros, an extension at the last chunk", chunkedHead + "000 ;x\r\n\r\n", ["200 chunked", "end"]),
    size(" 5", "chunk-size at 47"), size("\t5", "chunk-size at 47"), size("0x5", "chunk-size at 48"),
    size("+5", "chunk-size at 47"), size("-1", "chunk-size at 47"), size("", "chunk-size at 47"),
    size(";a=b", "chunk-size at 47"), size("5,6", "chunk-size at 48"), size("5.0", "chunk-size at 48"),
    size("5 6", "chunk-size at 49"), size("5_0", "chunk-size at 48"), size("G", "chunk-size at 47"),
    size("FFFFFFFFFFFFFFFF", "chunk-size at 62"), size("8000000000000000", "chunk-size at 62"),
    size("10000000000000000", "chunk-size at 63"),
    size("5;c=\"d\r\n\"", "chunk-extension at 53"), size("5;c=\"d\n\"", "chunk-extension at 53"),
    size("5;c=\"d", "chunk-extension at 53"), size("5;a\n", "chunk-extension at 50"),
    size("5;a\rb", "chunk-size at 51"), size("5;\0", "chunk-extension at 49"),
    size("5\nhello", "chunk-size at 48"), size("5\rhello", "chunk-size at 49"),
    ExchangeCase(
      "the largest size", chunkedHead + "7FFFFFFFFFFFFFFF\r\nab", ["200 chunked", "data ab"],
      error: "truncated-body at 67"),
  ]

  // MARK: Lengths

  private static let twoLengths = [
    ExchangeCase(
      "chunks win over a length",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nContent-Length: 188\r\n\r\n5\r\nhello\r\n0\r\n\r\n",
      ["200 chunked", "data hello", "end, lengthWithTransferEncoding"]),
    ExchangeCase(
      "also when it comes first, and what follows is left",
      "HTTP/1.1 200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
      ["200 chunked", "end, lengthWithTransferEncoding"], leftOver: 19),
    ExchangeCase(
      "and when the length is none",
      "HTTP/1.1 200 OK\r\nContent-Length: x\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ["200 chunked", "end, lengthWithTransferEncoding"]),
    ExchangeCase(
      "a coding that is not chunked wins too",
      "HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: gzip\r\n\r\nhello",
      ["200 close", "data hello", "end, framedByClose"]),
  ]

  private static let lengths = [
    length("Content-Length: 5\r\nContent-Length: 5", "end"),
    length("Content-Length: 5, 5", "end"), length("Content-Length: 5,5\r\ncontent-length:5", "end"),
    length("Content-Length: 05", "end, tolerated(spelling of Content-Length)"),
    length("Content-Length: 5, 05", "end, tolerated(spelling of Content-Length)"),
    length("Content-Length: 5\r\nContent-Length: 6", error: "content-length at 52"),
    length("Content-Length: 6\r\nContent-Length: 5", error: "content-length at 52"),
    length("Content-Length: 5, 6", error: "content-length at 36"),
    length("Content-Length: 5,", error: "content-length at 35"),
    length("Content-Length: ,5", error: "content-length at 33"),
    length("Content-Length: 5\r\nContent-Length:", error: "content-length at 51"),
    length("Content-Length:", error: "content-length at 32"),
    length("Content-Length: +5", error: "content-length at 33"),
    length("Content-Length: -5", error: "content-length at 33"),
    length("Content-Length: 5 6", error: "content-length at 34"),
    length("Content-Length: 0x5", error: "content-length at 34"),
    length("Content-Length: 5.0", error: "content-length at 34"),
    length("Content-Length: 5\r\n 6", error: "content-length at 34"),
    length("Content-Length: \"5\"", error: "content-length at 33"),
    length("Content-Length: \u{B2}", error: "content-length at 33"),
    length("Content-Length: 9223372036854775808", error: "content-length at 51"),
    length("Content-Length: 18446744073709551621", error: "content-length at 52"),
    ExchangeCase(
      "another length, of nothing", "HTTP/1.1 200 OK\r\nContent-Length: 00\r\n\r\n",
      ["200 length(0)", "end, tolerated(spelling of Content-Length)"]),
  ]

  private static let bodyless = [
    ExchangeCase(
      "HEAD", answering: ["HEAD"], "HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n", ["200 none", "end"]),
    ExchangeCase(
      "HEAD of chunks", answering: ["HEAD"], chunkedHead, ["200 none", "end"]),
    ExchangeCase(
      "HEAD with a body", answering: ["HEAD"], "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      ["200 none", "end"], error: "unexpected-bytes at 0"),
    ExchangeCase(
      "204 with a body, which is not the next response", answering: ["GET", "GET"],
      "HTTP/1.1 204 No Content\r\nContent-Length: 5\r\n\r\nhello",
      ["204 none", "end, tolerated(length without a body)"], leftOver: 5),
    ExchangeCase(
      "204 with a body in chunks", answering: ["GET", "GET"],
      "HTTP/1.1 204 No Content\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ["204 none", "end, tolerated(length without a body)"], leftOver: 5),
    ExchangeCase(
      "204 with a body that nothing told of", "HTTP/1.1 204 No Content\r\n\r\nhello", ["204 none", "end"],
      error: "unexpected-bytes at 0"),
    ExchangeCase(
      "204 that says it is empty", "HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n",
      ["204 none", "end"]),
    ExchangeCase(
      "304", "HTTP/1.1 304 Not Modified\r\nContent-Length: 100\r\n\r\n", ["304 none", "end"]),
    ExchangeCase(
      "304 with a length that is none", "HTTP/1.1 304 Not Modified\r\nContent-Length: 5, x\r\n\r\n",
      ["304 none", "end"]),
    ExchangeCase(
      "1xx with a length", "HTTP/1.1 103 Hints\r\nContent-Length: 5\r\n\r\n" + empty,
      ["informational 103", "200 length(0)", "end, tolerated(length without a body)"]),
    ExchangeCase(
      "1xx with a body", "HTTP/1.1 100 Continue\r\nContent-Length: 5\r\n\r\nhello",
      ["informational 100"], error: "status-line at 44"),
    ExchangeCase(
      "CONNECT", answering: ["CONNECT"], "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello",
      ["200 upgrade", "end, upgraded"], leftOver: 5),
    ExchangeCase(
      "CONNECT refused", answering: ["CONNECT"], "HTTP/1.1 407 No\r\nContent-Length: 5\r\n\r\nhello",
      ["407 length(5)", "data hello", "end"]),
  ]

  private static let informational =
    [100, 102, 103, 199].flatMap { status in
      [1, 50, 64].map { count in
        ExchangeCase(
          "\(count) times \(status)",
          String(repeating: "HTTP/1.1 \(status) So\r\n\r\n", count: count) + empty,
          Array(repeating: "informational \(status)", count: count) + ["200 length(0)", "end"])
      }
    } + [
      ExchangeCase(
        "one too many", String(repeating: "HTTP/1.1 100 Continue\r\n\r\n", count: 65) + empty,
        Array(repeating: "informational 100", count: 64), error: "informational-count at 1600"),
      ExchangeCase(
        "100 with fields", "HTTP/1.1 100 Continue\r\nA: b\r\nConnection: close\r\n\r\n" + empty,
        ["informational 100", "200 length(0)", "end"]),
      ExchangeCase(
        "101 not asked for", "HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\n\r\nbytes",
        error: "unexpected-switch at 0"),
      ExchangeCase(
        "100 and no more", "HTTP/1.1 100 Continue\r\n\r\n", ["informational 100"],
        error: "truncated-head at 25"),
      ExchangeCase(
        "100 after the final response", empty + "HTTP/1.1 100 Continue\r\n\r\n", ["200 length(0)", "end"],
        error: "unexpected-bytes at 0"),
      ExchangeCase(
        "100 of HTTP/1.0 with LF alone", "HTTP/1.0 100 Continue\n\n" + empty,
        ["informational 100", "200 length(0)", "end, tolerated(bare LF)"]),
    ]

  // MARK: Heads

  private static let fieldLines = [
    field("Content-Length : 5", error: "field-name at 32"),
    field("Transfer-Encoding : chunked", error: "field-name at 35"),
    field("transfer-encoding\t: chunked", error: "field-name at 35"),
    field("X : a", "end, tolerated(skipped line)"), field("X: a\r\n b", "end, tolerated(folded line)"),
    field("X: a\r\n\tb\r\n  c", "end, tolerated(folded line)"),
    field("X: a\r\n ", "end, tolerated(folded line)"),
    field(": x", "end, tolerated(skipped line)"), field("X", "end, tolerated(skipped line)"),
    field(" : x", error: "content-length at 34"), field("X y: a", "end, tolerated(skipped line)"),
    field("X: a\nY: b", "end, tolerated(bare LF)"), field("X:", "end"), field("X:a", "end"),
    field("X: a\n\r b", error: "line-end at 42"), field("X\0: a", error: "field-name at 37"),
    field("X(: a", error: "field-name at 37"), field("X: a\0", error: "field-value at 40"),
    field("X: a\rY: b", error: "line-end at 41"), field("X: \u{1B}[2J", error: "field-value at 39"),
    ExchangeCase(
      "a first line that begins with a blank",
      "HTTP/1.1 200 OK\r\n X: y\r\nContent-Length: 0\r\n\r\n",
      ["200 length(0)", "end, tolerated(skipped line)"]),
    ExchangeCase(
      "a length in a first line that begins with a blank",
      "HTTP/1.1 200 OK\r\n Content-Length: 2\r\n\r\nhello",
      ["200 close", "data hello", "end, framedByClose"]),
    ExchangeCase(
      "a folded coding", "HTTP/1.1 200 OK\r\nTransfer-Encoding:\r\n chunked\r\n\r\n0\r\n\r\n",
      ["200 chunked", "end, tolerated(folded line)"]),
    ExchangeCase(
      "LF alone ends every line", "HTTP/1.1 200 OK\nContent-Length: 5\n\nhello",
      ["200 length(5)", "data hello", "end, tolerated(bare LF)"]),
    ExchangeCase(
      "trailers that LF ends", chunkedHead + "0\r\nX: y\n\n",
      ["200 chunked", "trailers X=y", "end, tolerated(bare LF)"]),
    ExchangeCase(
      "an empty line of LF after chunks", chunkedHead + "0\r\n\n", ["200 chunked", "end, tolerated(bare LF)"]),
    ExchangeCase(
      "a trailer that is skipped", chunkedHead + "0\r\nContent-Length : 9\r\n\r\n",
      ["200 chunked", "end, tolerated(skipped line)"]),
  ]

  private static let codings = [
    coding("Transfer-Encoding: Chunked", "chunked", "end"),
    coding(
      "Transfer-Encoding: identity, chunked", "chunked", "end, tolerated(spelling of Transfer-Encoding)"),
    coding("Transfer-Encoding: , chunked", "chunked", "end, tolerated(spelling of Transfer-Encoding)"),
    coding("Transfer-Encoding: chunked,", "chunked", "end, tolerated(spelling of Transfer-Encoding)"),
    coding(
      "Transfer-Encoding:\r\nTransfer-Encoding: chunked", "chunked",
      "end, tolerated(spelling of Transfer-Encoding)"),
    coding("Transfer-Encoding: xchunked", "close"), coding("Transfer-Encoding: chunked, gzip", "close"),
    coding("Transfer-Encoding: \"chunked\"", "close"), coding("Transfer-Encoding: chunked;q=1", "close"),
    coding("Transfer-Encoding: chunked foo", "close"), coding("Transfer-Encoding: chunke", "close"),
    coding("Transfer-Encoding: identity", "close"), coding("Transfer-Encoding: chunked, identity", "close"),
    coding("Transfer-Encoding:", "close"), coding("Transfer-Encoding: \u{E9}chunked", "close"),
    coding("Transfer-Encoding: gzip", "close"),
    ExchangeCase(
      "gzip under chunked", "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n",
      error: "transfer-encoding at 42"),
    ExchangeCase(
      "gzip under chunked, in two fields",
      "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\nTransfer-Encoding: chunked\r\n\r\n",
      error: "transfer-encoding at 61"),
    ExchangeCase(
      "chunked twice", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked, chunked\r\n\r\n",
      error: "transfer-encoding at 45"),
    ExchangeCase(
      "chunked by a control byte", "HTTP/1.1 200 OK\r\nTransfer-Encoding: \u{0B}chunked\r\n\r\n",
      error: "field-value at 36"),
    ExchangeCase(
      "chunks in HTTP/1.0", "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nx\r\n0\r\n\r\n",
      ["200 chunked", "data x", "end, transferEncodingInHTTP10"]),
    ExchangeCase(
      "chunks in HTTP/1.0 that says it goes on",
      "HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n",
      ["200 chunked", "end, transferEncodingInHTTP10"]),
  ]

  private static let beforeTheHead =
    (1...4).map { count in
      ExchangeCase(
        "\(count) empty lines first", String(repeating: "\r\n", count: count) + empty,
        ["200 length(0)", "end"])
    } + [
      ExchangeCase(
        "five empty lines first", String(repeating: "\r\n", count: 5) + empty, error: "status-line at 8"),
      ExchangeCase(
        "empty lines of LF first", "\n\n" + empty,
        ["200 length(0)", "end"]),
      ExchangeCase("junk first", "junkHTTP/1.1 200 OK\r\n\r\n", error: "status-line at 0"),
      ExchangeCase("a blank first", " HTTP/1.1 200 OK\r\n\r\n", error: "status-line at 0"),
      ExchangeCase("NUL first", "\0HTTP/1.1 200 OK\r\n\r\n", error: "status-line at 0"),
      ExchangeCase(
        "a mark of byte order first", "\u{EF}\u{BB}\u{BF}HTTP/1.1 200\r\n\r\n", error: "status-line at 0"),
      ExchangeCase("CR first", "\rHTTP/1.1 200 OK\r\n\r\n", error: "line-end at 1"),
      status("HTTP/1.1 200", "end"), status("HTTP/1.1 200 ", "end"), status("HTTP/1.1  200  OK", "end"),
      status("HTTP/1.2 200 OK", "end"), status("HTTP/1.1 299 \u{E9}", "end"),
      status("HTTP/1.0 200", "end, http10"), status("ICY 200 OK", "end, http10"),
      ExchangeCase(
        "ICY that says it goes on", "ICY 200 OK\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n",
        ["200 length(0)", "end, tolerated(ICY status line)"]),
    ]

  // MARK: The connection

  private static let persistence = [
    lasting("Connection: Close", "end, closeRequested"), lasting("Connection: CLOSE", "end, closeRequested"),
    lasting("Connection: keep-alive, close", "end, closeRequested"),
    lasting("Connection: close, keep-alive", "end, closeRequested"),
    lasting("Connection: keep-alive\r\nConnection: close", "end, closeRequested"),
    lasting("Connection: ,\tclose\t,", "end, closeRequested"),
    lasting("Proxy-Connection: close", "end, closeRequested"), lasting("Connection: X-Foo", "end"),
    lasting("Connection: closed", "end"), lasting("Connection: \"close\"", "end"),
    lasting("Connection:", "end"),
    lasting("Keep-Alive: timeout=5, max=1", "end"),
    lasting("X: y", version: "1.0", "end, http10"),
    lasting("Connection: X-Foo", version: "1.0", "end, http10"),
    lasting("Proxy-Connection: keep-alive", version: "1.0", "end, http10"),
    lasting("Connection: Keep-Alive", version: "1.0", "end"),
    lasting("Connection: keep-alive, close", version: "1.0", "end, closeRequested"),
  ]

  private static let endings = [
    ExchangeCase(
      "bytes after the body", answering: ["GET"], "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhelloEXTRA",
      ["200 length(5)", "data hello", "end"], error: "unexpected-bytes at 0"),
    ExchangeCase(
      "bytes after the last body", answering: ["GET", "GET"],
      "HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 5\r\n\r\nhelloHTTP/1.1 200 OK\r\n\r\n",
      ["200 length(5)", "data hello", "end, closeRequested"], leftOver: 19),
    ExchangeCase(
      "bytes after chunks", answering: ["GET"], chunkedHead + "0\r\n\r\nEXTRA", ["200 chunked", "end"],
      error: "unexpected-bytes at 0"),
    ExchangeCase(
      "an empty line after the body", answering: ["GET"], empty + "\r\n", ["200 length(0)", "end"],
      error: "unexpected-bytes at 0"),
    ExchangeCase(
      "a short body", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nhello", ["200 length(10)", "data hello"],
      error: "truncated-body at 44"),
    ExchangeCase(
      "no body at all", "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\n", ["200 length(10)"],
      error: "truncated-body at 39"),
    ExchangeCase(
      "a body that the connection ends", "HTTP/1.0 200 OK\r\n\r\nhello",
      ["200 close", "data hello", "end, http10"]),
    ExchangeCase(
      "a body that the connection will end", ending: false, "HTTP/1.1 200 OK\r\n\r\nhello",
      ["200 close", "data hello"]),
    ExchangeCase("an empty connection", "", error: "no-response at 0"),
    ExchangeCase("half a head", "HTTP/1.1 200 OK\r\nContent-Le", error: "truncated-head at 27"),
  ]
}

// MARK: Rows

private let chunkedHead = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
private let empty = "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"

private func chunks(_ body: String, _ events: [String], error: String? = nil) -> ExchangeCase {
  ExchangeCase(body.debugDescription, chunkedHead + body, ["200 chunked"] + events, error: error)
}

/// A chunk of five bytes whose line is `line`; without an error it is read, and the last chunk after it.
private func size(_ line: String, _ error: String?) -> ExchangeCase {
  chunks("\(line)\r\nhello\r\n0\r\n\r\n", error == nil ? ["data hello", "end"] : [], error: error)
}

/// These fields before five bytes.
private func length(_ fields: String, _ end: String = "", error: String? = nil) -> ExchangeCase {
  ExchangeCase(
    fields.debugDescription, "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\nhello",
    error == nil ? ["200 length(5)", "data hello", end] : [], error: error)
}

/// This line after another field.
private func field(_ line: String, _ end: String = "", error: String? = nil) -> ExchangeCase {
  let isFraming =
    line.lowercased().hasPrefix("content-length ") || line.lowercased().hasPrefix("transfer-encoding")
  let head = isFraming ? "HTTP/1.1 200 OK\r\n" : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n"
  return ExchangeCase(
    line.debugDescription, "\(head)\(line)\r\n\r\n", error == nil ? ["200 length(0)", end] : [], error: error)
}

/// This coding before a chunked body of nothing; closed, all of it is data.
private func coding(_ fields: String, _ framing: String, _ end: String = "end, framedByClose") -> ExchangeCase
{
  ExchangeCase(
    fields.debugDescription, "HTTP/1.1 200 OK\r\n\(fields)\r\n\r\n0\r\n\r\n",
    ["200 \(framing)"] + (framing == "close" ? ["data 0\r\n\r\n"] : []) + [end])
}

private func status(_ line: String, _ end: String) -> ExchangeCase {
  let code = line.contains("299") ? 299 : 200
  return ExchangeCase(
    line.debugDescription, line + "\r\nContent-Length: 0\r\n\r\n", ["\(code) length(0)", end])
}

private func lasting(_ fields: String, version: String = "1.1", _ end: String) -> ExchangeCase {
  ExchangeCase(
    "HTTP/\(version), \(fields.debugDescription)",
    "HTTP/\(version) 200 OK\r\n\(fields)\r\nContent-Length: 0\r\n\r\n", ["200 length(0)", end])
}
