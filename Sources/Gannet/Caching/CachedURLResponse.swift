public import FoundationEssentials

/// A response with its whole body, as a cache keeps it (Apple's `NSCachedURLResponse`).
public struct CachedURLResponse: Sendable {
  /// The response's head.
  public let response: URLResponse
  /// The whole body, decoded.
  public let data: Data
  /// Whatever the one who stores it wants to find again with it, or nil.
  public let userInfo: [String: any Sendable]?
  /// Whether, and where, it may be stored.
  public let storagePolicy: URLCache.StoragePolicy

  /// A response with its body.
  public init(
    response: URLResponse, data: Data, userInfo: [String: any Sendable]? = nil,
    storagePolicy: URLCache.StoragePolicy = .allowed
  ) {
    self.response = response
    self.data = data
    self.userInfo = userInfo
    self.storagePolicy = storagePolicy
  }
}
