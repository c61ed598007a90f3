import GannetHTTP

/// A response's head: in one pass where that is possible, and byte by byte, it is the same, whatever the cuts.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  unsafe withInput(start, count) { bytes in
    guard bytes.count > 1 else { return }
    var limits = Limits()
    if bytes[1] & 1 > 0 { limits.headBytes = 40 + Int(bytes[1]) }
    if bytes[1] & 2 > 0 { limits.fieldCount = 3 }
    let input = Array(bytes.dropFirst(2))
    let fast = trace(input, bytes[0], limits, takesWholeHeads: true)
    let slow = trace(input, bytes[0], limits, takesWholeHeads: false)
    require(fast == slow, "in one pass \(fast), byte by byte \(slow)")
  }
}

private func trace(_ input: [UInt8], _ choice: UInt8, _ limits: Limits, takesWholeHeads: Bool) -> Trace {
  checkCuts(
    input, choice: choice,
    { (decoder: ResponseHeadDecoder(limits: limits, takesWholeHeads: takesWholeHeads), left: 0) }
  ) { state, input, trace throws(SyntaxError) in
    let (consumed, head) = try state.decoder.step(input)
    guard let head else {
      state.left += input.count - consumed
      return (consumed, false)
    }
    trace.add("\(head.minorVersion) \(head.status) \(head.reason) \(head.fields) \(head.tolerated)")
    require(head.fields.count <= limits.fieldCount, "more fields than the limit")
    require(head.status > 99 && head.status < 1000, "a status that is none")
    for field in head.fields {
      require(!field.name.isEmpty && field.name.utf8.allSatisfy { $0.isToken }, "a name that is no token")
      require(!field.value.utf8.contains { $0 == 0 || $0 == 10 || $0 == 13 }, "a value with a line in it")
    }
    for method in ["GET", "HEAD", "CONNECT"] {
      // Where an error lies must not depend on how the head was read either.
      do throws(SyntaxError) {
        let (framing, keepAlive) = try BodyFraming.decide(for: head, answering: method)
        trace.add("\(framing) \(keepAlive)")
      } catch { trace.add("\(error.rule) \(error.offset)") }
    }
    return (consumed, true)
  } finish: { state, trace throws(SyntaxError) in
    trace.add("left \(state.left)")
  }
}
