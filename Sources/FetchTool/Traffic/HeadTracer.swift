import GannetSockets

/// Turns the bytes of one connection into the lines that `-v` shows: `> ` and `< ` with the lines of heads, secrets
/// hidden. Bodies are not shown.
package struct HeadTracer: Sendable {
  private var scanner = RequestScanner()
  private var request = HeadLineSplitter(isClient: true)
  private var response = HeadLineSplitter(isClient: false)
  private var requestContinuesSecret = false
  private var responseContinuesSecret = false

  /// Expects a connection's first bytes.
  package init() {}

  /// The client sent `bytes`.
  package mutating func sent(_ bytes: Span<UInt8>, show: (String) -> Void) {
    var position = 0
    while position < bytes.count {
      if scanner.progress == .ended { scanner = RequestScanner() }
      if scanner.isIdle {
        request = HeadLineSplitter(isClient: true)
        response = HeadLineSplitter(isClient: false)
      }
      let start = position
      position += scanner.step(bytes.extracting(position..<bytes.count))
      for index in start..<position {
        guard let line = request.step(bytes[index]) else { continue }
        show("> " + SecretMask.veiled(headLine: line, isContinuation: &requestContinuesSecret))
      }
    }
  }

  /// The client read `bytes`.
  package mutating func received(_ bytes: Span<UInt8>, show: (String) -> Void) {
    var index = 0
    while index < bytes.count, response.isInHead {
      if let line = response.step(bytes[index]) {
        show("< " + SecretMask.veiled(headLine: line, isContinuation: &responseContinuesSecret))
      }
      index += 1
    }
  }
}
