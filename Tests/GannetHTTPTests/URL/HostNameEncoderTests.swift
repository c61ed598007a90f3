import GannetFoundation
import GannetHTTP
import Testing

#if IDN
  import GannetIDN
#endif

/// Whose tables an encoder has.
enum HostNameTables: String {
  case foundation
  case libidn2

  /// Those that are part of this build: libidn2's with the package trait `IDN`.
  static var all: [HostNameTables] {
    #if IDN
      [.foundation, .libidn2]
    #else
      [.foundation]
    #endif
  }

  var encoder: HostNameEncoder? {
    switch self {
    case .foundation: .foundation
    case .libidn2:
      #if IDN
        .libidn2
      #else
        nil
      #endif
    }
  }
}

@Suite("hosts beyond ASCII")
struct HostNameEncoderTests {
  /// Puts the names it was given between brackets that are none: what reaches an encoder, and what becomes of its
  /// answer, without any tables.
  private static let showing = HostNameEncoder { (name: String) throws(HostNameEncoder.Failure) in
    if name.hasPrefix("bad-") { throw HostNameEncoder.Failure("it is bad") }
    if name.hasPrefix("say-") { return String(name.dropFirst(4).prefix { $0 != "é" }) }
    return "\(name.unicodeScalars.filter(\.isASCII).map(String.init).joined()).shown"
  }

  @Test(
    "the whole name reaches the encoder, its escapes undone, and its answer is the host",
    arguments: [
      ("http://Bücher.Test/", "http://bcher.test.shown/"),
      ("http://b%C3%BCcher.test:81/a?b#c", "http://bcher.test.shown:81/a?b#c"),
      ("https://u:p@ü.x:443", "https://u:p@.x.shown/"),
      ("http://say-1é", "http://0.0.0.1/"),
      ("http://say-0x7f.1é", "http://127.0.0.1/"),
      // ASCII, `xn--` or not, is what it says.
      ("http://say-x/", "http://say-x/"),
      ("http://xn--0/", "http://xn--0/"),
    ])
  func encoded(_ given: String, _ canonical: String) throws {
    let url = try HTTPURL(given, encodingHostsWith: Self.showing)
    #expect(url.canonical.text == canonical)
    #expect(url.isCanonical == (given == canonical))
    #expect(try HTTPURL(canonical) == url.canonical)
    let reference = String(given.drop { $0 != ":" }.dropFirst())
    let base = try HTTPURL("\(url.scheme)://base/")
    #expect(try base.resolving(reference, encodingHostsWith: Self.showing).text == canonical)
  }

  @Test(
    "what is refused, and where",
    arguments: [
      ("http://bad-é/", .badHost, 11, "the host has no ASCII form: it is bad"),
      ("http://say-é/", .badHost, 11, "none that a host may have"),
      ("http://say-a/bé/", nil, 0, ""),
      ("http://say-a%2Fbé/", .badHost, 12, "no host has this character"),
      ("http://say-a.1é/", .badHost, 7, "no IPv4 address"),
      ("http://a>b/", .badHost, 8, "no host has this character"),
      ("http://é%3C/", .badHost, 7, "none that a host may have"),
      ("http://%FF/", .badHost, 7, "not UTF-8"),
      ("http://a%C3/", .badHost, 8, "not UTF-8"),
    ] as [(String, URLSyntaxError.Rule?, Int, String)])
  func refused(_ given: String, _ rule: URLSyntaxError.Rule?, _ offset: Int, _ reason: String) throws {
    guard let rule else {
      #expect(throws: Never.self) { try HTTPURL(given, encodingHostsWith: Self.showing) }
      return
    }
    let error = #expect(throws: URLSyntaxError.self) { try HTTPURL(given, encodingHostsWith: Self.showing) }
    #expect(error?.rule == rule)
    #expect(error?.offset == offset)
    #expect(error?.reason.contains(reason) == true, "\(error?.reason ?? "")")
  }

  @Test(
    "an encoder's answer is looked at as a host's bytes are",
    arguments: ["a/c", "a b", "a:1", "é", "a%41", "\u{1}"])
  func answersAreChecked(_ answer: String) {
    let encoder = HostNameEncoder { _ in answer }
    let error = #expect(throws: URLSyntaxError.self) { try HTTPURL("http://é/", encodingHostsWith: encoder) }
    #expect(error?.rule == .badHost)
  }

  @Test("a byte of Latin-1 in a server's reference is no name")
  func latin1() throws {
    let reference: [UInt8] = Array("//b".utf8) + [0xFC] + Array("cher/".utf8)
    let error = #expect(throws: URLSyntaxError.self) {
      try HTTPURL("http://h/").resolving(reference.span, encodingHostsWith: Self.showing)
    }
    #expect(error == URLSyntaxError(.badHost, byte: 0xFC, at: 3, "the host is not UTF-8"))
  }

  @Test("without an encoder the error says what would have one")
  func without() {
    let error = #expect(throws: URLSyntaxError.self) { try HTTPURL("http://bücher.test/") }
    for word in ["xn--", "IDN", "HostNameEncoder.shared"] { #expect(error?.reason.contains(word) == true) }
  }

  @Test(
    "UTS 46, non-transitional",
    arguments: [
      ("bücher.example", "xn--bcher-kva.example"), ("BÜCHER.example", "xn--bcher-kva.example"),
      ("bu\u{308}cher.example", "xn--bcher-kva.example"), ("faß.example", "xn--fa-hia.example"),
      ("例え。テスト", "xn--r8jz45g.xn--zckzah"), ("пример.испытание", "xn--e1afmkfd.xn--80akhbyknj4f"),
      ("a\u{AD}b.ü", "ab.xn--tda"), ("１２７.0.0.1", "127.0.0.1"), ("ü_b.example", "xn--_b-wka.example"),
      ("r4.ü", "r4.xn--tda"), ("ü.", "xn--tda."),
      ("℀.example", nil), ("\u{AD}", nil), ("xn--ü", nil), ("\u{FFFD}", nil), ("ü%", nil),
    ] as [(String, String?)], HostNameTables.all)
  func tables(_ row: (name: String, host: String?), _ tables: HostNameTables) {
    let url = try? HTTPURL("http://\(row.name)/", encodingHostsWith: tables.encoder)
    #expect(url?.host == row.host)
  }

  @Test("tables on several threads at once", arguments: HostNameTables.all)
  func concurrent(_ tables: HostNameTables) async {
    await withTaskGroup { group in
      for number in 0..<64 {
        group.addTask {
          #expect(
            (try? HTTPURL("http://ü\(number)/", encodingHostsWith: tables.encoder))?.host.hasPrefix("xn--")
              == true)
        }
      }
    }
  }
}
