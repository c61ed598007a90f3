// Two loads driven by `RunLoop.main.run()`: one scheduled on that run loop, one in the main queue. In the first one's last
// callback a third is waited for.
import Foundation
import Gannet
import GannetFoundation

@MainActor
final class Tally: @MainActor URLConnectionDataDelegate {
  private let next: () -> Void
  private var status = 0
  private var bytes = 0

  init(next: @escaping () -> Void) { self.next = next }

  func connection(_ connection: URLConnection, didReceive response: Gannet.URLResponse) {
    status = (response as? Gannet.HTTPURLResponse)?.statusCode ?? 0
  }

  func connection(_ connection: URLConnection, didReceive data: Data) { bytes += data.count }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    print(status, bytes)
    next()
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print(error)
    exit(1)
  }
}

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
  fatalError("usage: MainRunLoop URL")
}
let request = Gannet.URLRequest(url: url)
let first = URLConnection(
  request: request,
  delegate: Tally {
    do throws(ConnectionError) {
      print(try URLConnection.sendSynchronousRequest(request).0.count)
    } catch {
      print(error)
    }
    // On the main thread and in no callback of a loop's own, automatic would be the main queue.
    _ = URLConnection(request: request, delegate: Tally { exit(0) }, on: .queue(.main))
  }, startImmediately: false)
do {
  try first?.schedule(in: .main, forMode: .common)
  first?.start()
} catch {
  fatalError("\(error)")
}
RunLoop.main.run()
