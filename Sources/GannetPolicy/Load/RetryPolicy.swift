/// Whether a request is sent again after its connection was lost (RFC 9110 section 9.2.2, RFC 9112 section 9.3.1).
package enum RetryPolicy {
  /// A connection that had been idle may have been closed by the server just as the request went out. Then, and only
  /// when no byte of an answer came, the request is sent once more on a fresh connection: always when none of it had
  /// been handed to the system, else when its method is idempotent.
  package static func sendsAgain(
    method: String, wasReused: Bool, receivedAnything: Bool, sentAnything: Bool, hasRetried: Bool
  ) -> Bool {
    wasReused && !receivedAnything && !hasRetried && (!sentAnything || isIdempotent(method))
  }

  /// Whether doing it twice is the same as doing it once (RFC 9110 section 9.2.2).
  package static func isIdempotent(_ method: String) -> Bool {
    switch method {
    case "GET", "HEAD", "PUT", "DELETE", "OPTIONS", "TRACE": true
    default: false
    }
  }
}
