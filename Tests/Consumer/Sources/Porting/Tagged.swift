import Foundation
import Gannet

/// "Multiple async NSURLConnections": several connections, one delegate, and what each receives by its tag.
final class Tagged: URLConnectionDataDelegate {
  private(set) var receivedData: [String: Data] = [:]

  func startAsyncLoad(_ url: URL, tag: String) {
    // The subclass of the document is not needed: a connection has a tag, and may be a dictionary's key itself.
    let connection = URLConnection(
      request: URLRequest(url: url), delegate: self, startImmediately: true, tag: tag)
    if let tag = connection?.tag { receivedData[tag] = Data() }
  }

  func connection(_ connection: URLConnection, didReceive response: URLResponse) {
    if let tag = connection.tag { receivedData[tag] = Data() }
  }

  func connection(_ connection: URLConnection, didReceive data: Data) {
    if let tag = connection.tag { receivedData[tag]?.append(data) }
  }

  func connectionDidFinishLoading(_ connection: URLConnection) {
    guard let tag = connection.tag, let data = receivedData[tag] else { return }
    print("\(tag): \(data.count) bytes")
  }
}
