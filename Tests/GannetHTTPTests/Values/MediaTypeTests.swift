import GannetHTTP
import Testing

@Suite("Media type")
struct MediaTypeTests {
  @Test(
    "type, subtype, charset",
    arguments: [
      ("text/html", "text/html", nil), ("Text/HTML;Charset=UTF-8", "text/html", "utf-8"),
      (" text/html ; charset = \"utf-8\" ; x", "text/html", "utf-8"),
      ("text/html (x); charset=a", "text/html", "a"),
      ("text/html;charset=;charset=b", "text/html", "b"), ("text/html;charset=a;charset=b", "text/html", "a"),
      ("text/html;charset=\"a", "text/html", "a"), ("text/html;charset=\"a\\\"b\"x", "text/html", "a\"b"),
      ("text/html;charset=\"\"", "text/html", nil), ("text/html;=x;é=y;;charset=c", "text/html", "c"),
      ("image/svg+xml", "image/svg+xml", nil),
      ("text/html;charset=\" \"", "text/html", nil), ("text/html;charset=\" a\t\"", "text/html", "a"),
    ] as [(String, String, String?)])
  func reads(text: String, essence: String, charset: String?) {
    let type = MediaType(text)
    #expect(type?.essence == essence)
    #expect(type?.charset == charset)
  }

  @Test(
    "refused",
    arguments: ["", "text", "text/", "/html", "te xt/html", "text/ht<ml", "text /html", "é/x", ";x=y"])
  func refuses(text: String) { #expect(MediaType(text) == nil) }

  @Test(
    "the boundary, as cameras write it",
    arguments: [
      ("multipart/x-mixed-replace; boundary=--myboundary", "--myboundary"),
      ("multipart/x-mixed-replace; boundary =B", "B"), ("multipart/x-mixed-replace; boundary= B", "B"),
      ("multipart/x-mixed-replace; BOUNDARY = B", "B"), ("multipart/x-mixed-replace;boundary=B;", "B"),
      ("multipart/x-mixed-replace;boundary=B; charset=utf-8", "B"),
      ("multipart/x-mixed-replace ; boundary=B ", "B"),
      ("multipart/x-mixed-replace;boundary=B;boundary=C", "B"),
      ("multipart/x-mixed-replace;\tboundary\t=\tB\t", "B"),
      ("Multipart/X-Mixed-Replace;boundary=\"B C;D\"", "B C;D"),
      ("multipart/x-mixed-replace;boundary=data-boundary--", "data-boundary--"),
      ("multipart/x-mixed-replace", nil), ("multipart/x-mixed-replace;boundary=", nil),
    ] as [(String, String?)])
  func boundary(text: String, boundary: String?) {
    #expect(MediaType(text)?.essence == "multipart/x-mixed-replace")
    #expect(MediaType(text)?.boundary == boundary)
  }

  @Test("of several fields, the last readable one counts, and inherits the charset of its own type")
  func several() {
    func essence(_ values: String...) -> String? {
      let type = MediaType(contentTypeOf: FieldList(values.map { (name: "content-type", value: $0) }))
      return type.map { $0.essence + ($0.charset.map { ";" + $0 } ?? "") }
    }
    #expect(essence() == nil)
    #expect(essence("") == nil)
    #expect(essence("text/plain;charset=a", "text/plain") == "text/plain;a")
    #expect(essence("text/plain;charset=a", "text/html") == "text/html")
    #expect(essence("text/plain;charset=a", "text/html", "text/plain") == "text/plain")
    #expect(essence("text/plain, */*, junk") == "text/plain")
    #expect(essence("text/plain;x=\"a,text/html\";charset=b") == "text/plain;b")
  }
}
