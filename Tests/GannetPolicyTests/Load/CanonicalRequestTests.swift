import GannetHTTP
import GannetPolicy
import Testing

/// docs/CONTRACT.md, rule 7.
@Suite struct CanonicalRequestTests {
  @Test(arguments: [
    ("http://www.apple.com", "http://www.apple.com/"), ("HTTP://EXAMPLE.org:80/A", "http://example.org/A"),
    ("https://h:443?q", "https://h/?q"), ("http://h/a b/../c|d", "http://h/c%7Cd"),
    ("http://u:p@H/#f", "http://u:p@h/#f"), ("http://bücher.example", "http://xn--bcher-kva.example/"),
    ("http://h/", "http://h/"), ("http://h:81/%7e?#", "http://h:81/%7e?#"),
  ])
  func onlyTheURLChanges(_ given: String, _ canonical: String) throws {
    let encoder = HostNameEncoder { _ in "xn--bcher-kva.example" }
    var request = LoadMachine.Request(
      method: "pUT", url: try HTTPURL(given, encodingHostsWith: encoder),
      fields: FieldList([("host", "MINE")]),
      body: .stream(3), expectsContinue: true)
    let found = CanonicalRequest(request)
    #expect(found.isChanged == (given != canonical))
    request.url = try HTTPURL(canonical)
    #expect(found.request == request)
    #expect(!CanonicalRequest(found.request).isChanged)
  }
}
