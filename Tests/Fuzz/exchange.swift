import GannetExchange
import GannetHTTP

/// A connection's input; bits of the second byte choose the requests.
@_cdecl("LLVMFuzzerTestOneInput")
public func fuzz(_ start: UnsafePointer<UInt8>?, _ count: Int) -> CInt {
  withInput(start, count) { bytes in
    guard bytes.count > 1 else { return }
    let choice = bytes[1]
    let methods = ["GET", "HEAD", "CONNECT", "POST"]
    var limits = Limits()
    limits.informationalResponses = 3
    checkCuts(
      Array(bytes.dropFirst(2)), choice: bytes[0],
      { (machine: ExchangeMachine(limits: limits), sent: 0, left: 0) }
    ) { state, input, trace throws(SyntaxError) in
      if state.machine.isIdle, !input.isEmpty, choice & 0x80 == 0 || state.sent < 2 {
        let method = methods[Int(choice >> (state.sent & 1 * 2)) & 3]
        state.machine.sentRequest(method: method, bodyFollows: choice & 16 > 0, mayUpgrade: choice & 32 > 0)
        state.sent += 1
      }
      let (consumed, event) = try state.machine.receive(input)
      switch event {
      case nil: state.left += input.count - consumed
      case .body(let range): trace.data.append(copying: input.extracting(range))
      case .informational, .head, .trailers, .end:
        trace.add("\(String(describing: event)) \(state.machine.persistence) \(state.machine.responseStart)")
      }
      return (consumed, event != nil)
    } finish: { state, trace throws(SyntaxError) in
      trace.add("left \(state.left) \(state.machine.receivedAnything)")
      if choice & 64 > 0 { return }
      while let event = try state.machine.receivedEndOfFile() {
        trace.add("\(event) \(state.machine.persistence)")
      }
    }
  }
}
