import GannetHTTP
import Testing

@Suite("Content disposition and file names")
struct ContentDispositionTests {
  @Test(
    "the name that the server gives",
    arguments: [
      ("attachment; filename=foo.html", "foo.html"),
      ("attachment; filename=\"foo bar;.html\"", "foo bar;.html"),
      ("attachment; filename=foo bar.html", "foo bar.html"), ("inline; FileName = \"a\\\"b\"", "a\"b"),
      ("filename=foo.html", "foo.html"), (";filename=foo.html", "foo.html"), ("attachment", nil),
      ("attachment; filename=\"\"", ""), ("attachment; filename=a; filename=b", "a"),
      ("attachment; filename=a; filename*=UTF-8''%e2%82%ac", "€"),
      ("attachment; filename*=utf-8'en'x; filename=a", "x"),
      ("attachment; filename*=iso-8859-1''%E4", "ä"),
      ("attachment; filename*=iso-8859-1''%80; filename=a", "a"),
      ("attachment; filename*=UTF-8''%ff; filename=a", "a"),
      ("attachment; filename*=UTF-8''%4; filename=a", "a"),
      ("attachment; filename*=UTF-8'%41; filename=a", "a"),
      ("attachment; filename*=big5''x; filename=a", "a"),
      ("attachment; filename*=\"UTF-8''x\"; filename=a", "a"), ("attachment; filename=é.txt", "é.txt"),
      ("attachment; filename=%41.txt", "%41.txt"),
    ] as [(String, String?)])
  func filename(text: String, filename: String?) { #expect(ContentDisposition(text).filename == filename) }

  @Test("the disposition")
  func type() {
    #expect(ContentDisposition("Attachment ; filename=a").type == "attachment")
    #expect(ContentDisposition("filename=a").type == "")
    #expect(ContentDisposition("").type == "")
  }

  @Test(
    "the name to save under, from the disposition",
    arguments: [
      ("foo.txt", "foo.txt"), ("../../etc/passwd", "passwd"), ("C:\\\\dir\\\\foo.txt", "foo.txt"),
      (".profile", "profile"),
      ("..", "p.txt"), ("a/", "p.txt"), (" . a . ", "a"), ("a\u{0}b\u{1F}\u{202E}c.txt", "abc.txt"),
      ("a:b*c?.txt", "a_b_c_.txt"), ("~root", "_root"), ("foo", "foo"), ("foo.", "foo"),
      ("€.html", "€.html"),
    ])
  func safe(filename: String, expected: String) {
    let name = SuggestedFilename.choose(
      disposition: "attachment; filename=\"\(filename)\"", path: "/d/p", host: "h", mediaType: "text/plain")
    #expect(name == expected)
  }

  @Test(
    "the name to save under, from the URL",
    arguments: [
      ("/a/b.txt", nil, "b.txt"), ("/a/b", "image/jpeg", "b.jpg"), ("/a/b.cgi", "image/jpeg", "b.cgi"),
      ("/%E2%82%AC.txt", nil, "€.txt"), ("/%ff.txt", nil, "%ff.txt"), ("/a%2F..%2Fb", nil, "a_.._b"),
      ("/..%2f..%2fetc", nil, "_.._etc"), ("/%2e%2e", nil, "h.example"), ("/", "text/html", "h.example.html"),
      ("", nil, "h.example"), ("/a/", "text/html", "h.example.html"), ("/a;b=c", "x/unknown", "a;b=c"),
    ] as [(String, String?, String)])
  func url(path: String, mediaType: String?, expected: String) {
    let name = SuggestedFilename.choose(disposition: nil, path: path, host: "h.example", mediaType: mediaType)
    #expect(name == expected)
  }

  @Test("never empty, never longer than a file system takes")
  func limits() {
    let long = String(repeating: "€", count: 200)
    let name = SuggestedFilename.choose(
      disposition: nil, path: "/" + long + ".txt", host: "h", mediaType: nil)
    #expect(name.utf8.count <= SuggestedFilename.byteLimit && name.hasSuffix(".txt"))
    let extended = SuggestedFilename.choose(
      disposition: nil, path: "/" + long, host: "h", mediaType: "image/jpeg")
    #expect(extended.utf8.count <= SuggestedFilename.byteLimit && extended.hasSuffix("€.jpg"))
    #expect(SuggestedFilename.choose(disposition: nil, path: "", host: "", mediaType: nil) == "unknown")
    let oneCharacter = "a" + String(repeating: "\u{301}", count: 300) + ".txt"
    let cut = SuggestedFilename.choose(disposition: nil, path: "/" + oneCharacter, host: "h", mediaType: nil)
    #expect(cut.utf8.count <= SuggestedFilename.byteLimit && cut.utf8.first == 0x61 && cut.hasSuffix(".txt"))
  }

  @Test("a mark that joins what is before it hides neither a slash nor a dot, and begins no name")
  func marks() {
    for mark in ["\u{301}", "\u{FE0F}", "\u{20DD}", "\u{903}"] {
      for (given, expected) in [
        ("\(mark)x", "x"), (".\(mark)bashrc", "bashrc"), ("../\(mark)x", "x"), ("a/b\\\\\(mark)x", "x"),
        ("a\(mark).txt", "a\(mark).txt"), ("..\(mark)", "p"),
      ] {
        let name = SuggestedFilename.choose(
          disposition: "attachment; filename=\"\(given)\"", path: "/d/p", host: "h", mediaType: nil)
        #expect(name.unicodeScalars.elementsEqual(expected.unicodeScalars))
      }
    }
  }
}
