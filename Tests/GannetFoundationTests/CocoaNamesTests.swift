import Foundation
import Gannet
import GannetFoundation
import TestSupport
import Testing

@Suite("Cocoa's names") struct CocoaNamesTests {
  /// A delegate as ported code spells it.
  private final class Ported: NSURLConnectionDataDelegate {
    private(set) var said: [String] = []

    func connection(_ connection: NSURLConnection, didReceive response: NSURLResponse) {
      said.append((response as? NSHTTPURLResponse).map { "\($0.statusCode)" } ?? "no response of HTTP")
    }

    func connection(
      _ connection: NSURLConnection, willCacheResponse cachedResponse: NSCachedURLResponse
    ) -> NSCachedURLResponse? {
      said.append("may be cached")
      return nil
    }

    func connection(_ connection: NSURLConnection, didReceive challenge: NSURLAuthenticationChallenge) {
      challenge.sender?.continueWithoutCredential(for: challenge)
    }

    func connection(_ connection: NSURLConnection, didFailWithError error: ConnectionError) {
      said.append("failed: \(error)")
    }

    func connectionDidFinishLoading(_ connection: NSURLConnection) { said.append("finished") }
  }

  @Test func aDelegateSpelledAsInCocoaIsCalled() throws {
    let delegate = Ported()
    let loop = EventLoop.current
    let url = try #require(URL(string: "data:text/plain,hello"))
    var request = NSMutableURLRequest(url: url)
    request.timeoutInterval = 5
    _ = try #require(
      NSURLConnection(request: request as NSURLRequest, delegate: delegate, on: .loop(loop.handle)))
    loop.run()
    #expect(delegate.said == ["no response of HTTP", "finished"])
  }
}
