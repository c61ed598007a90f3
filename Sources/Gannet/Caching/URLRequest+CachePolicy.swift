import GannetPolicy

extension URLRequest {
  /// What a load wants of its configuration's cache. The numbers are those of Cocoa.
  public enum CachePolicy: UInt, Hashable, Sendable {
    /// What HTTP says: a fresh response is used, a stale one is asked about (RFC 9111 section 4).
    case useProtocolCachePolicy = 0
    /// Nothing stored is used. The answer may be stored.
    case reloadIgnoringLocalCacheData = 1
    /// What is stored is used, however old; without it the request is sent.
    case returnCacheDataElseLoad = 2
    /// What is stored is used, however old; without it the load fails with `resourceUnavailable`.
    case returnCacheDataDontLoad = 3
    /// The server is asked whether what is stored is still valid.
    case reloadRevalidatingCacheData = 5

    var rule: CacheRules.Policy {
      switch self {
      case .useProtocolCachePolicy: .useProtocol
      case .reloadIgnoringLocalCacheData: .reload
      case .returnCacheDataElseLoad: .returnElseLoad
      case .returnCacheDataDontLoad: .returnDontLoad
      case .reloadRevalidatingCacheData: .revalidate
      }
    }
  }
}
