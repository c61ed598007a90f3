import Foundation
import Gannet

/// Listing 8: keeps no https response, and puts the date beside the others.
final class DatingWhatIsCached: Receiving {
  override func connection(
    _ connection: URLConnection, willCacheResponse cachedResponse: CachedURLResponse
  ) -> CachedURLResponse? {
    if cachedResponse.response.url?.scheme == "https" { return nil }
    return CachedURLResponse(
      response: cachedResponse.response, data: cachedResponse.data, userInfo: ["Cached Date": Date()],
      storagePolicy: cachedResponse.storagePolicy)
  }
}
