import GannetHTTP
import TestSupport
import Testing

@Suite("Body framing")
struct BodyFramingTests {
  /// A head without its status line and line ends shown as `|`, and what is decided for it.
  struct Case: Sendable, CustomTestStringConvertible {
    var method = "GET"
    var start = "HTTP/1.1 200 OK"
    let fields: String
    let expected: String

    init(_ fields: String, _ expected: String, start: String = "HTTP/1.1 200 OK", method: String = "GET") {
      self.fields = fields
      self.expected = expected
      self.start = start
      self.method = method
    }

    var testDescription: String { "\(method) \(start) \(fields)" }
  }

  static func decision(_ test: Case) throws -> String {
    let lines = test.fields.isEmpty ? [] : test.fields.split(separator: "|").map(String.init)
    let text = ([test.start] + lines + ["", ""]).joined(separator: "\r\n")
    var decoder = ResponseHeadDecoder()
    let (_, head) = try decoder.step(Bytes.latin1(text).span)
    do {
      let (framing, persistence) = try BodyFraming.decide(for: #require(head), answering: test.method)
      return "\(framing) \(persistence)"
    } catch {
      guard let error = error as? SyntaxError else { throw error }
      let byte = error.byte.map { String(Unicode.Scalar($0)) } ?? "nil"
      return "\(error.rule.rawValue) \(byte) at \(error.offset)"
    }
  }

  @Test(
    "by length and by close",
    arguments: [
      Case("", "close framedByClose"),
      Case("Content-Length: 0", "length(0) reusable"),
      Case("Content-Length: 5", "length(5) reusable"),
      Case("content-length:\t05 ", "length(5) tolerated(spelling of Content-Length)"),
      Case("Content-Length: 5|Content-Length: 5", "length(5) reusable"),
      Case("Content-Length: 5 , 5|Content-Length: 5", "length(5) reusable"),
      Case("Content-Length: 9223372036854775807", "length(9223372036854775807) reusable"),
      Case("Content-Length: 9223372036854775808", "content-length 8 at 51"),
      Case("Content-Length: 99999999999999999999", "content-length 9 at 51"),
      Case("Content-Length: 5|Content-Length: 6", "content-length 6 at 52"),
      Case("Content-Length: 5, 6", "content-length 6 at 36"),
      Case("Content-Length: 05, 5", "length(5) tolerated(spelling of Content-Length)"),
      Case("Content-Length: 5,", "content-length nil at 35"),
      Case("Content-Length: ,5", "content-length , at 33"),
      Case("Content-Length:", "content-length nil at 32"),
      Case("Content-Length: +5", "content-length + at 33"),
      Case("Content-Length: -5", "content-length - at 33"),
      Case("Content-Length: 0x10", "content-length x at 34"),
      Case("Content-Length: 5 5", "content-length   at 34"),
      Case("Content-Length: 5| x", "content-length   at 34"),
      Case("Content-Length:| 5,| 6", "content-length 6 at 40"),
      Case("Content-Length: 5|  , 5 | | ,5x", "content-length x at 50"),
      Case("A: b| c|Content-Length: 5,|\t  5,|  x5|X: y| z", "content-length x at 56"),
      Case("Content-Length: 5,| |  ,5", "content-length , at 42"),
      Case("Content-Length: \"5\"", "content-length \" at 33"),
      Case("Content-Length: 5.0", "content-length . at 34"),
    ])
  func length(test: Case) throws { try #expect(Self.decision(test) == test.expected) }

  @Test(
    "by transfer coding",
    arguments: [
      Case("Transfer-Encoding: chunked", "chunked reusable"),
      Case("transfer-encoding:Chunked", "chunked reusable"),
      Case("Transfer-Encoding: , chunked,", "chunked tolerated(spelling of Transfer-Encoding)"),
      Case("Transfer-Encoding: chunked|Content-Length: 188", "chunked lengthWithTransferEncoding"),
      Case("Content-Length: junk|Transfer-Encoding: chunked", "chunked lengthWithTransferEncoding"),
      Case("Transfer-Encoding: xchunked", "close framedByClose"),
      Case("Transfer-Encoding: chunked, gzip", "close framedByClose"),
      Case("Transfer-Encoding: \"chunked\"", "close framedByClose"),
      Case("Transfer-Encoding: chunked;q=1", "close framedByClose"),
      Case("Transfer-Encoding: identity|Content-Length: 5", "close framedByClose"),
      Case("Transfer-Encoding:", "close framedByClose"),
      Case("Transfer-Encoding: identity, chunked", "chunked tolerated(spelling of Transfer-Encoding)"),
      Case("Transfer-Encoding: chunked, identity", "close framedByClose"),
      Case("Transfer-Encoding: gzip, chunked", "transfer-encoding c at 42"),
      Case("Transfer-Encoding: gzip|Transfer-Encoding: chunked", "transfer-encoding c at 61"),
      Case("Transfer-Encoding: chunked, chunked", "transfer-encoding c at 45"),
      Case("Transfer-Encoding: gzip,|   Chunked", "transfer-encoding C at 46"),
      Case("Transfer-Encoding: chunked", "chunked transferEncodingInHTTP10", start: "HTTP/1.0 200 OK"),
      Case(
        "Transfer-Encoding: chunked|Connection: keep-alive", "chunked transferEncodingInHTTP10",
        start: "HTTP/1.0 200 OK"),
    ])
  func coding(test: Case) throws { try #expect(Self.decision(test) == test.expected) }

  @Test(
    "no body, whatever the fields say",
    arguments: [
      Case("Content-Length: 100", "none reusable", method: "HEAD"),
      Case("Transfer-Encoding: chunked", "none reusable", method: "HEAD"),
      Case("", "none reusable", method: "HEAD"),
      Case("Content-Length: 5", "none tolerated(length without a body)", start: "HTTP/1.1 204 No Content"),
      Case("Content-Length: 0", "none reusable", start: "HTTP/1.1 204 No Content"),
      Case("Content-Length: 0, 1", "none tolerated(length without a body)", start: "HTTP/1.1 204 No Content"),
      Case(
        "Transfer-Encoding: chunked", "none tolerated(length without a body)",
        start: "HTTP/1.1 204 No Content"),
      Case("Content-Length: 5, 6", "none reusable", start: "HTTP/1.1 304 Not Modified"),
      Case("Connection: close", "none closeRequested", start: "HTTP/1.1 304 Not Modified"),
      Case("Content-Length: 5", "none tolerated(length without a body)", start: "HTTP/1.1 100 Continue"),
      Case("Upgrade: h2c", "upgrade upgraded", start: "HTTP/1.1 101 Switching"),
      Case("Content-Length: 5", "upgrade upgraded", method: "CONNECT"),
      Case("Content-Length: 5", "length(5) reusable", start: "HTTP/1.1 407 Auth", method: "CONNECT"),
      Case("", "close framedByClose", method: "head"),
    ])
  func bodyless(test: Case) throws { try #expect(Self.decision(test) == test.expected) }

  @Test(
    "persistence",
    arguments: [
      Case("Content-Length: 5|Connection: Close", "length(5) closeRequested"),
      Case("Content-Length: 5|Connection: keep-alive, close", "length(5) closeRequested"),
      Case("Content-Length: 5|Connection: keep-alive|Connection: close", "length(5) closeRequested"),
      Case("Content-Length: 5|Proxy-Connection: close", "length(5) closeRequested"),
      Case("Content-Length: 5|Connection: X-Foo", "length(5) reusable"),
      Case("Content-Length: 5|Connection: closed", "length(5) reusable"),
      Case("Content-Length: 5|Connection: close", "length(5) closeRequested", start: "ICY 200 OK"),
      Case("Content-Length: 5", "length(5) http10", start: "HTTP/1.0 200 OK"),
      Case("Content-Length: 5|Connection: Keep-Alive", "length(5) reusable", start: "HTTP/1.0 200 OK"),
      Case("Connection: keep-alive", "close framedByClose", start: "HTTP/1.0 200 OK"),
    ])
  func persistence(test: Case) throws { try #expect(Self.decision(test) == test.expected) }
}
