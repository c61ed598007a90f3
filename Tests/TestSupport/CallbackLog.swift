package import Gannet
import GannetSockets

/// A delegate that notes every callback as a line, adjacent data merged, and answers as it is told.
package final class CallbackLog: URLConnectionDataDelegate {
  /// The lines, in order.
  package private(set) var lines: [String] = []
  /// Called with each line's first word before the callback returns.
  package var onCallback: ((String, URLConnection) -> Void)?
  /// The answer to `willSend request`.
  package var answer: (URLRequest, URLResponse?) -> URLRequest? = { request, _ in request }
  /// The answer to `needNewBodyStream`.
  package var newBody: (URLRequest) -> URLRequest.Body? = { $0.body }
  /// The answer to `willCacheResponse`.
  package var caching: (CachedURLResponse) -> CachedURLResponse? = { $0 }
  /// The answer to a challenge.
  package var challengeAnswer: (URLAuthenticationChallenge) -> Void = {
    $0.sender?.continueWithoutCredential(for: $0)
  }
  /// Whether the credential storage may be asked.
  package var usesCredentialStorage = true
  /// Every response that was delivered, parts included.
  package private(set) var responses: [HTTPURLResponse] = []
  /// Every challenge, in order.
  package private(set) var challenges: [URLAuthenticationChallenge] = []
  /// The connection whose callback came last.
  package private(set) weak var current: URLConnection?
  /// What was collected, when it was asked for.
  package private(set) var metrics: URLConnectionMetrics?
  /// The largest piece of data that was delivered at once.
  package private(set) var largestPiece = 0
  /// The error the load ended with, if it did.
  package private(set) var error: ConnectionError?
  private var data: [UInt8]?

  /// Makes an empty log.
  package init() {}

  private func note(_ line: String, _ connection: URLConnection) {
    endData()
    lines.append(line)
    current = connection
    onCallback?(String(line.prefix { $0 != " " }), connection)
  }

  private func endData() {
    guard let bytes = data else { return }
    data = nil
    lines.append(
      "data " + (bytes.count > 100 ? "\(bytes.count) bytes" : String(decoding: bytes, as: UTF8.self)))
  }

  /// The lines, with data that was still being merged.
  package func finished() -> [String] {
    endData()
    return lines
  }

  package func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? {
    let status = (redirectResponse as? HTTPURLResponse).map { " after \($0.statusCode)" } ?? ""
    note("willSend \(request)\(status)", connection)
    return answer(request, redirectResponse)
  }

  package func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
    let space = challenge.protectionSpace
    challenges.append(challenge)
    note("challenge \(space.realm ?? "-") failures \(challenge.previousFailureCount)", connection)
    challengeAnswer(challenge)
  }

  package func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool {
    usesCredentialStorage
  }

  package func connection(_ connection: URLConnection, didCancel challenge: URLAuthenticationChallenge) {
    note("didCancel", connection)
  }

  package func connection(_ connection: URLConnection, didReceiveInformational response: HTTPURLResponse) {
    note("informational \(response.statusCode)", connection)
  }

  package func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    guard let response = response as? HTTPURLResponse else {
      return note(
        "response \(response.mimeType ?? "-") length \(response.expectedContentLength)", connection)
    }
    responses.append(response)
    let part = response.partIndex.map { " part \($0)" } ?? ""
    note("response \(response.statusCode) length \(response.expectedContentLength)\(part)", connection)
  }

  package func connection(_ connection: URLConnection, didReceive data: Data) {
    largestPiece = max(largestPiece, data.count)
    self.data = (self.data ?? []) + data
    onCallback?("data", connection)
  }

  package func connectionDidFinishPart(_ connection: URLConnection) { note("partEnd", connection) }

  package func connection(_ connection: URLConnection, didReceiveTrailers trailers: FieldList) {
    note("trailers \(trailers.map { "\($0.name)=\($0.value)" }.joined(separator: ","))", connection)
  }

  package func connection(
    _ connection: URLConnection, willCacheResponse cachedResponse: CachedURLResponse
  ) -> CachedURLResponse? {
    note("willCache \(cachedResponse.data.count)", connection)
    return caching(cachedResponse)
  }

  package func connection(
    _ connection: URLConnection, needNewBodyStream request: URLRequest
  ) -> URLRequest.Body? {
    note("needNewBody", connection)
    return newBody(request)
  }

  package func connection(
    _ connection: URLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
    totalBytesExpectedToWrite: Int
  ) {
    note("sent \(totalBytesWritten)/\(totalBytesExpectedToWrite)", connection)
  }

  package func connection(_ connection: URLConnection, didFinishCollecting metrics: URLConnectionMetrics) {
    self.metrics = metrics
    note("metrics", connection)
  }

  package func connectionDidFinishLoading(_ connection: URLConnection) { note("finish", connection) }

  package func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    self.error = error
    note("fail \(error.code.name) \(error.phase.rawValue)", connection)
  }
}

/// Loads on a loop of the test's own, until nothing is left to do.
package enum Loading {
  /// A configuration whose connections go to a scripted server and whose credentials are its own.
  package static func configuration(_ server: ScriptedServer) -> URLConnection.Configuration {
    var configuration = URLConnection.Configuration()
    configuration.transportProvider = server
    configuration.credentialStorage = URLCredentialStorage()
    configuration.urlCache = URLCache(memoryCapacity: 4 << 20)
    configuration.cookieStorage = HTTPCookieStorage()
    return configuration
  }

  /// Loads one request, and returns the callbacks.
  package static func run(
    _ request: URLRequest, _ configuration: URLConnection.Configuration, _ log: CallbackLog = CallbackLog()
  ) throws -> [String] {
    let loop = try EventLoop()
    let connection = URLConnection(
      request: request, delegate: log, configuration: configuration, on: .loop(loop.handle))
    guard connection != nil else { return ["nil"] }
    // So that a load that hangs fails its test; a machine that stands still is no fault.
    loop.run(until: .now + .seconds(50))
    loop.shutDown()
    return log.finished()
  }

  /// Loads one URL from a server of one connection that answers with these answers.
  package static func run(_ url: String, _ answers: [Answer], _ log: CallbackLog = CallbackLog()) throws
    -> [String]
  {
    try run(URLRequest(string: url), configuration(ScriptedServer([answers])), log)
  }
}
