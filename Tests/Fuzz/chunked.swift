import GannetHTTP

/// A chunked body.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  withInput(start, count) { bytes in
    guard let choice = bytes.first else { return }
    checkCuts(Array(bytes.dropFirst()), choice: choice, { ChunkedDecoder() }) {
      decoder, input, trace throws(SyntaxError) in
      let (consumed, step) = try decoder.step(input)
      switch step {
      case .needsInput: return (consumed, false)
      case .body(let range):
        require(range.upperBound == consumed, "the data does not end what was consumed")
        trace.data.append(copying: input.extracting(range))
      case .trailers(let fields): trace.add("\(fields)")
      }
      return (consumed, true)
    } finish: { decoder, trace throws(SyntaxError) in
      trace.add("\(decoder.hasAllData)")
    }
  }
}
