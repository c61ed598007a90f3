import Testing

@testable import GannetMultipart

@Suite("boundary parameter")
struct BoundaryParameterTests {
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
      ("Multipart/X-Mixed-Replace;Boundary=--SOME", "--SOME"),
      ("multipart/x-mixed-replace; boundary=\"a b;c=d\"; x=y", "a b;c=d"),
      ("multipart/x-mixed-replace; boundary=\"a\\\"b\"", "a\"b"),
      ("multipart/x-mixed-replace; boundary=\"never ends", "never ends"),
      ("multipart/x-mixed-replace; boundary=a=b", "a=b"),
      ("multipart/x-mixed-replace; nonsense; boundary=B", "B"),
      ("multipart/x-mixed-replace; x=\"; boundary=no\"; boundary=B", "B"),
    ])
  func value(contentType: String, boundary: String) {
    let parameter = BoundaryParameter(contentType: contentType)
    #expect(parameter.mediaType == "multipart/x-mixed-replace")
    #expect(parameter.boundary == boundary)
  }

  @Test(
    "no boundary",
    arguments: [
      "multipart/x-mixed-replace", "multipart/x-mixed-replace;", "multipart/x-mixed-replace; boundary",
      "multipart/x-mixed-replace; boundary=", "multipart/x-mixed-replace; boundary=\"\"",
      "multipart/x-mixed-replace; xboundary=B",
    ])
  func none(contentType: String) { #expect(BoundaryParameter(contentType: contentType).boundary == nil) }

  @Test(
    "only x-mixed-replace makes a splitter", arguments: ["multipart/mixed; boundary=B", "", ";", "text/html"])
  func otherTypes(contentType: String) { #expect(MixedReplaceSplitter(contentType: contentType) == nil) }
}
