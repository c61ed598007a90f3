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

    init(_ options: FetchOptions, credential: URLCredential?) {
      self.credential = credential
      followsRedirects = options.followsRedirects
      failsOnStatus = options.failsOnStatus
      showsHead = options.showsHeadOnly
    }
  }

  /// The URL's place on the command line, from 0.
  let index: Int
  /// Given to the URL in messages and progress; nil when there is one load only.
  let tag: String?
  let request: URLRequest
  private let settings: Settings
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
  private var outerResponse: HTTPURLResponse?

  init(
    _ request: URLRequest, index: Int = 0, tag: String?, settings: Settings, output: BodyOutput,
    events: EventLog?
  ) {
    self.request = request
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
    connection(failed: error)
  }

  /// Ends the load because nobody wants what comes.
  func stop(_ error: ToolError) {
    connection?.cancel()
    end(error)
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

  private func end(_ failure: ToolError?) {
    guard !hasEnded else { return }
    hasEnded = true
    self.failure = failure
    connection = nil
    onEnd?(self)
    onEnd = nil
  }

  private func connection(failed error: ConnectionError) {
    events?.didFail(error)
    let code = ExitCode(error)
    end(ToolError(code, error.sentence + (ExitCode.flag(for: error) ?? "")))
  }

  // MARK: Questions

  func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? {
    events?.willSend(request, redirectResponse: redirectResponse)
    return redirectResponse != nil && !settings.followsRedirects ? nil : request
  }

  func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
    events?.didReceive(challenge)
    if let credential = settings.credential, challenge.previousFailureCount == 0 {
      challenge.sender?.use(credential, for: challenge)
    } else {
      challenge.sender?.continueWithoutCredential(for: challenge)
    }
  }

  func connection(_ connection: URLConnection, didCancel challenge: URLAuthenticationChallenge) {
    events?.didCancel(challenge)
  }

  // MARK: What comes

  func connection(
    _ connection: URLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
    totalBytesExpectedToWrite: Int
  ) {
    events?.didSendBodyData(bytesWritten, total: totalBytesWritten, expected: totalBytesExpectedToWrite)
  }

  func connection(_ connection: URLConnection, didReceiveInformational response: HTTPURLResponse) {
    events?.didReceiveInformational(response)
  }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    events?.didReceive(response)
    guard let response = response as? HTTPURLResponse else { return }
    if response.partIndex == nil { outerResponse = response } else { meter.isStream = true }
    meter.expected =
      response.partIndex == nil && response.expectedContentLength > 0 ? response.expectedContentLength : nil
    if settings.failsOnStatus, response.statusCode >= 400 {
      // The events go on; the body is not wanted.
      discardsBody = true
      if events == nil { stop(statusError(response)) }
      return
    }
    do throws(ToolError) {
      if settings.showsHead { return try output.write(Array(FetchLoad.headText(response).utf8).span) }
      try output.begin(response)
    } catch { stop(error) }
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    events?.didReceive(data)
    meter.received(data.count)
    guard !discardsBody, !settings.showsHead else { return }
    do throws(ToolError) { try output.write(data.span) } catch { stop(error) }
  }

  func connectionDidFinishPart(_ connection: URLConnection) {
    events?.didFinishPart()
    meter.finishedFrame()
    do throws(ToolError) { try output.finishPart() } catch { stop(error) }
  }

  func connection(_ connection: URLConnection, didReceiveTrailers trailers: FieldList) {
    events?.didReceiveTrailers(trailers)
  }

  // MARK: The end

  func connectionDidFinishLoading(_ connection: URLConnection) {
    events?.didFinishLoading()
    if let response = outerResponse, settings.failsOnStatus, response.statusCode >= 400 {
      return end(statusError(response))
    }
    if output.lacksParts, !settings.showsHead {
      let url = FetchLoad.safe(connection.currentRequest)
      let isStream = outerResponse?.mimeType == "multipart/x-mixed-replace"
      let reason = isStream ? "the stream had no part" : "this is no stream of parts"
      return end(ToolError(.badResponse, "\(url): receiving: \(reason): nothing was saved by --parts"))
    }
    note = output.unfinishedPart.map {
      "\($0): the stream ended within this part, or did not say that it is whole"
    }
    end(nil)
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

  private static func headText(_ response: HTTPURLResponse) -> String {
    let fields = response.fields.map { "\($0.name): \($0.value)\r\n" }.joined()
    return "\(response.httpVersion) \(response.statusCode) \(response.reasonPhrase)\r\n\(fields)\r\n"
  }
}
