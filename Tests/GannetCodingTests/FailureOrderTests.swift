import GannetCoding
import TestSupport
import Testing

@Suite("failures in a chain of codings")
struct FailureOrderTests {
  /// A gzip member whose data breaks off in the middle, around something that was never deflate.
  static let body: [UInt8] = [
    0x1F, 0x8B, 0x08, 0, 0x1F, 0xFF, 0x08, 0xAE, 0x1F, 0x8B, 0x8B, 0x08, 0x63, 0x51, 0x8B, 0xFF, 0x08, 0x8B,
    0x08,
  ]

  @Test("the one that lies first in the body is told, however it is cut", arguments: Cut.all(of: body.count))
  func first(cut: Cut) {
    var decoder = ContentDecoder([.deflate, .gzip])
    var output: [UInt8] = []
    var failure: ContentCodingError?
    do throws(ContentCodingError) {
      for piece in cut.pieces(of: Self.body) {
        let consumed = try decoder.decode(piece.span, into: &output, atMost: 1000)
        #expect(consumed == piece.count)
      }
      try decoder.finish()
    } catch {
      failure = error
    }
    #expect(failure?.coding == .deflate && failure?.kind == .mislabelled)
    #expect(output.isEmpty)
  }
}
