public import GannetHTTP

extension URLConnection {
  /// How loads are made: trust, limits, time limits, and what a refused redirect gives. A value; a connection keeps
  /// its own copy.
  public struct Configuration: Sendable {
    /// The defaults named at each member.
    public static let `default` = Configuration()

    /// Makes a configuration with the defaults named at each member.
    public init() {}

    /// Whose certificates are believed for https. Default: the system's.
    public var trust = Trust.system

    /// What a refused redirect gives. Default: the redirect response itself, as Apple documents.
    public var refusedRedirect = RefusedRedirect.deliverResponse

    /// How many redirects are followed before the load fails with `httpTooManyRedirects`; less than 0 is 0.
    /// Default 20.
    public var maximumRedirects = 20

    /// How long resolving and connecting may take together, whatever the request's inactivity time-out is.
    /// Default 30 seconds.
    public var connectTimeLimit = Duration.seconds(30)

    /// How long a body waits for the server to ask for it with 100, when the request has the field
    /// `Expect: 100-continue`; then it is sent unasked, since there are servers that never say 100. Default 1 second.
    public var expectContinueTimeLimit = Duration.seconds(1)

    /// The path of a Unix socket to connect to instead of the URL's host and port, which still name the server in
    /// the request and in its certificate. Default nil.
    public var unixSocketPath: String?

    /// How many connections to one origin are open at once on one loop, endless multipart streams not counted; a
    /// load past that waits for one to be free. Less than 1 is 1. Default 6.
    public var maximumConnectionsPerHost = 6

    /// How long an idle connection is kept for the next load, unless the server says less. Default 60 seconds.
    public var idleConnectionLifetime = Duration.seconds(60)

    /// How much of each thing a server may send.
    public var limits = Limits()

    /// How many bytes of body `data(for:)`, `upload(for:)`, `sendSynchronousRequest` and `sendAsynchronousRequest` gather,
    /// and `parts(for:)` of one part, before the load fails with `dataLengthExceedsMaximum`; of a decoded body, what it decodes to. A delegate and
    /// `events(for:)` take bodies of any length piece by piece. Default 1 GiB.
    public var maximumGatheredBytes = 1 << 30

    /// How many bytes a line of `lines(for:)` may have, its ending not counted, before it fails with
    /// `dataLengthExceedsMaximum`; less than 0 is 0. Default 16 MiB.
    public var maximumLineBytes = 16 << 20

    /// The credentials looked up for a challenge, and kept when their persistence says so. Default: the shared ones.
    public var credentialStorage = URLCredentialStorage.shared

    /// Whether the `uri` of a Digest answer leaves out the query, as some old servers expect, against RFC 7616: Internet
    /// Explorer 6 did. Default false: it is the request's target, byte for byte.
    public var digestOmitsQuery = false

    /// Where cookies are kept that responses set, and looked for to be sent with requests; nil for neither. Default: the
    /// shared one.
    public var cookieStorage: HTTPCookieStorage? = .shared

    /// Where responses are kept for later loads, and looked for, as HTTP says and `URLRequest.cachePolicy` asks; nil for
    /// no cache. Default: the shared one.
    public var urlCache: URLCache? = .shared

    /// Whether the delegate is told what the load did on the network (`didFinishCollecting metrics`), and `events(for:)`
    /// too. Default false: nothing is collected.
    public var collectsMetrics = false

    /// Whether a body is looked at for parts though its type is not `multipart/x-mixed-replace`: some cameras, and
    /// ffmpeg's server unless told, call such a stream `application/octet-stream`. Without a delimiter in its first
    /// line a body comes as it is. Whatever comes counts as an endless stream then: it is not stored, its connection not
    /// counted. Default false.
    public var splitsUnlabelledStreams = false

    /// Whether `multipart/mixed` is split into parts as `multipart/x-mixed-replace` is, each part told as a response of
    /// its own and the whole counted as an endless stream. Default false: its body comes as it is.
    public var splitsMixedStreams = false

    /// Whether a multipart stream may come without the chunks that its head announces (`Transfer-Encoding: chunked`), as
    /// some cameras send it; it then ends with the connection. Default false: the load fails with `badServerResponse`.
    public var acceptsUnchunkedStreams = false

    /// Whether the `Content-Length` of a `multipart/x-mixed-replace` response itself, which some cameras make up, is not
    /// looked at: the stream goes on until its close delimiter or the end of the connection. Default false: it ends where
    /// its head says; only 0 is not believed of a server that closes the connection.
    public var ignoresStreamLengths = false

    /// Classes that are asked whether they answer a request, in this order, before those that are registered for all
    /// loads (`URLProtocol`). Default none.
    public var protocolClasses: [URLProtocol.Type] = []

    /// Whether a body of parts is given as it came, its delimiters included: to callers that take bytes.
    var keepsPartsTogether = false

    /// Whether the delegate is a download's, which is asked more.
    var isDownload = false

    /// Sees the bytes of every connection, after TLS; for recording and tracing.
    package var trafficObserver: (any TrafficObserver)?

    /// Gives transports that take the place of sockets and of TLS; for replaying.
    package var transportProvider: (any TransportProvider)?
  }

  /// Whose certificates are believed.
  public enum Trust: Hashable, Sendable {
    /// The system's certificate authorities: `SSL_CERT_FILE` and `SSL_CERT_DIR` where set, else OpenSSL's defaults.
    case system
    /// The certificate authorities of a PEM file, and no others.
    case file(String)
    /// The certificate authorities of this PEM text, and no others.
    case pem(String)
    /// Any certificate for any host. For tests and tools: the peer may be anyone.
    case unverified
  }

  /// What a refused redirect gives.
  public enum RefusedRedirect: Hashable, Sendable {
    /// The redirect response and its body are delivered, then the load finishes (Apple's documents).
    case deliverResponse
    /// The load fails with `redirectToNonExistentLocation` (GNUstep's documents).
    case fail
  }
}
