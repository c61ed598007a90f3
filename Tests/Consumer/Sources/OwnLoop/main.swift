// A load on an event loop of this thread's own: no other thread takes part.
import Gannet

final class Tally: URLConnectionDataDelegate {
  private var status = 0
  private var bytes = 0

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    status = (response as? HTTPURLResponse)?.statusCode ?? 0
  }

  func connection(_ connection: URLConnection, didReceive data: Data) { bytes += data.count }

  func connectionDidFinishLoading(_ connection: URLConnection) { print(status, bytes) }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) { print(error) }
}

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
  fatalError("usage: OwnLoop URL")
}
let loop = EventLoop.current
_ = URLConnection(request: URLRequest(url: url), delegate: Tally(), on: .loop(loop.handle))
loop.run()  // returns once no load is left
