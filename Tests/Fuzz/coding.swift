import GannetCoding
import GannetHTTP

/// A coded body; the second byte chooses the codings.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    guard bytes.count > 1 else { return }
    let chains = [["gzip"], ["deflate"], ["gzip, gzip"], ["deflate", "gzip"]]
    let chain = chains[Int(bytes[1]) % chains.count]
    let body = Array(bytes.dropFirst(2))
    let whole = decode([body[...]], chain)
    let cut = decode(pieces(of: body[...], bytes[0]), chain)
    require(whole == cut, "the pieces gave \(cut), the whole \(whole)")
  }
}

/// Decodes up to 256 KiB, 1000 bytes at a time.
private func decode(_ pieces: [ArraySlice<UInt8>], _ chain: [String]) -> Trace {
  var trace = Trace()
  guard var decoder = ContentDecoder(contentEncoding: chain) else { return trace }
  let limit = 1000
  do throws(ContentCodingError) {
    for piece in pieces {
      var rest = piece
      while true {
        let before = trace.data.count
        let consumed = try decoder.decode(rest.span, into: &trace.data, atMost: limit)
        require(consumed >= 0 && consumed <= rest.count, "consumed more than there was")
        require(trace.data.count - before <= limit, "made more than was asked for")
        rest = rest.dropFirst(consumed)
        if trace.data.count >= 256 * 1024 {
          trace.data.removeLast(trace.data.count - 256 * 1024)
          return trace
        }
        if trace.data.count - before < limit {
          require(rest.isEmpty, "wants more, and left some")
          break
        }
      }
    }
    try decoder.finish()
  } catch {
    trace.failure = "\(error.kind) \(error.coding) \(error.offset)"
  }
  return trace
}
