import Gannet
import Glibc

final class Answers: URLConnectionDataDelegate {
  func connection(
    _ connection: URLConnection, willSend request: URLRequest, redirectResponse: URLResponse?
  ) -> URLRequest? {
    guard let redirectResponse else { return request }  // no redirect: the URL in its canonical form
    let (old, new) = (redirectResponse.url, request.url)
    let staysThere = old?.scheme == new?.scheme && old?.host() == new?.host() && old?.port == new?.port
    return staysThere ? request : nil  // nil refuses: the redirect itself is then delivered
  }

  func connection(_ connection: URLConnection, didReceive challenge: URLAuthenticationChallenge) {
    guard challenge.previousFailureCount == 0 else {
      challenge.sender?.cancel(challenge)  // wrong the first time, wrong the next time
      return
    }
    let login = URLCredential(user: "guest", password: "secret", persistence: .forSession)
    challenge.sender?.use(login, for: challenge)  // or later, from any thread
  }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    if let response = response as? HTTPURLResponse { print("status \(response.statusCode)") }
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print("failed: \(error.code): \(error.reason)")
    exit(1)
  }
}

let arguments = CommandLine.arguments
var configuration = URLConnection.Configuration()
if arguments.count > 2 { configuration.trust = .file(arguments[2]) }  // these authorities and no others
let loop = EventLoop.current
let load = URLConnection(
  request: URLRequest(string: arguments.count > 1 ? arguments[1] : ""), delegate: Answers(),
  configuration: configuration, on: .loop(loop.handle))
guard load != nil else {
  print("usage: Answers URL [AUTHORITIES.pem]")
  exit(2)
}
loop.run()
