// A load on the main Dispatch queue, which `dispatchMain()` runs here; `RunLoop.main.run()` or an async `main` would
// drive it as well.
import Gannet
import Glibc

@MainActor
final class Tally: @MainActor URLConnectionDataDelegate {
  private var status = 0
  private var bytes = 0

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    status = (response as? HTTPURLResponse)?.statusCode ?? 0
  }

  func connection(_ connection: URLConnection, didReceive data: Data) { bytes += data.count }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    print(status, bytes)
    exit(0)
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print(error)
    exit(1)
  }
}

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
  fatalError("usage: MainQueue URL")
}
_ = URLConnection(request: URLRequest(url: url), delegate: Tally())  // on the main thread: on the main queue
dispatchMain()
