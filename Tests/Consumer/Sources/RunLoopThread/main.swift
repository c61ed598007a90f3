// A load driven by the `RunLoop` of a background thread, as ported Cocoa code has it.
import Foundation
import Gannet
import GannetFoundation

final class Tally: URLConnectionDataDelegate {
  private(set) var isDone = false
  private var status = 0
  private var bytes = 0

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    status = (response as? HTTPURLResponse)?.statusCode ?? 0
  }

  func connection(_ connection: URLConnection, didReceive data: Data) { bytes += data.count }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    print(status, bytes)
    isDone = true
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print(error)
    isDone = true
  }
}

guard CommandLine.arguments.count == 2, let url = URL(string: CommandLine.arguments[1]) else {
  fatalError("usage: RunLoopThread URL")
}
let finished = DispatchSemaphore(value: 0)
let thread = Thread {
  let tally = Tally()
  let connection = URLConnection(request: URLRequest(url: url), delegate: tally, startImmediately: false)
  do {
    try connection?.schedule(in: .current, forMode: .default)
    connection?.start()
  } catch {
    fatalError("\(error)")
  }
  while !tally.isDone, RunLoop.current.run(mode: .default, before: .distantFuture) {}
  finished.signal()
}
thread.start()
finished.wait()
