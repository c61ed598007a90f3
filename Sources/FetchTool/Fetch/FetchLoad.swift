import FoundationEssentials
import Gannet
import GannetSockets

/// One load of the fetcher: answers its questions, passes its body on, and keeps how it ended.
final class FetchLoad: URLConnectionDataDelegate {
  /// What the load is to do besides loading.
  struct Settings {
    /// For a server's challenge.
    var credential: URLCredential?
    var followsRedirects = true
    var failsOnStatus = false
    /// Prints the head in place of the body.
    var showsHead = false
    /// Prints the heads before the body.
    var includesHeads = false
    /// Complete parts that end the load.
    var maxParts: Int?

    init(_ options: FetchOptions, credential: URLCredential?) {
      self.credential = credential
      followsRedirects = options.followsRedirects
      failsOnStatus = options.failsOnStatus
      showsHead = options.showsHeadOnly
      includesHeads = options.includesHeads && !options.showsHeadOnly
      maxParts = options.snapshotFile == nil ? options.maxParts : 1
    }
  }

  /// The URL's place on the command line, from 0.
  let index: Int
  /// Given to the URL in messages and progress; nil when there is one load only.
  let tag: String?
  let request: URLRequest
  private let settings: Settings
  private var reconnection: Reconnection?
  /// Told of each attempt that will be followed by another.
  var onRetry: ((String) -> Void)?
  private var configuration = URLConnection.Configuration.default
  private var loop: EventLoop?
  /// While the load waits to be made again.
  private var retryTimer: LoopTimer?
  private var completeParts = 0
  private let begun = ContinuousClock.now
  /// What the last attempt did on the network, where that is asked for.
  private(set) var metrics: URLConnectionMetrics?
  /// When the last attempt began, and when it ended.
  private(set) var (attemptStart, attemptEnd) = (ContinuousClock.now, ContinuousClock.now)
  /// The server's stamp on the part being received, and the bytes of that part.
  private var stamp: String?
  private var partBytes = 0
  private let output: BodyOutput
  private let events: EventLog?
  private var onEnd: ((FetchLoad) -> Void)?

  private var connection: URLConnection?
  private var meter = ProgressMeter()
  /// Why it failed; nil when it has finished.
  private(set) var failure: ToolError?
  private(set) var hasEnded = false
  /// What a person should know of a load that has finished all the same.
  private(set) var note: String?
  private var discardsBody = false
  /// The last response that was no part, and the bytes of the body that have come since.
  private(set) var response: URLResponse?
  private(set) var bodyBytes: Int64 = 0
  private var outerResponse: HTTPURLResponse? { response as? HTTPURLResponse }

  init(
    _ request: URLRequest, index: Int = 0, tag: String?, settings: Settings, output: BodyOutput,
    events: EventLog?, reconnection: Reconnection? = nil
  ) {
    self.request = request
    self.reconnection = reconnection
    self.index = index
    self.tag = tag
    self.settings = settings
    self.output = output
    self.events = events
  }

  /// Begins the load on a loop; `onEnd` is called once, perhaps before this returns.
  func start(
    _ configuration: URLConnection.Configuration, on loop: EventLoop, onEnd: @escaping (FetchLoad) -> Void
  ) {
    self.onEnd = onEnd
    self.configuration = configuration
    self.loop = loop
    connect(on: loop)
  }

  private func connect(on loop: EventLoop) {
    (attemptStart, metrics) = (.now, nil)
    connection = URLConnection(
      request: request, delegate: self, tag: tag, configuration: configuration,
      on: .loop(loop.handle))
    if connection == nil { end(ToolError(unloadable: request.urlString)) }
  }

  /// Ends the load because `limit` has passed.
  func timedOut(after limit: Duration, on loop: EventLoop) {
    let error = ConnectionError(
      .timedOut, phase: connection?.currentPhase(on: loop) ?? .preparing,
      url: FetchLoad.safe(connection?.currentRequest ?? request),
      reason: "not finished within \(limit.secondsText) (--max-time)")
    connection?.cancel()
    connection(failed: error, forGood: true)
  }

  /// Ends the load because nobody wants what comes.
  func stop(_ error: ToolError) {
    connection?.cancel()
    end(error)
  }

