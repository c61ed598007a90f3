// A load on a serial Dispatch queue, while the main thread waits for something else.
import Gannet

final class Tally: URLConnectionDataDelegate {
  private let finished: DispatchSemaphore
  private var status = 0
  private var bytes = 0

  init(finished: DispatchSemaphore) { self.finished = finished }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    status = (response as? HTTPURLResponse)?.statusCode ?? 0
  }

  func connection(_ connection: URLConnection, didReceive data: Data) { bytes += data.count }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    print(status, bytes)
    finished.signal()
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print(error)
    finished.signal()
  }
}

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
  fatalError("usage: Queue URL")
}
let finished = DispatchSemaphore(value: 0)
let queue = DispatchQueue(label: "loads")
_ = URLConnection(request: URLRequest(url: url), delegate: Tally(finished: finished), on: .queue(queue))
finished.wait()
