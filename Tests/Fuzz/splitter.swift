import GannetHTTP
import GannetMultipart

/// A multipart stream; the second byte chooses the boundary and the limits.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  withInput(start, count) { bytes in
    guard bytes.count > 1 else { return }
    let boundaries: [String?] = [
      "B", "--B", nil, "--", "----", "B--", "-", "a\nb", "frame boundary", "--B--B",
    ]
    let boundary = boundaries[Int(bytes[1] & 15) % boundaries.count]
    var limits = Limits()
    if bytes[1] & 16 > 0 { limits.partDoubtBytes = 30 }
    if bytes[1] & 32 > 0 { limits.partHeadBytes = 40 }
    checkCuts(
      Array(bytes.dropFirst(2)), choice: bytes[0],
      { MixedReplaceSplitter(boundary: boundary, limits: limits) }
    ) { splitter, input, trace throws(SyntaxError) in
      let (consumed, event) = try splitter.step(input)
      require(event != nil || consumed == input.count, "wants more, and left some")
      if case .data(let range) = event {
        require(range.upperBound <= consumed && !range.isEmpty, "data that was not consumed")
        trace.data.append(copying: input.extracting(range))
      } else if let event {
        note(event, in: &trace)
      }
      return (consumed, event != nil)
    } finish: { splitter, trace throws(SyntaxError) in
      while let event = try splitter.receivedEndOfFile() { note(event, in: &trace) }
    }
  }
}

private func note(_ event: MixedReplaceSplitter.Event, in trace: inout Trace) {
  if case .held(let held) = event {
    require(!held.isEmpty, "no data")
    trace.data += held
  } else {
    trace.add("\(event)")
  }
}
