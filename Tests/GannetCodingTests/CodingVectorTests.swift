import GannetCoding
import Testing
import TestSupport

@Suite("vectors: content codings", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"))
struct CodingVectorTests {
  /// Rows where we do not do what the suite says, and why.
  static let differences = [
    "go/gzip/6": "garbage after a member is ignored, as curl and browsers do",
    "go/zlib/0": "a body of no bytes is complete whatever its label says",
    "go/zlib/10": "HTTP has no preset dictionaries",
  ]

  @Test("edge cases") func edges() throws {
    var run = 0
    for row in try VectorFile.rows("codings/content-codings-edge.jsonl") {
      let label = try #require(row.string("content_encoding"))
      let body = try #require(row.base64("input_b64"))
      guard let result = decode(body, label) else {
        #expect(label == "br" || label == "zstd" || label == "none", "\(row.id)")
        continue
      }
      run += 1
      #expect((result.error == nil) == (row.string("result") == "ok"), "\(row.id)")
      if let output = row.base64("output_b64") { #expect(result.bytes == output, "\(row.id)") }
      if let length = row.integer("output_length") { #expect(result.bytes.count == length, "\(row.id)") }
      for cut in Cut.all(of: body.count, fullUpTo: 100) {
        #expect(decode(body, label, cut) == result, "\(row.id)")
      }
    }
    #expect(run == 30)
  }

  @Test("Firefox") func firefox() throws {
    let rows = try VectorFile.rows("codings/firefox-content-encoding.jsonl")
    #expect(rows.count == 5)
    for row in rows {
      let label = try #require(row.string("content_encoding"))
      let body = try #require(row.base64("input_b64"))
      guard let result = decode(body, label) else {
        #expect(label == "br")
        continue
      }
      #expect(result.error == nil && result.bytes.count == row.integer("output_length"), "\(row.id)")
    }
  }

  @Test("Go's compress packages") func go() throws {
    let rows = try VectorFile.rows("codings/go-deflate-gzip-zlib.jsonl")
    #expect(rows.count == 59)
    #expect(Set(rows.map(\.id)).isSuperset(of: Self.differences.keys))
    for row in rows {
      let label = row.string("coding") == "gzip" ? "gzip" : "deflate"
      let body = try #require(row.base64("input_b64"))
      if row.string("error")?.hasSuffix("every prefix") == true {
        for count in 1..<body.count {
          #expect(decode(Array(body.prefix(count)), label)?.error?.kind == .truncated, "\(row.id) \(count)")
        }
        continue
      }
      let result = try #require(decode(body, label))
      let matches = (result.error == nil) == !row.has("error")
      #expect(matches != (Self.differences[row.id] != nil), "\(row.id): \(result)")
      if result.error == nil, !row.has("error"), let output = row.base64("output_b64") {
        #expect(result.bytes == output, "\(row.id)")
      }
      for cut in Cut.all(of: body.count) { #expect(decode(body, label, cut) == result, "\(row.id) \(cut)") }
    }
  }
}
