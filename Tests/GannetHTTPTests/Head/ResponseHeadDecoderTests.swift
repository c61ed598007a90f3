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
      Row("HTTP/1.1 999  \t \n\n", "1.1 999 <> []"),
      Row("HTTP/1.1 200 caf\u{C3}\u{A9}\r\n\r\n", "1.1 200 <café> []"),
      Row("HTTP/1.1 200 caf\u{E9}\r\n\r\n", "1.1 200 <café> []"),
      Row("ICY 200 OK\r\n\r\n", "1.0 200 <OK> []"),
      Row("HTTP/1.1 200 OK\n\n", "1.1 200 <OK> []"),
      Row("HTTP/1.1 200\nA:b\n\n\n", "1.1 200 <> [A=b] | left 1"),
      Row("\r\n\n\r\n\r\nHTTP/1.1 200 OK\r\n\r\n", "1.1 200 <OK> []"),
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
    Row("", "1.1 200 <OK> [A=b; C=d]").check(Decoders.head(Array(("\r\n" + head).utf8), limits: limits))
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