  /// Makes the load again later, where that was asked for.
  private func retry(_ failure: ToolError?) -> Bool {
    guard let loop, let wait = reconnection?.wait() else { return false }
    connection?.cancel()
    connection = nil
    let reason = failure?.sentence ?? "\(FetchLoad.safe(request)): the stream ended"
    onRetry?("\(reason); once more in \(wait.secondsText)")
    // Waiting counts as a load, or the loop would end.
    loop.retain()
    let timer = loop.makeTimer { [weak self] loop in
      guard let self, retryTimer != nil else { return }
      endWaiting()
      discardsBody = false
      response = nil
      bodyBytes = 0
      connect(on: loop)
    }
    timer.schedule(at: loop.now + wait)
    retryTimer = timer
    return true
  }

  private func endWaiting() {
    guard retryTimer != nil else { return }
    retryTimer = nil
    loop?.release()
  }

  /// How it stands, in a line.
  func progressLine(label: String, at seconds: Double, columns: Int) -> String {
    let stage: ProgressMeter.Stage = !hasEnded ? .running : failure == nil ? .finished : .failed
    return meter.line(label: label, at: seconds, columns: columns, stage)
  }

  /// What is asked for, before anything is known of it.
  var announcement: String {
    let number = tag.map { "[\($0)] " } ?? ""
    return "\(number)\(request.httpMethod ?? "GET") \(FetchLoad.safe(request))"
  }

  /// Whether the body goes to a terminal.
  var writesToTerminal: Bool { output.isTerminal }

  /// - Parameter mayMend: whether the next attempt may go better.
  private func end(_ failure: ToolError?, mayMend: Bool = false) {
    guard !hasEnded else { return }
    if mayMend, retry(failure) { return }
    endWaiting()
    attemptEnd = .now
    hasEnded = true
    self.failure = failure
    connection = nil
    onEnd?(self)
    onEnd = nil
  }

  private func connection(failed error: ConnectionError, forGood: Bool = false) {
    events?.didFail(error)
    let code = ExitCode(error)
    end(
      ToolError(code, error.sentence + (ExitCode.flag(for: error) ?? "")),
      mayMend: !forGood && Reconnection.mayMend(error.code))
  }

  // MARK: Questions

  func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? {
    events?.willSend(request, redirectResponse: redirectResponse)
    let follows = settings.followsRedirects || redirectResponse == nil
    if follows, let redirectResponse { include(redirectResponse) }
    return follows ? request : nil
  }

