import GannetHTTP
import TestSupport
import Testing

@Suite("Response head decoder")
struct ResponseHeadDecoderTests {
  @Test(
    "status lines, at every cut",
    arguments: [
      Row("HTTP/1.1 200 OK\r\n\r\n", "1.1 200 <OK> []"),
      Row("HTTP/1.0 404 Not   found  \r\n\r\nbody", "1.0 404 <Not   found> [] | left 4"),
      Row("HTTP/1.2 200 OK\r\n\r\n", "1.1 200 <OK> []"),
      Row("HTTP/1.1 200\r\n\r\n", "1.1 200 <> []"),
      Row("HTTP/1.1 200 \r\n\r\n", "1.1 200 <> []"),
      Row("HTTP/1.1   200   OK\r\n\r\n", "1.1 200 <OK> []"),
      Row("HTTP/1.1 999 \tx\t\r\n\r\n", "1.1 999 <\tx> []"),
      Row("HTTP/1.1 999 \t\r\n\r\n", "1.1 999 <> []"),
      Row("HTTP/1.1 999  \t \n\n", "1.1 999 <> [] tolerated bare LF"),
      Row("HTTP/1.1 200 caf\u{C3}\u{A9}\r\n\r\n", "1.1 200 <café> []"),
      Row("HTTP/1.1 200 caf\u{E9}\r\n\r\n", "1.1 200 <café> []"),
      Row("ICY 200 OK\r\n\r\n", "1.0 200 <OK> [] tolerated ICY status line"),
      Row("HTTP/1.1 200 OK\n\n", "1.1 200 <OK> [] tolerated bare LF"),
      Row("HTTP/1.1 200\nA:b\n\n\n", "1.1 200 <> [A=b] tolerated bare LF | left 1"),
      Row("\r\n\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "1.1 200 <OK> []"),
      Row("HTTP/1.1 200 OK\r\nA: b\n\r\n", "1.1 200 <OK> [A=b] tolerated bare LF"),
      Row("HTTP/1.1 200 OK\r\nA: b\r\n\n", "1.1 200 <OK> [A=b] tolerated bare LF"),
      Row("HTTP/1.1 200 OK\nA: b\r\n\r\n", "1.1 200 <OK> [A=b] tolerated bare LF"),
      Row("HTTP/1.1 200 OK\r\nA: b\r\n c\r\n\r\n", "1.1 200 <OK> [A=b c] tolerated folded line"),
      Row("HTTP/1.1 200 OK\r\n A: b\r\n\r\n", "1.1 200 <OK> [] tolerated skipped line"),
      Row("HTTP/1.1 200 OK\r\nA\r\n\r\n", "1.1 200 <OK> [] tolerated skipped line"),
      Row(
        "\nICY 200 OK\nA\nB: c\n d\n\n",
        "1.0 200 <OK> [B=c d] tolerated ICY status line, bare LF, folded line, skipped line"
      ),
    ])
  func statusLine(row: Row) { row.check(Decoders.head(Bytes.latin1(row.input))) }

  @Test(
    "status lines refused, at their first wrong byte",
    arguments: [
      Row("\r\n\r\n\r\n\r\n\r\n", "error status-line at 8"),
      Row("\r\r", "error line-end at 1"),
      Row("junkHTTP/1.1 200 OK\r\n", "error status-line at 0"),
      Row(" HTTP/1.1 200 OK\r\n", "error status-line at 0"),
      Row("\u{15}\u{3}\u{3}\u{0}\u{2}", "error status-line at 0"),
      Row("http/1.1 200 OK\r\n", "error status-line at 0"),
      Row("HTTQ/1.1 200 OK\r\n", "error status-line at 3"),
      Row("HTTP 200 OK\r\n", "error status-line at 4"),
      Row("ICE 200 OK\r\n", "error status-line at 2"),
      Row("ICY/1.0 200 OK\r\n", "error http-version at 3"),
      Row("HTTP/2 200\r\n", "error http-version at 5"),
      Row("HTTP/0.9 200\r\n", "error http-version at 5"),
      Row("HTTP/11.1 200\r\n", "error http-version at 6"),
      Row("HTTP/1,1 200\r\n", "error http-version at 6"),
      Row("HTTP/1.x 200\r\n", "error http-version at 7"),
      Row("HTTP/1.10 200\r\n", "error http-version at 8"),
      Row("HTTP/1.1\r\n", "error http-version at 8"),
      Row("HTTP/1.1\t200\r\n", "error http-version at 8"),
      Row("HTTP/1.1 \t200\r\n", "error status-code at 9"),
      Row("HTTP/1.1 \r\n", "error status-code at 9"),
      Row("HTTP/1.1 099 x\r\n", "error status-code at 9"),
      Row("HTTP/1.1 -99 x\r\n", "error status-code at 9"),
      Row("HTTP/1.1 20 x\r\n", "error status-code at 11"),
      Row("HTTP/1.1 2000 x\r\n", "error status-code at 12"),
      Row("HTTP/1.1 200OK\r\n", "error status-code at 12"),
      Row("HTTP/1.1 200\tOK\r\n", "error status-code at 12"),
      Row("HTTP/1.1 200 O\u{0}K\r\n", "error reason-phrase at 14"),
      Row("HTTP/1.1 200 O\u{7F}K\r\n", "error reason-phrase at 14"),
      Row("HTTP/1.1 200 OK\rX", "error line-end at 16"),
      Row("HTTP/1.1 200 OK\r\n\rX", "error line-end at 18"),
    ])
  func refused(row: Row) { row.check(Decoders.head(Bytes.latin1(row.input))) }

  @Test(
    "what a foreign first byte hints at",
    arguments: [
      ("\u{15}\u{3}\u{1}", "TLS"), ("\u{0}\u{0}\u{12}", "HTTP/2"), ("<html>", "document"), ("SSH-2.0", "SSH"),
    ])
  func hint(input: String, word: String) {
    let error = Decoders.head(Bytes.latin1(input)).whole.error
    #expect(error?.reason.contains(word) == true)
  }

  @Test("limits: at each, and one past it; empty lines before the head don't count")
  func limits() {
    var limits = Limits()
    let head = "HTTP/1.1 200 OK\r\nA: b\r\nC: d\r\n\r\n"
    limits.headBytes = head.utf8.count
    Row("", "1.1 200 <OK> [A=b; C=d]").check(
      Decoders.head(Array(("\r\n" + head).utf8), limits: limits))
    limits.headBytes -= 1
    Row("", "error head-size at 32").check(Decoders.head(Array(("\r\n" + head).utf8), limits: limits))
    limits.headBytes = 10
    Row("", "error head-size at 10").check(Decoders.head(Array(head.utf8), limits: limits))
    limits = Limits()
    limits.fieldCount = 2
    Row("", "1.1 200 <OK> [A=b; C=d]").check(Decoders.head(Array(head.utf8), limits: limits))
    limits.fieldCount = 1
    Row("", "error field-count at 24").check(Decoders.head(Array(head.utf8), limits: limits))
  }

  @Test("the limit on a line: the status line, a field line, and one with its folded lines")
  func lineLimit() {
    var limits = Limits()
    limits.lineBytes = 17
    let head = "\r\nHTTP/1.1 200 OK\r\nA: 0123456789ab\r\nC: 012345\r\n 789\r\n\r\n"
    Row("", "1.1 200 <OK> [A=0123456789ab; C=012345 789] tolerated folded line")
      .check(
        Decoders.head(Array(head.utf8), limits: limits))
    limits.lineBytes = 16
    Row("", "error line-size at 18").check(Decoders.head(Array(head.utf8), limits: limits))
    limits.lineBytes = 17
    for (line, offset) in [
      ("A: 0123456789abc", 36), ("C: 012345\r\n 789ab", 36), ("no field at all..", 36),
      (": none there at all", 36),
    ] {
      let error = Decoders.head(Array("\r\nHTTP/1.1 200 OK\r\n\(line)\r\n\r\n".utf8), limits: limits)
      Row("", "error line-size at \(offset)").check(error)
      #expect(error.whole.error?.reason.contains("lineBytes") == true)
    }
    // The head's limit is told first where both are passed.
    limits.headBytes = 17
    Row("", "error head-size at 19").check(Decoders.head(Array(head.utf8), limits: limits))
  }

  @Test("one decoder for one head after the other", arguments: Cut.all(of: 31))
  func restart(cut: Cut) throws {
    let first = Bytes.latin1("\r\nHTTP/1.1 404 Not at all\r\nA: b\r\nLonger: value\r\n c\r\n\r\n")
    let second = Bytes.latin1("HTTP/1.0 200 caf\u{E9}\r\nX:\r\nY: z\r\n\r\n")
    var decoder = ResponseHeadDecoder()
    var heads: [ResponseHead] = []
    for round in 0..<6 {
      decoder.restart()
      #expect(decoder.isIdle)
      for piece in cut.pieces(of: round % 2 == 0 ? first : second) {
        if let head = try decoder.step(piece.span).head { heads.append(head) }
      }
      // Some are held, others let go: those that are held must not change.
      if round == 2 { heads.removeFirst(2) }
    }
    #expect(
      heads.map(Decoders.describe) == [
        "1.1 404 <Not at all> [A=b; Longer=value c] tolerated folded line",
        "1.0 200 <café> [X=; Y=z]",
        "1.1 404 <Not at all> [A=b; Longer=value c] tolerated folded line",
        "1.0 200 <café> [X=; Y=z]",
      ])
  }

