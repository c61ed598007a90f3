package import FoundationEssentials
import Synchronization

/// A delegate that gathers the whole body, for callers that want just that.
final class BodyCollector: URLConnectionDataDelegate {
  private let completion: (LoadOutcome) -> Void
  private var response: URLResponse?
  private var body = Data()

  init(_ completion: @escaping (LoadOutcome) -> Void) {
    self.completion = completion
  }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    self.response = response
    body = Data()
    // What the server says is a hint; memory is taken as bytes come.
    body.reserveCapacity(Int(min(max(response.expectedContentLength, 0), 1 << 20)))
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    let maximum = connection.configuration.maximumGatheredBytes
    guard data.count <= maximum - body.count else {
      connection.cancel()
      return completion(
        .failure(
          ConnectionError(
            .dataLengthExceedsMaximum, phase: .receiving, url: connection.currentRequest.safeURLString,
            cause: .limit("maximumGatheredBytes"), reason: "the body has more than \(maximum) bytes")))
    }
    body.append(data)
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    guard let response else {
      return completion(
        .failure(
          ConnectionError(
            .badServerResponse, phase: .receiving, url: connection.currentRequest.safeURLString,
            reason: "the load ended without a response")))
    }
    completion(.success((body, response)))
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    completion(.failure(error))
  }
}

/// What a load for its whole body came to.
package typealias LoadOutcome = Result<(Data, URLResponse), ConnectionError>

extension LoadOutcome {
  /// The same with a response of HTTP (`HTTPURLResponse.standing(for:)`).
  var asHTTP: Result<(Data, HTTPURLResponse), ConnectionError> {
    map { ($0.0, HTTPURLResponse.standing(for: $0.1)) }
  }
}
