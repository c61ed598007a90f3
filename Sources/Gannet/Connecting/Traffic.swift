package import GannetHTTP
package import GannetSockets

/// What became of a connection, for those who watch the bytes.
package struct ConnectionDescription: Sendable {
  /// A number of its own on its loop, from 1.
  package var id: UInt64
  /// Where it goes.
  package var origin: Origin
  /// The address it reached, or the path of the Unix socket; nil where there is no socket.
  package var address: String?
  /// TLS version, cipher, and the certificate's subject; nil for plain http.
  package var security: String?
}

/// Sees the bytes of connections after TLS, on the loop each connection belongs to.
package protocol TrafficObserver: AnyObject, Sendable {
  /// A connection is ready for its first request.
  func opened(_ connection: ConnectionDescription)
  /// These bytes were handed to the system (to OpenSSL, for https).
  func sent(_ bytes: Span<UInt8>, on connection: UInt64)
  /// These bytes came.
  func received(_ bytes: Span<UInt8>, on connection: UInt64)
  /// The peer ended the stream, or reset it.
  func ended(_ connection: UInt64, reset: Bool)
  /// An exchange is over, and the connection is kept for another.
  func kept(_ connection: UInt64)
  /// The connection was closed.
  func closed(_ connection: UInt64, _ reason: ConnectionCloseReason)
}

extension TrafficObserver {
  package func kept(_ connection: UInt64) {}
  package func closed(_ connection: UInt64, _ reason: ConnectionCloseReason) {}
}

/// Gives transports that are connected already and carry plaintext.
package protocol TransportProvider: AnyObject, Sendable {
  /// A transport to this origin, on this loop.
  func makeTransport(to origin: Origin, on loop: EventLoop) -> any StreamTransport
}
