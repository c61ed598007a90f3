import GannetSockets
import Synchronization

/// One load whose body goes into a file as it comes, reported to a delegate: Apple's `NSURLDownload`.
///
/// It runs on its host and is called back there, as a `URLConnection` is, and keeps its delegate, and itself, until it
/// has ended. Exactly one of `downloadDidFinish` and `didFailWithError` ends it; after `cancel()` comes nothing. The
/// response's status decides nothing: look at it before the file is taken for what was asked for.
///
/// The body is decoded unless the delegate says otherwise, one of parts is kept as it is, and nothing is stored in a
/// cache. It is written on the host: a disk that is slow holds it up. `URLConnection.download(for:to:)` is the same
/// without a delegate, but asks the cache and fills it.
///
/// All methods may be called from any thread. A subclass has to restate `@unchecked Sendable`.
// UNCHECKED: open, so the compiler cannot check it; what changes is guarded.
open class URLDownload: @unchecked Sendable {
  struct State: Sendable {
    /// Where the file is to be; nil while nobody has said so.
    var destination: (path: String, allowsOverwrite: Bool)?
    var deletesFileUponFailure = true
    /// The file, from its creation to the download's end.
    var file: NewFile?
    var isCancelled = false
  }

  final let state = Guarded(State())
  /// The load behind it.
  private final let connection: URLConnection

  /// A name to tell downloads apart that share a delegate; nothing else uses it.
  public final var tag: String? { connection.tag }
  /// The request as it was given.
  public final var request: URLRequest { connection.originalRequest }

  /// Makes a download and, unless told otherwise, starts it at once.
  ///
  /// Nil when the request cannot be loaded, as of `URLConnection`. The delegate is kept until the download has ended.
  public init?(
    request: URLRequest, delegate: (any URLDownloadDelegate)?, startImmediately: Bool = true,
    tag: String? = nil, configuration: URLConnection.Configuration = .default,
    on host: URLConnection.Host = .automatic
  ) {
    var configuration = configuration
    configuration.keepsPartsTogether = true
    configuration.isDownload = true
    configuration.urlCache = nil
    let driver = DownloadDriver(delegate)
    guard
      let connection = URLConnection(
        request: request, delegate: driver, startImmediately: false, tag: tag, configuration: configuration,
        on: host)
    else { return nil }
    self.connection = connection
    if startImmediately { start() }
  }

  /// Starts the download. A second call, and one after `cancel()`, does nothing.
  public final func start() {
    // From now on the load keeps the download; one that is never started is its caller's alone.
    connection.state.withLock { ($0.delegate?.delegate as? DownloadDriver)?.download = self }
    connection.start()
  }

  /// Says where the file is to be: before `start()`, or in `decideDestinationWithSuggestedFilename`. Later it changes
  /// nothing; what is said last before that counts.
  ///
  /// Without one the file has a name of its own in the folder for temporary files (`TMPDIR`, else `/tmp`).
  ///
  /// - Parameters:
  ///   - path: the file's path.
  ///   - allowOverwrite: whether a file that is there is replaced: in one step, once the new one is whole. If not, and it
  ///     is there, a number is added to the name: `report-1.pdf`. A name too long for that is cut.
  public final func setDestination(_ path: String, allowOverwrite: Bool) {
    state.withLock { $0.destination = (path, allowOverwrite) }
  }

  /// Whether what has come is removed when the download fails; else it is kept at its destination. What was cancelled is
  /// always removed. Default true.
  public final var deletesFileUponFailure: Bool {
    get { state.withLock { $0.deletesFileUponFailure } }
    set { state.withLock { $0.deletesFileUponFailure = newValue } }
  }

  /// Ends the download and removes its file: no callback begins after this returns on the host. From another thread it
  /// does not wait. A second call, and one after the end, does nothing.
  public final func cancel() {
    let file = state.withLock { state in
      state.isCancelled = true
      defer { state.file = nil }
      return state.file
    }
    connection.cancel()
    file?.discard()
  }
}

extension URLDownload: Hashable {
  /// Whether both are the same object.
  public static func == (left: URLDownload, right: URLDownload) -> Bool { left === right }

  /// Feeds the object's identity.
  public func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }
}
