import GannetHTTP

/// A response's head, and how it frames the body.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  withInput(start, count) { bytes in
    guard let choice = bytes.first else { return }
    checkCuts(Array(bytes.dropFirst()), choice: choice, { (decoder: ResponseHeadDecoder(), left: 0) }) {
      state, input, trace throws(SyntaxError) in
      let (consumed, head) = try state.decoder.step(input)
      guard let head else {
        state.left += input.count - consumed
        return (consumed, false)
      }
      trace.add("\(head.minorVersion) \(head.status) \(head.reason) \(head.fields)")
      for method in ["GET", "HEAD", "CONNECT"] {
        let (framing, keepAlive) = try BodyFraming.decide(for: head, answering: method)
        trace.add("\(framing) \(keepAlive)")
      }
      return (consumed, true)
    } finish: { state, trace throws(SyntaxError) in
      trace.add("left \(state.left)")
    }
  }
}
