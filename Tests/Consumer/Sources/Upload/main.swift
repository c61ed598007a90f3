import Gannet
import Glibc

final class Upload: URLConnectionDataDelegate {
  func connection(
    _ connection: URLConnection, didSendBodyData bytesWritten: Int, totalBytesWritten: Int,
    totalBytesExpectedToWrite: Int
  ) {
    print("sent \(totalBytesWritten) of \(totalBytesExpectedToWrite) bytes")  // -1 where no length is known
  }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    if let response = response as? HTTPURLResponse { print("status \(response.statusCode)") }
  }

  func connection(_ connection: URLConnection, didFinishCollecting metrics: URLConnectionMetrics) {
    for transaction in metrics.transactions {  // more than one after a redirect, a login, a 417
      let use = transaction.isReusedConnection ? "used before" : "new"
      let end = transaction.closeReason.map { "closed: \($0)" } ?? "kept"
      print("\(transaction.method): connection \(transaction.connectionNumber ?? 0), \(use), \(end)")
    }
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print("failed: \(error)")
    exit(1)
  }
}

let arguments = CommandLine.arguments
var request = URLRequest(string: arguments.count > 1 ? arguments[1] : "")
request.httpMethod = "PUT"
if arguments.count > 2 {
  request.body = .file(arguments[2])
} else {
  request.body = .stream {  // without a length, so in chunks
    AsyncStream { pieces in
      for word in ["one ", "two ", "three\n"] { pieces.yield(Data(word.utf8)) }
      pieces.finish()
    }
  }
}
var configuration = URLConnection.Configuration()
configuration.collectsMetrics = true
let loop = EventLoop.current
let load = URLConnection(
  request: request, delegate: Upload(), configuration: configuration, on: .loop(loop.handle))
guard load != nil else {
  print("usage: Upload http://… [FILE]")
  exit(2)
}
loop.run()
