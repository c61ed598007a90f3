import GannetCoding
import Testing
import TestSupport

@Suite("content decoder")
struct ContentDecoderTests {
  static let text = Array(String(repeating: "Hello, content codings! ", count: 40).utf8)
  static let foo = encode(Array("foo".utf8), .gzip)
  static let bar = encode(Array("bar".utf8), .gzip)

  /// A body, its label, and what comes out.
  struct Case: CustomTestStringConvertible {
    let name: String
    let encoding: String
    let body: [UInt8]
    let output: [UInt8]
    var kind: ContentCodingError.Kind?
    var testDescription: String { name }
  }

  static var cases: [Case] {
    let gzip = encode(text, .gzip)
    var badSum = gzip
    badSum[gzip.count - 8] ^= 1
    var badLength = gzip
    badLength[gzip.count - 1] ^= 1
    let zlib = encode(text, .zlib)
    let foo = Array("foo".utf8)
    return [
      Case(name: "gzip", encoding: "gzip", body: gzip, output: text),
      Case(name: "x-gzip, any case", encoding: "X-GZip", body: gzip, output: text),
      Case(name: "deflate as zlib", encoding: "deflate", body: zlib, output: text),
      Case(name: "deflate alone", encoding: "deflate", body: encode(text, .raw), output: text),
      Case(
        name: "deflate alone, stored", encoding: "deflate", body: encode(text, .raw, level: 0), output: text),
      Case(
        name: "stored whose first byte is zlib's", encoding: "deflate",
        body: [0x08, 0x03, 0x00, 0xfc, 0xff] + foo + [0x03, 0x00], output: foo),
      Case(name: "identity beside gzip", encoding: "identity, gzip", body: gzip, output: text),
      Case(name: "empty elements", encoding: ", gzip ,\t", body: gzip, output: text),
      Case(name: "gzip in gzip", encoding: "gzip, gzip", body: encode(gzip, .gzip), output: text),
      Case(name: "gzip, then deflate", encoding: "gzip, deflate", body: encode(gzip, .zlib), output: text),
      Case(
        name: "three", encoding: "deflate, gzip, deflate", body: encode(encode(zlib, .gzip), .raw),
        output: text),
      Case(name: "two members", encoding: "gzip", body: self.foo + bar, output: Array("foobar".utf8)),
      Case(
        name: "empty member first", encoding: "gzip", body: encode([], .gzip) + bar, output: Array("bar".utf8)
      ),
      Case(name: "empty payload", encoding: "gzip", body: encode([], .gzip), output: []),
      Case(name: "empty body, gzip", encoding: "gzip", body: [], output: []),
      Case(name: "empty body, deflate", encoding: "deflate", body: [], output: []),
      Case(name: "empty body, chain", encoding: "gzip, gzip", body: [], output: []),
      Case(name: "garbage: line end", encoding: "gzip", body: self.foo + [13, 10], output: foo),
      Case(name: "garbage: zeros", encoding: "gzip", body: self.foo + [0, 0, 0], output: foo),
      Case(name: "garbage: tr", encoding: "gzip", body: self.foo + Array("tr".utf8), output: foo),
      Case(name: "garbage: half a magic", encoding: "gzip", body: self.foo + [0x1f], output: foo),
      Case(name: "garbage: 1F 00", encoding: "gzip", body: self.foo + [0x1f, 0], output: foo),
      Case(name: "garbage after zlib", encoding: "deflate", body: zlib + Array("xx".utf8), output: text),
      Case(
        name: "second member damaged", encoding: "gzip", body: self.foo + [0x1f, 0x8b, 0x00, 0x00],
        output: foo, kind: .damaged),
      Case(
        name: "second member cut", encoding: "gzip", body: self.foo + [0x1f, 0x8b, 0x08],
        output: foo, kind: .truncated),
      Case(name: "checksum", encoding: "gzip", body: badSum, output: text, kind: .damaged),
      Case(name: "length", encoding: "gzip", body: badLength, output: text, kind: .damaged),
      Case(
        name: "Adler", encoding: "deflate", body: zlib.dropLast() + [zlib[zlib.count - 1] ^ 1], output: text,
        kind: .damaged),
      Case(name: "no trailer", encoding: "gzip", body: gzip.dropLast(8), output: text, kind: .truncated),
      Case(name: "no last byte", encoding: "gzip", body: gzip.dropLast(), output: text, kind: .truncated),
      Case(name: "one byte of gzip", encoding: "gzip", body: [0x1f], output: [], kind: .truncated),
      Case(name: "one byte of zlib", encoding: "deflate", body: [0x78], output: [], kind: .truncated),
      Case(
        name: "zlib's trailer cut", encoding: "deflate", body: zlib.dropLast(), output: text, kind: .truncated
      ),
      Case(
        name: "not coded, gzip", encoding: "gzip", body: Array("hello".utf8), output: [], kind: .mislabelled),
      Case(name: "zlib as gzip", encoding: "gzip", body: zlib, output: [], kind: .mislabelled),
      Case(name: "gzip as deflate", encoding: "deflate", body: gzip, output: [], kind: .mislabelled),
      Case(
        name: "dictionary", encoding: "deflate", body: [0x78, 0xbb, 0, 0, 0, 1, 0x03, 0], output: [],
        kind: .damaged),
      Case(
        name: "reserved flags", encoding: "gzip", body: [0x1f, 0x8b, 8, 0xe0, 0, 0, 0, 0, 0, 3], output: [],
        kind: .damaged),
      Case(
        name: "inner coding cut", encoding: "gzip, deflate", body: encode(gzip.dropLast(9), .zlib),
        output: text, kind: .truncated),
      Case(
        name: "inner coding mislabelled", encoding: "gzip, deflate", body: zlib, output: [],
        kind: .mislabelled),
    ]
  }

