import GannetHTTP

extension ExchangeMachine {
  /// What follows the head of a request.
  public enum RequestBody: Hashable, Sendable {
    /// Nothing: the head is the request.
    case none
    /// A body.
    case follows
    /// A body, which the server is asked for first (`Expect: 100-continue`, RFC 9110 section 10.1.1).
    case followsContinue
  }

  /// How far a request is, and so what is to be done about it.
  public enum Request: Hashable, Sendable {
    /// No request is being sent, and none waits for the end of its response.
    case none
    /// Its head is to be sent; `sentHead()` says when that was done.
    case sendingHead
    /// Its body is not to be sent yet: until the server says 100, answers, or `continueTimeLimitPassed()`.
    case awaitingContinue
    /// Its body is to be sent; `sentBody()` says when that was done.
    case sendingBody
    /// All of it was sent.
    case sent
    /// What was not sent of it is not to be sent any more; the connection carries no other request.
    case stopped

    /// Whether more of the request is to be sent, now or later.
    public var isUnderWay: Bool {
      switch self {
      case .sendingHead, .awaitingContinue, .sendingBody: true
      case .none, .sent, .stopped: false
      }
    }
  }

  /// A whole request without a body has been handed to the socket. Changes nothing unless the machine is idle.
  ///
  /// - Parameters:
  ///   - method: the method as sent.
  ///   - mayUpgrade: whether the request asks for another protocol, so that 101 is an answer.
  public mutating func sentRequest(method: String, mayUpgrade: Bool = false) {
    guard isIdle else { return }
    beganRequest(method: method, mayUpgrade: mayUpgrade)
    sentHead()
  }

  /// The head of the request has been handed to the socket.
  public mutating func sentHead() {
    guard case .sendingHead = request else { return }
    switch requestBody {
    case .none: finishRequest()
    case .follows: request = .sendingBody
    case .followsContinue: request = .awaitingContinue
    }
  }

  /// The whole body of the request has been handed to the socket.
  public mutating func sentBody() {
    switch request {
    case .sendingBody: finishRequest()
    case .none, .sendingHead, .awaitingContinue, .sent, .stopped: break  // no body is being sent
    }
  }

  /// The server has had its time to ask for the body: it is sent unasked (RFC 9110 section 10.1.1: a client does not
  /// wait for an indefinite period, since there are servers that never say 100).
  public mutating func continueTimeLimitPassed() {
    guard case .awaitingContinue = request else { return }
    request = .sendingBody
  }

  /// The rest of the request cannot be sent, or is not to be.
  public mutating func stoppedSending() {
    guard request.isUnderWay else { return }
    request = .stopped
    if case .awaitingRequestEnd = state { state = .ending }
  }

  /// Whether the response is complete, and its end is told once the request has been sent.
  public var isWaitingForRequestEnd: Bool { state == .awaitingRequestEnd }

  /// Whether the response is complete, and the next `receive` tells its end whatever its input is.
  @inlinable public var isEndDue: Bool { state == .ending }

  private mutating func finishRequest() {
    request = .sent
    if case .awaitingRequestEnd = state { state = .ending }
  }

  /// The server said 100: it reads the body.
  mutating func receivedContinue() {
    switch request {
    case .awaitingContinue: request = .sendingBody
    case .sendingHead: if requestBody == .followsContinue { requestBody = .follows }
    case .none, .sendingBody, .sent, .stopped: break  // nobody waits for it
    }
  }

  /// The final answer has come, perhaps while the request was still being sent. A success does not say that the body
  /// is not wanted: a server may answer at once and read along, so it is sent to its end. Any other status needs no
  /// more of it (RFC 9112 section 9.3), and then its end is missing, so nothing can follow on the connection.
  mutating func decideOnRequest(status: Int, _ framing: BodyFraming) {
    guard request.isUnderWay else { return }
    guard 200..<300 ~= status, framing != .upgrade else { return request = .stopped }
    receivedContinue()
  }
}
