import GannetHTTP

extension URLRequest {
  /// Says why `URLConnection(request:delegate:)` gives nil for this request; returns when it gives a connection.
  ///
  /// - Throws: `badURL` when the URL is not well-formed or names no host, `unsupportedURL` when it has no scheme or
  ///   one that is not `http` or `https`.
  public func validate() throws(ConnectionError) { _ = try loadableAddress() }

  /// The URL as one that can be loaded.
  ///
  /// Throws `badURL` when it is not well-formed or names no host, `unsupportedURL` when it has no scheme or one that
  /// is not `http` or `https`.
  func loadableAddress() throws(ConnectionError) -> HTTPURL {
    let address: HTTPURL
    do {
      address = try parsedAddress.get()
    } catch {
      throw ConnectionError(
        error.rule == .noScheme ? .unsupportedURL : .badURL, phase: .preparing, url: urlString,
        cause: .syntax(rule: error.rule.rawValue, byte: error.byte, offset: Int64(error.offset)),
        reason: error.reason)
    }
    switch address.scheme {
    case "http", "https": return address
    default:
      throw ConnectionError(
        .unsupportedURL, phase: .preparing, url: safeURLString,
        reason: "the scheme \(address.scheme) is not one that can be loaded; http and https are")
    }
  }

  /// The URL without user name and password, for messages.
  var safeURLString: String {
    switch parsedAddress {
    case .success(let address): address.withoutUserInfo.text
    case .failure: urlString
    }
  }
}
