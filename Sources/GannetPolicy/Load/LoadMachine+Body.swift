import GannetHTTP

extension LoadMachine {
  /// Whether the current request asks for a 100 before its body; not once a server has refused to be asked.
  package var expectsContinue: Bool { request.expectsContinue && !hasDroppedExpectation }

  /// The body of the current request is a stream, and has been begun: whoever sends it again has to have it anew.
  package mutating func beganStream() {
    guard case .stream(let number) = request.body else { return }
    begunStream = number
  }

  /// The delegate gave a body in place of the stream that has been sent: the request has it, or nil for none.
  package mutating func answeredNewBody(_ answer: Body?, into actions: inout [Action]) {
    guard case .askingNewBody(let reused) = state else { return }
    guard let answer, answer != .none else {
      actions.append(.discard)
      return fail(.noNewBody, into: &actions)
    }
    begunStream = nil
    request.body = answer
    state = .exchanging(reused: reused)
    actions.append(.send(authorization))
  }

  /// A connection is there, but the body has been sent before. True when it has to be asked for.
  mutating func asksForNewBody(reused: Bool, into actions: inout [Action]) -> Bool {
    guard let begunStream, request.body == .stream(begunStream) else { return false }
    state = .askingNewBody(reused: reused)
    actions.append(.askNewBody)
    return true
  }

  /// Takes in a 417. True when the request asked for a 100: it is then sent again without asking (RFC 9110 section
  /// 15.5.18).
  mutating func droppedExpectation(by head: ResponseHead, into actions: inout [Action]) -> Bool {
    guard head.status == 417, expectsContinue else { return false }
    hasDroppedExpectation = true
    hasRetried = false
    actions.append(.discard)
    connect(fresh: false, into: &actions)
    return true
  }
}
