import Gannet

final class Page: URLConnectionDataDelegate {
  var body = Data()

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    body.removeAll()  // what came before is replaced
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    body.append(data)
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    print("\(body.count) bytes")
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print("failed: \(error)")
  }
}

let loop = EventLoop.current
if let url = URL(string: CommandLine.arguments.last ?? "") {
  _ = URLConnection(request: URLRequest(url: url), delegate: Page(), on: .loop(loop.handle))
}
loop.run()  // until nothing is loading any more