  @Test("a head after an error, with its own offsets")
  func restartAfterError() throws {
    var decoder = ResponseHeadDecoder()
    for bad in ["HTTP/1.1 200 OK\r\nA: \u{0}\r\n\r\n", "nonsense", "HTTP/1.1 200 OK\r\nA b\r\n("] {
      #expect(throws: SyntaxError.self) { try decoder.step(Bytes.latin1(bad).span) }
      decoder.restart()
      let error = #expect(throws: SyntaxError.self) { try decoder.step(Bytes.latin1("HTTP/1.1 x").span) }
      #expect(error?.offset == 9)
      decoder.restart()
      #expect(try decoder.step(Bytes.latin1("HTTP/1.1 200 OK\r\n\r\n").span).head?.status == 200)
      decoder.restart()
    }
  }

  @Test("a head is a value: its reason stays when its fields change, and the other way round")
  func values() throws {
    var decoder = ResponseHeadDecoder()
    let head = try #require(try decoder.step(Bytes.latin1("HTTP/1.1 200 Fine\r\nA: b\r\n\r\n").span).head)
    var other = head
    other.fields = ["B": "c"]
    #expect(other.reason == "Fine" && other.fields["b"] == "c" && head.fields["a"] == "b")
    #expect(other != head)
    other = head
    other.reason = "Well"
    #expect(other.fields == head.fields && other != head)
    other.reason = "Fine"
    #expect(other == head && other.hashValue == head.hashValue)
    other.fields.append(name: "C", value: "d")
    #expect(other.reason == "Fine" && head.fields.count == 1)
  }

  @Test("fields added to a head that has folded framing fields")
  func addedFields() throws {
    var decoder = ResponseHeadDecoder()
    let text = "HTTP/1.1 200 OK\r\nContent-Length: 5,\r\n 5,\r\n\t5\r\nA: b\r\n\r\n"
    var head = try #require(try decoder.step(Bytes.latin1(text).span).head)
    head.fields.append(name: "C", value: "d")
    head.fields.append(name: "E", value: "")
    #expect(
      Decoders.describe(head) == "1.1 200 <OK> [Content-Length=5, 5, 5; A=b; C=d; E=] tolerated folded line")
    #expect(try BodyFraming.decide(for: head, answering: "GET").framing == .length(5))
    head.fields.set("6", for: "content-length")
    head.fields.removeAll(named: "a")
    #expect(Decoders.describe(head.fields) == "[Content-Length=6; C=d; E=]")
  }

  @Test("idle until a byte of a head comes")
  func idle() throws {
    var decoder = ResponseHeadDecoder()
    #expect(decoder.isIdle)
    _ = try decoder.step(Array("\r\n\r".utf8).span)
    #expect(decoder.isIdle)
    _ = try decoder.step(Array("\nH".utf8).span)
    #expect(!decoder.isIdle)
  }
}
