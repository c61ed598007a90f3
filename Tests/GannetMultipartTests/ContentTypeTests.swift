import GannetMultipart
import TestSupport
import Testing

@Suite("multipart/x-mixed-replace: the content type")
struct ContentTypeTests {
  @Test(
    "the first boundary, however it is written",
    arguments: [
      ("multipart/x-mixed-replace; boundary=B", "B"),
      ("multipart/x-mixed-replace;boundary=B;", "B"),
      ("multipart/x-mixed-replace;boundary=B; charset=utf-8", "B"),
      ("multipart/x-mixed-replace; charset=utf-8; boundary=B", "B"),
      ("multipart/x-mixed-replace ; boundary=B ", "B"),
      ("multipart/x-mixed-replace;boundary=B;boundary=C", "B"),
      ("multipart/x-mixed-replace;\tboundary\t=\tB\t", "B"),
      ("multipart/x-mixed-replace; boundary =SOME", "SOME"),
      ("multipart/x-mixed-replace; boundary= SOME", "SOME"),
      ("multipart/x-mixed-replace; BOUNDARY=SOME", "SOME"),
      ("Multipart/X-Mixed-Replace;Boundary=SOME", "SOME"),
      ("multipart/x-mixed-replace; boundary=\"a b;c=d\"; x=y", "a b;c=d"),
      ("multipart/x-mixed-replace; boundary=\"a\\\"b\"", "a\"b"),
      ("multipart/x-mixed-replace; boundary=\"never ends", "never ends"),
      ("multipart/x-mixed-replace; boundary=a=b", "a=b"),
      ("multipart/x-mixed-replace; nonsense; boundary=B", "B"),
      ("multipart/x-mixed-replace; x=\"; boundary=no\"; boundary=B", "B"),
    ])
  func boundary(contentType: String, boundary: String) throws {
    var splitter = try #require(MixedReplaceSplitter(contentType: contentType))
    var outcome = Outcome()
    // A line that is no field tells a known boundary from one that is taken from the first line.
    let stream = Bytes.latin1("preamble\r\n--\(boundary)\r\n\r\none\r\n--\(boundary)--")
    _ = try Splitting.take(&splitter, stream, &outcome)
    #expect(outcome.events == ["part", "data one", "complete", "ended", "finished"])
  }

  @Test(
    "no boundary: the first line is the delimiter",
    arguments: [
      "multipart/x-mixed-replace", "multipart/x-mixed-replace;", "multipart/x-mixed-replace; boundary",
      "multipart/x-mixed-replace; boundary=", "multipart/x-mixed-replace; boundary=\"\"",
      "multipart/x-mixed-replace; xboundary=B",
    ])
  func none(contentType: String) throws {
    var splitter = try #require(MixedReplaceSplitter(contentType: contentType))
    var outcome = Outcome()
    _ = try Splitting.take(&splitter, Bytes.latin1("--first\r\n\r\none\r\n--B\r\n--first--"), &outcome)
    #expect(outcome.events == ["part", "data one\r\n--B", "complete", "ended", "finished"])
  }

  @Test(
    "only x-mixed-replace makes a splitter", arguments: ["multipart/mixed; boundary=B", "", ";", "text/html"])
  func otherTypes(contentType: String) { #expect(MixedReplaceSplitter(contentType: contentType) == nil) }
}