  @Test("table, at every cut", arguments: cases)
  func table(row: Case) throws {
    let whole = try #require(decode(row.body, row.encoding))
    #expect(whole.bytes == row.output)
    #expect(whole.error?.kind == row.kind)
    for cut in Cut.all(of: row.body.count) {
      let result = decode(row.body, row.encoding, cut)
      #expect(result == whole, "\(cut)")
    }
    for limit in [1, 2, 7, 100_000] {
      #expect(decode(row.body, row.encoding, .whole, limit: limit) == whole, "limit \(limit)")
    }
  }

  @Test("errors say where and what")
  func words() {
    let plain = decode(Array("hello".utf8), "gzip")?.error
    #expect(plain?.reason == "the body is labelled gzip and is not: incorrect header check")
    #expect(plain?.offset == 2)
    let cut = decode(Self.foo.dropLast(), "gzip")?.error
    #expect(cut?.reason == "the body ended before its gzip coding did")
    #expect(cut?.offset == Int64(Self.foo.count - 1))
  }

  @Test(
    "labels that are passed on",
    arguments: ["", "identity", "br", "gzip, br", "none", "gzip;q=1", "compress", ","])
  func passedOn(label: String) {
    #expect(decode([1, 2, 3], label) == nil)
  }

  @Test("a chain longer than the limit is not followed")
  func longChain() {
    let five = Array(repeating: "gzip", count: ContentCoding.Chain.maximumLength)
    #expect(ContentCoding.Chain(fieldValues: five) == .codings(Array(repeating: .gzip, count: five.count)))
    #expect(ContentCoding.Chain(fieldValues: five + ["gzip"]) == .unsupported("gzip"))
    #expect(ContentCoding.Chain(fieldValues: ["gzip, zstd", "br"]) == .unsupported("zstd"))
  }

  @Test("which labels can be undone")
  func supported() {
    for name in ["gzip", "x-gzip", "GZIP", "deflate", "identity"] {
      #expect(ContentDecoder.isSupported(name))
    }
    for name in ["br", "zstd", "compress", "x-deflate"] { #expect(!ContentDecoder.isSupported(name)) }
  }

  @Test("a bomb passes in pieces", arguments: ["gzip", "gzip, gzip"])
  func bomb(encoding: String) throws {
    let total = 16 * 1024 * 1024
    var body = encode([UInt8](repeating: 0, count: total), .gzip)
    if encoding.contains(",") { body = encode(body, .gzip) }
    guard var decoder = ContentDecoder(contentEncoding: [encoding]) else {
      Issue.record("no decoder")
      return
    }
    var output: [UInt8] = []
    var start = 0
    var made = 0
    var largest = 0
    while true {
      output.removeAll(keepingCapacity: true)
      start += try decoder.decode(body.span.extracting(start...), into: &output, atMost: 16 * 1024)
      made += output.count
      largest = max(largest, output.count)
      if output.isEmpty { break }
    }
    try decoder.finish()
    #expect(made == total)
    #expect(largest == 16 * 1024)
    #expect(start == body.count)
  }
}
