package import Gannet
import GannetHTTP

/// The delegate of a load that is watched: tells its watch of every callback, and answers as it is told.
package final class WatchedDelegate: URLConnectionDataDelegate, Sendable {
  /// What it answers, and what it does besides in each callback.
  package struct Answers: Sendable {
    /// In each callback: its number from 1, what it is, and the connection.
    package var onCall: @Sendable (Int, LoadWatch.Call, URLConnection) -> Void = { _, _, _ in }
    /// To `willSend request`.
    package var request: @Sendable (URLRequest, URLResponse?, URLConnection) -> URLRequest? = {
      request, _, _ in
      request
    }
    /// To a challenge.
    package var challenge: @Sendable (URLAuthenticationChallenge) -> Void = {
      $0.sender?.continueWithoutCredential(for: $0)
    }
    /// To `needNewBodyStream`.
    package var newBody: @Sendable (URLRequest) -> URLRequest.Body? = { $0.body }

    /// Everything goes on, without a credential.
    package init() {}
  }

  private let watch: LoadWatch
  private let answers: Answers
  private let token: Census.Token

  /// Tells `watch`, and counts as a delegate.
  package init(_ watch: LoadWatch, _ census: Census, _ answers: Answers = Answers()) {
    self.watch = watch
    self.answers = answers
    token = census.token(.delegate)
  }

  deinit { watch.letGo() }

  private func told<Answer>(
    _ call: LoadWatch.Call, _ connection: URLConnection, error: ConnectionError? = nil, isPart: Bool = false,
    _ answer: () -> Answer
  ) -> Answer {
    let number = watch.enter(call, error: error, isPart: isPart)
    defer { watch.leave() }
    answers.onCall(number, call, connection)
    return answer()
  }

  package func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? {
    told(.willSend, connection) { answers.request(request, redirectResponse, connection) }
  }

  package func connectionShouldUseCredentialStorage(_ connection: URLConnection) -> Bool {
    told(.usesStorage, connection) { true }
  }

  package func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
    told(.challenge, connection) { answers.challenge(challenge) }
  }

  package func connection(_ connection: URLConnection, didCancel challenge: URLAuthenticationChallenge) {
    told(.didCancel, connection) {}
  }

  package func connection(_ connection: URLConnection, didReceiveInformational response: HTTPURLResponse) {
    told(.informational, connection) {}
  }

  package func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    told(.response, connection, isPart: (response as? HTTPURLResponse)?.partIndex != nil) {}
  }

  package func connection(_ connection: URLConnection, didReceive data: Data) { told(.data, connection) {} }

  package func connectionDidFinishPart(_ connection: URLConnection) { told(.partEnd, connection) {} }

  package func connection(_ connection: URLConnection, didReceiveTrailers trailers: FieldList) {
    told(.trailers, connection) {}
  }

  package func connection(
    _ connection: URLConnection, needNewBodyStream request: URLRequest
  ) -> URLRequest.Body? {
    told(.newBody, connection) { answers.newBody(request) }
  }

  package func connection(
    _ connection: URLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
    totalBytesExpectedToWrite: Int
  ) {
    told(.sent, connection) {
      if bytesWritten <= 0 || totalBytesWritten < bytesWritten {
        watch.fault("\(bytesWritten) bytes of \(totalBytesWritten) are told as sent")
      }
    }
  }

  package func connection(
    _ connection: URLConnection, willCacheResponse cachedResponse: CachedURLResponse
  ) -> CachedURLResponse? {
    told(.willCache, connection) { cachedResponse }
  }

  package func connection(_ connection: URLConnection, didFinishCollecting metrics: URLConnectionMetrics) {
    told(.metrics, connection) {}
  }

  package func connectionDidFinishLoading(_ connection: URLConnection) { told(.finish, connection) {} }

  package func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    told(.fail, connection, error: error) {}
  }
}

/// A connection that counts as living.
// UNCHECKED: as its superclass; the token does not change.
package final class CountedConnection: URLConnection, @unchecked Sendable {
  private let token: Census.Token

  /// A load of this request that waits for `start()`.
  package init?(
    _ request: URLRequest, _ delegate: any URLConnectionDelegate, _ census: Census,
    _ configuration: Configuration, on host: Host
  ) {
    token = census.token(.connection)
    super.init(
      request: request, delegate: delegate, startImmediately: false, configuration: configuration, on: host)
  }
}

/// Held by every driver of a load, through its configuration.
package final class DriverToken: TrafficObserver {
  private let token: Census.Token

  /// Counts as a driver.
  package init(_ census: Census) { token = census.token(.driver) }

  package func opened(_ connection: ConnectionDescription) {}
  package func sent(_ bytes: Span<UInt8>, on connection: UInt64) {}
  package func received(_ bytes: Span<UInt8>, on connection: UInt64) {}
  package func ended(_ connection: UInt64, reset: Bool) {}
}
