import Gannet
import Glibc

final class Camera: URLConnectionDataDelegate {
  var picture = Data()
  var pictures = 0

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    picture.removeAll(keepingCapacity: true)  // once for the stream, then once for each part
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    picture.append(data)
  }

  func connectionDidFinishPart(_ connection: URLConnection) {
    pictures += 1
    print("picture \(pictures): \(picture.count) bytes")
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    print("the stream ended after \(pictures) pictures")
  }

  func connection(_ connection: URLConnection, didFailWithError error: ConnectionError) {
    print("failed: \(error)")
    exit(1)
  }
}

let loop = EventLoop.current
let request = URLRequest(string: CommandLine.arguments.dropFirst().first ?? "")
var configuration = URLConnection.Configuration()
configuration.splitsUnlabelledStreams = true  // ffmpeg calls its stream application/octet-stream
let camera = URLConnection(
  request: request, delegate: Camera(), configuration: configuration, on: .loop(loop.handle))
guard camera != nil else {
  print("usage: Camera http://…")
  exit(2)
}
loop.run()
