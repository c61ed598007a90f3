// A load whose callbacks come in an operation queue, and a whole answer in another.
import Foundation
import Gannet
import GannetFoundation

final class Tally: URLConnectionDataDelegate {
  private var bytes = 0
  private let end: (Int) -> Void

  init(end: @escaping (Int) -> Void) { self.end = end }

  func connection(_ connection: URLConnection, didReceive data: Data) { bytes += data.count }

  func connectionDidFinishLoading(_ connection: URLConnection) { end(bytes) }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) { end(-1) }
}

let request = Gannet.URLRequest(string: CommandLine.arguments.count > 1 ? CommandLine.arguments[1] : "")
guard URLConnection.canHandle(request) else {
  print("usage: OperationQueues URL")
  exit(2)
}
let queue = OperationQueue()
let bytes = await withCheckedContinuation { continuation in
  let connection = URLConnection(
    request: request, delegate: Tally { continuation.resume(returning: $0) }, startImmediately: false)
  do {
    try connection?.setDelegateQueue(queue)
    connection?.start()
  } catch {
    print(error)
    exit(1)
  }
}
print(bytes)
let count = await withCheckedContinuation { continuation in
  URLConnection.sendAsynchronousRequest(request, queue: .main) { response, data, error in
    MainActor.assumeIsolated { continuation.resume(returning: data?.count ?? -1) }
  }
}
print(count)