  func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
    events?.didReceive(challenge)
    guard let credential = settings.credential, challenge.previousFailureCount == 0,
      isOfRequest(challenge.protectionSpace)
    else {
      challenge.sender?.continueWithoutCredential(for: challenge)
      return
    }
    if let response = challenge.failureResponse { include(response) }
    challenge.sender?.use(credential, for: challenge)
  }

  /// Whether who asks is who the user has named, and not another that a redirect leads to.
  private func isOfRequest(_ space: URLProtectionSpace) -> Bool {
    guard let origin = try? HTTPURL(request.urlString, encodingHostsWith: .shared).origin else {
      return false
    }
    return space.protocol == origin.scheme && space.host == origin.host && space.port == Int(origin.port)
  }

  func connection(_ connection: URLConnection, didCancel challenge: URLAuthenticationChallenge) {
    events?.didCancel(challenge)
  }

  func connection(_ connection: URLConnection, needNewBodyStream request: URLRequest) -> URLRequest.Body? {
    events?.needNewBodyStream()
    // The one stream there is: standard input, which cannot be had again.
    return nil
  }

  // MARK: What comes

  func connection(
    _ connection: URLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
    totalBytesExpectedToWrite: Int
  ) {
    events?.didSendBodyData(bytesWritten, total: totalBytesWritten, expected: totalBytesExpectedToWrite)
    meter.sent(Int64(totalBytesWritten), of: Int64(totalBytesExpectedToWrite))
  }

  func connection(_ connection: URLConnection, didReceiveInformational response: HTTPURLResponse) {
    events?.didReceiveInformational(response)
    include(response)
  }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    events?.didReceive(response)
    meter.endSending()
    let http = response as? HTTPURLResponse
    let isPart = http?.partIndex != nil
    if isPart, let http {
      beginPart(http)
    } else {
      (self.response, bodyBytes) = (response, 0)
    }
    meter.expected = !isPart && response.expectedContentLength > 0 ? response.expectedContentLength : nil
    if settings.failsOnStatus, let response = http, response.statusCode >= 400 {
      // The events go on; the body is not wanted.
      discardsBody = true
      if events == nil, !configuration.collectsMetrics {
        connection.cancel()
        end(statusError(response), mayMend: response.statusCode >= 500)
      }
      return
    }
    do throws(ToolError) {
      if settings.showsHead { return try output.write(Array(FetchLoad.headText(response).utf8).span) }
      try output.begin(response)
      if settings.includesHeads, !isPart {
        try output.writeHead(Array(FetchLoad.headText(response).utf8).span)
      }
    } catch { stop(error) }
  }

  /// Prints the head of a response whose body is not shown, where heads are.
  private func include(_ response: URLResponse) {
    guard settings.includesHeads, let response = response as? HTTPURLResponse else { return }
    do throws(ToolError) { try output.writeHead(Array(FetchLoad.headText(response).utf8).span) } catch {
      stop(error)
    }
  }

  func connection(_ connection: URLConnection, didFinishCollecting metrics: URLConnectionMetrics) {
    self.metrics = metrics
  }

  private func beginPart(_ response: HTTPURLResponse) {
    meter.isStream = true
    stamp = response.value(forHTTPHeaderField: "X-Timestamp")
    partBytes = 0
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    events?.didReceive(data)
    meter.received(data.count)
    partBytes += data.count
    bodyBytes += Int64(data.count)
    guard !discardsBody, !settings.showsHead else { return }
    do throws(ToolError) { try output.write(data.span) } catch { stop(error) }
  }

  func connectionDidFinishPart(_ connection: URLConnection) {
    events?.didFinishPart()
    let elapsed = begun.duration(to: .now).components
    meter.finishedFrame(
      partBytes, at: Double(elapsed.seconds) + Double(elapsed.attoseconds) / 1e18,
      latency: stamp.flatMap { FrameMeter.latency(stamp: $0, now: Date().timeIntervalSince1970) })
    do throws(ToolError) { try output.finishPart() } catch { return stop(error) }
    reconnection?.succeeded()
    completeParts += 1
    guard let most = settings.maxParts, completeParts >= most else { return }
    connection.cancel()
    end(nil)
  }

  func connection(_ connection: URLConnection, didReceiveTrailers trailers: FieldList) {
    events?.didReceiveTrailers(trailers)
  }

  func connection(
    _ connection: URLConnection, willCacheResponse cachedResponse: CachedURLResponse
  ) -> CachedURLResponse? {
    events?.willCache(cachedResponse)
    return cachedResponse
  }

  // MARK: The end

  func connectionDidFinishLoading(_ connection: URLConnection) {
    events?.didFinishLoading()
    if let response = outerResponse, settings.failsOnStatus, response.statusCode >= 400 {
      return end(statusError(response), mayMend: response.statusCode >= 500)
    }
    let isStream = outerResponse?.mimeType == "multipart/x-mixed-replace" || meter.isStream
    if output.lacksParts, !settings.showsHead {
      let url = FetchLoad.safe(connection.currentRequest)
      let reason = isStream ? "the stream had no part" : "this is no stream of parts"
      return end(
        ToolError(.badResponse, "\(url): receiving: \(reason): no part was saved"),
        mayMend: isStream || outerResponse?.statusCode ?? 0 >= 500)
    }
    note = output.unfinishedPart.map {
      "\($0): the stream ended within this part, or did not say that it is whole"
    }
    end(nil, mayMend: isStream)
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    self.connection(failed: error)
  }

  private static func safe(_ request: URLRequest) -> String {
    urlForMessage(request.urlString)
  }

  private func statusError(_ response: HTTPURLResponse) -> ToolError {
    let reason = response.reasonPhrase.isEmpty ? "" : " " + response.reasonPhrase
    return ToolError(
      .failedStatus, "\(response.urlString): receiving: the server answered \(response.statusCode)\(reason)")
  }

  /// As in curl, what is no HTTP has a head of what is known of it, without a status line.
  private static func headText(_ response: URLResponse) -> String {
    guard let response = response as? HTTPURLResponse else {
      let length = response.expectedContentLength
      let type = response.mimeType.map { "Content-Type: \($0)\r\n" } ?? ""
      return type + (length < 0 ? "" : "Content-Length: \(length)\r\n") + "\r\n"
    }
    let fields = response.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    return "\(response.httpVersion) \(response.statusCode) \(response.reasonPhrase)\r\n\(fields)\r\n"
  }
}
