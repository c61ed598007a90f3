/// What a load did on the network: one transaction for each request that was made for it, redirects, challenges and
/// repeated requests among them. Collected when `Configuration.collectsMetrics` says so.
public struct URLConnectionMetrics: Hashable, Sendable {
  /// The transactions, in order; the last is the one whose response was delivered, or that failed.
  public internal(set) var transactions: [Transaction] = []
  /// How many redirects were followed.
  public internal(set) var redirectCount = 0

  /// One request and what came of it, in the names of `URLSessionTaskTransactionMetrics`.
  ///
  /// Times are those of the load's event loop, which reads its clock once a turn. One that is nil did not come, or was
  /// not needed: a connection that was kept has no look-up, no connecting and no TLS handshake, an address no look-up.
  public struct Transaction: Hashable, Sendable {
    // MARK: The request

    /// The method.
    public internal(set) var method: String
    /// The URL, without user name and password.
    public internal(set) var urlString: String
    /// The status of the final response; nil when none came.
    public internal(set) var statusCode: Int?

    // MARK: The connection

    /// The number of its connection on its loop, from 1; nil when there was none.
    public internal(set) var connectionNumber: UInt64?
    /// Why it had this connection, or wanted a new one; nil when it ended before that was decided.
    public internal(set) var connectionChoice: ConnectionChoice?
    /// Whether the connection had carried another request before.
    public var isReusedConnection: Bool { connectionChoice == .kept }
    /// Why the connection carries no other request; nil when it is kept for one, or there was none.
    public internal(set) var closeReason: ConnectionCloseReason?
    /// The IP address it reached, or the path of a Unix socket; nil without a connection.
    public internal(set) var remoteAddress: String?
    /// The port it reached; nil for a Unix socket, and without a connection.
    public internal(set) var remotePort: Int?
    /// The IP address of this end; nil for a Unix socket, and without a connection.
    public internal(set) var localAddress: String?
    /// The port of this end; nil for a Unix socket, and without a connection.
    public internal(set) var localPort: Int?
    /// The version of TLS, such as `TLSv1.3`; nil for plain http.
    public internal(set) var tlsVersion: String?
    /// TLS's cipher; nil for plain http.
    public internal(set) var tlsCipher: String?

    // MARK: Times

    /// When a connection was asked for.
    public internal(set) var fetchStart: ContinuousClock.Instant
    /// When the host's addresses were asked for.
    public internal(set) var domainLookupStart: ContinuousClock.Instant?
    /// When they were there.
    public internal(set) var domainLookupEnd: ContinuousClock.Instant?
    /// When the first address was tried.
    public internal(set) var connectStart: ContinuousClock.Instant?
    /// When the TLS handshake began.
    public internal(set) var secureConnectionStart: ContinuousClock.Instant?
    /// When the TLS handshake was complete.
    public internal(set) var secureConnectionEnd: ContinuousClock.Instant?
    /// When the connection could be used, TLS included.
    public internal(set) var connectEnd: ContinuousClock.Instant?
    /// When sending began.
    public internal(set) var requestStart: ContinuousClock.Instant?
    /// When the whole request had been handed to the system; nil when it never was.
    public internal(set) var requestEnd: ContinuousClock.Instant?
    /// When the first byte of a response came, informational ones among them.
    public internal(set) var responseStart: ContinuousClock.Instant?
    /// When the response was complete, dropped, or cut short; nil when the load failed before it had a connection.
    public internal(set) var responseEnd: ContinuousClock.Instant?

    // MARK: Bytes

    /// Bytes of the request's head that were handed to the system, before TLS.
    public internal(set) var countOfRequestHeaderBytesSent: Int64 = 0
    /// Bytes of the request's body that were handed to the system, chunk lines and trailers among them, before TLS.
    public internal(set) var countOfRequestBodyBytesSent: Int64 = 0
    /// Bytes of the request's body itself that were handed to the system.
    public internal(set) var countOfRequestBodyBytesBeforeEncoding: Int64 = 0
    /// Bytes of the response's head, and of informational ones before it, after TLS.
    public internal(set) var countOfResponseHeaderBytesReceived: Int64 = 0
    /// Bytes of the response's body as it came, chunk lines and trailers among them, after TLS. A response that was
    /// dropped may have had more.
    public internal(set) var countOfResponseBodyBytesReceived: Int64 = 0
    /// Bytes of the body that were delivered: without chunk lines, content coding and what lies between parts. 0 of a
    /// response that was not delivered.
    public internal(set) var countOfResponseBodyBytesAfterDecoding: Int64 = 0
  }
}
