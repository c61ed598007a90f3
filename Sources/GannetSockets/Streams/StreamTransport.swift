/// What an attempt to receive came to.
package enum ReceiveOutcome: Hashable, Sendable {
  /// So many bytes, at the front of the buffer.
  case bytes(Int)
  /// Nothing now: `onReady` says when there is more.
  case wouldBlock
  /// The peer sends no more.
  case endOfFile
  /// The connection failed, with its errno.
  case failed(CInt)
}

/// What an attempt to send came to.
package enum SendOutcome: Hashable, Sendable {
  /// So many of the bytes, from the front; fewer than given means that the next attempt would block.
  case sent(Int)
  /// No room now: with `wantWrite(true)`, `onReady` says when there is.
  case wouldBlock
  /// The connection failed, with its errno.
  case failed(CInt)
}

/// A connected byte stream on a loop. On the loop's thread only.
package protocol StreamTransport: AnyObject {
  /// Takes bytes that have come, into the front of the buffer.
  ///
  /// Go on until `wouldBlock`, the end or a failure: what is left is not announced again. A call that is known to be
  /// in vain costs no system call.
  func receive(into buffer: inout MutableSpan<UInt8>) -> ReceiveOutcome
  /// The next `receive` asks the system, also when nothing has been announced: something may have come since the last
  /// announcements were taken.
  func lookAgain()
  /// Sends what there is room for.
  func send(_ bytes: Span<UInt8>) -> SendOutcome
  /// Called in the loop's turn when there is something to receive, or room after a wait for it. Never from inside a
  /// call to the transport. What came before it was set is announced in the next turn.
  var onReady: ((Readiness) -> Void)? { get set }
  /// Whether room to send is worth a call to `onReady`: true after `send` would have blocked, until it is all sent.
  func wantWrite(_ wanted: Bool)
  /// Stops, or goes on, announcing what there is to receive. What came in between is announced after the pause.
  func pauseReading(_ paused: Bool)
  /// Sends no more: the peer receives an end of file, and may go on sending.
  func finishWriting()
  /// Ends both directions. `onReady` isn't called again, also when an event has been fetched already.
  func close()
}

extension StreamTransport {
  /// Of a transport whose `receive` always looks: nothing.
  package func lookAgain() {}
}
