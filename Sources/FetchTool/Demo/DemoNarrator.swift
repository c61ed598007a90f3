import Gannet

/// A delegate that tells a person of each callback as it comes, and keeps what came.
final class DemoNarrator: URLConnectionDataDelegate {
  /// Parts after so many are told of in one line.
  private static let partsTold = 3

  private(set) var outcome = DemoScenario.Outcome()
  private let credential: URLCredential?
  private let say: (String) -> Void
  private var partsUntold = 0

  init(credential: URLCredential?, say: @escaping (String) -> Void) {
    self.credential = credential
    self.say = say
  }

  /// Bytes that were received.
  var byteCount: Int { outcome.bodies.reduce(0) { $0 + $1.count } }

  func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? {
    let status = (redirectResponse as? HTTPURLResponse)?.statusCode
    let path = (try? HTTPURL(request.urlString))?.requestTarget ?? ""
    outcome.steps.append("\(status ?? 0) \(path)")
    let why = status.map { "redirected by a \($0)" } ?? "the canonical form"
    say("willSend request  \(request)  (\(why))")
    return request
  }

  func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
    outcome.challenges += 1
    let user = credential?.user ?? "nobody"
    say("didReceive challenge  Basic, realm “\(challenge.protectionSpace.realm ?? "")”: answered as \(user)")
    challenge.sender?.use(credential, for: challenge)
  }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    guard let response = response as? HTTPURLResponse else { return }
    outcome.status = response.statusCode
    outcome.mimeType = response.mimeType
    outcome.bodies.append([])
    let type = response.mimeType ?? "no type"
    let length =
      response.expectedContentLength < 0 ? "length not known" : "\(response.expectedContentLength) bytes"
    guard let part = response.partIndex else {
      return say("didReceive response  \(response.statusCode) \(response.reasonPhrase), \(type), \(length)")
    }
    if isTold(part) { say("didReceive response  part \(part), \(type), \(length)") }
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    let part = outcome.bodies.count - 2
    if outcome.bodies.isEmpty { outcome.bodies.append([]) }
    outcome.bodies[outcome.bodies.count - 1] += data
    if part < 0 || isTold(part) { say("didReceive data  \(data.count) bytes\(preview(data))") }
  }

  func connectionDidFinishPart(_ connection: URLConnection) {
    outcome.finishedParts += 1
    if isTold(outcome.finishedParts - 1) {
      let isPicture = outcome.bodies.last.map {
        $0.starts(with: [0xFF, 0xD8]) && $0.suffix(2) == [0xFF, 0xD9]
      }
      say("connectionDidFinishPart  \(isPicture == true ? "a whole JPEG" : "complete")")
    } else {
      partsUntold += 1
    }
  }

  func connection(_ connection: URLConnection, didReceiveTrailers trailers: FieldList) {
    say("didReceive trailers  " + trailers.map { "\($0.name): \($0.value)" }.joined(separator: ", "))
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    if partsUntold > 0 { say("… and so on for \(partsUntold) more parts") }
    outcome.hasFinished = true
    say("connectionDidFinishLoading")
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    outcome.error = error
    say("didFailWithError  \(error)")
  }

  private func isTold(_ part: Int) -> Bool { part < Self.partsTold }

  /// The first line of a text.
  private func preview(_ data: Data) -> String {
    guard outcome.mimeType?.hasPrefix("text/") == true else { return "" }
    let line = String(decoding: data.prefix(60), as: UTF8.self).prefix { !$0.isNewline }
    return "  “\(line)\(data.count > line.utf8.count + 1 ? "…" : "")”"
  }
}
