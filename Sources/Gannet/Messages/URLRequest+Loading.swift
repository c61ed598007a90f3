import GannetHTTP

extension URLRequest {
  /// Says why `URLConnection(request:delegate:)` gives nil for this request; returns when it gives a connection.
  ///
  /// - Parameter configuration: the one the connection is made with, whose `protocolClasses` are asked.
  /// - Throws: `badURL` when the URL is not well-formed or names no host, `unsupportedURL` when it has no scheme or
  ///   one that is not `http`, `https`, `file` or `data` and that no protocol class takes.
  public func validate(for configuration: URLConnection.Configuration = .default) throws(ConnectionError) {
    _ = try target(configuration)
  }

  /// The URL without user name and password, for messages; a `data` URL without its data.
  var safeURLString: String {
    switch parsedAddress {
    case .success(let address):
      address.scheme == "data" ? String(address.text.prefix(64)) : address.withoutUserInfo.text
    case .failure: urlString
    }
  }
}
