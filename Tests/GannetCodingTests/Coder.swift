import CZlib
import GannetCoding
import TestSupport

/// What a decoder made of a body: everything it gave, then its error.
struct Decoded: Equatable {
  var bytes: [UInt8] = []
  var error: ContentCodingError?
}

/// Decodes `body` in the pieces of `cut`, at most `limit` bytes at once; nil when it is passed on as it is.
func decode(_ body: [UInt8], _ encoding: String, _ cut: Cut = .whole, limit: Int = 1000) -> Decoded? {
  guard var decoder = ContentDecoder(contentEncoding: [encoding]) else { return nil }
  var result = Decoded()
  do throws(ContentCodingError) {
    for piece in cut.pieces(of: body) {
      let bytes = Array(piece)
      var start = 0
      var madeAll = false
      while start < bytes.count || madeAll {
        var output: [UInt8] = []
        defer { result.bytes += output }
        start += try decoder.decode(bytes.span.extracting(start...), into: &output, atMost: limit)
        madeAll = output.count == limit
        precondition(output.count <= limit)
      }
    }
    try decoder.finish()
  } catch {
    result.error = error
  }
  return result
}

/// The formats that zlib writes.
enum Format: Int32 {
  case gzip = 31
  case zlib = 15
  case raw = -15
}

/// Compresses, the other way.
func encode(_ bytes: [UInt8], _ format: Format, level: Int32 = 6) -> [UInt8] {
  var input = bytes
  var stream = unsafe z_stream()
  let size = unsafe Int32(MemoryLayout<z_stream>.size)
  unsafe deflateInit2_(&stream, level, Z_DEFLATED, format.rawValue, 8, Z_DEFAULT_STRATEGY, ZLIB_VERSION, size)
  defer { unsafe deflateEnd(&stream) }
  var output = [UInt8](repeating: 0, count: Int(unsafe deflateBound(&stream, UInt(bytes.count))) + 64)
  let capacity = output.count
  unsafe input.withUnsafeMutableBufferPointer { source in
    unsafe output.withUnsafeMutableBufferPointer { target in
      // SAFETY: both buffers outlive the one call.
      unsafe stream.next_in = source.baseAddress
      unsafe stream.avail_in = UInt32(source.count)
      unsafe stream.next_out = target.baseAddress
      unsafe stream.avail_out = UInt32(target.count)
      _ = unsafe deflate(&stream, Z_FINISH)
    }
  }
  return Array(output.prefix(capacity - Int(unsafe stream.avail_out)))
}
