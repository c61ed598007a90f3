import Gannet
import Glibc

final class Page: URLConnectionDataDelegate {
  var status = 0
  var body = Data()

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    status = (response as? HTTPURLResponse)?.statusCode ?? 0
    body.removeAll()  // what came before is replaced
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    body.append(data)
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    print("status \(status), \(body.count) bytes")  // a 404 is an answer too, with a page
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print("failed: \(error)")
    exit(1)
  }
}

let loop = EventLoop.current
let request = URLRequest(string: CommandLine.arguments.dropFirst().first ?? "")
guard URLConnection(request: request, delegate: Page(), on: .loop(loop.handle)) != nil else {
  print("usage: Smallest http://…")  // nil: that was no URL of http or https
  exit(2)
}
loop.run()  // until nothing is loading any more
