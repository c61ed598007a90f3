import Gannet

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
  }
}

let loop = EventLoop.current
if let url = URL(string: CommandLine.arguments.last ?? "") {
  _ = URLConnection(request: URLRequest(url: url), delegate: Camera(), on: .loop(loop.handle))
}
loop.run()
