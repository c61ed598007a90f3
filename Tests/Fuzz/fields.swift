import GannetHTTP

/// A section of fields; the second byte chooses where it stands.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    guard bytes.count > 1 else { return }
    let contexts: [FieldSectionDecoder.Context] = [.head, .trailers, .part]
    let context = contexts[Int(bytes[1]) % 3]
    var limits = Limits()
    limits.partHeadBytes = 200
    limits.trailerBytes = 100
    checkCuts(Array(bytes.dropFirst(2)), choice: bytes[0], { FieldSectionDecoder(context, limits: limits) }) {
      decoder, input, trace throws(SyntaxError) in
      let (consumed, fields) = try decoder.step(input)
      if let fields { trace.add("\(fields)") }
      return (consumed, fields != nil)
    }
  }
}
