import GannetHTTP
import TestSupport
import Testing

@Suite("vectors: whole heads", .enabled(if: VectorFile.areAvailable, "GANNET_VECTORS is not set"), .longWork)
struct WholeHeadVectorTests {
  static let files = [
    "chromium-response-headers", "go-response", "h11-framing", "http-parser-response", "llhttp-request",
    "llhttp-response", "picohttpparser", "wpt-h1",
  ]

  @Test(
    "the one-pass parser is the byte-by-byte decoder on every input, and on seeded changes of it",
    arguments: files)
  func same(file: String) throws {
    var random = SeededGenerator(seed: 7)
    for row in try VectorFile.rows("response-parsing/\(file).jsonl") {
      guard let input = row.latin1("input") else { continue }
      for bytes in [input, input + Array("\r\n\r\n".utf8)] {
        WholeHeadTests.expectSame(bytes)
        for _ in 0..<20 {
          var changed = bytes
          WholeHeadTests.mutate(&changed, using: &random)
          WholeHeadTests.expectSame(changed)
        }
      }
    }
  }
}
