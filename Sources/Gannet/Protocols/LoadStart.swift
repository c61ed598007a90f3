import GannetHTTP

/// Who answers a request.
enum LoadTarget: Sendable {
  /// The network, at this address.
  case network(HTTPURL)
  /// A protocol class: one of the user's, or what is built in for `file` and `data`.
  case custom(URLProtocol.Type)
}

/// Where a load begins, or goes on when another driver takes it over.
struct LoadStart {
  let connection: URLConnection
  let delegate: (any URLConnectionDelegate)?
  var request: URLRequest
  /// How many redirects it has followed.
  var redirects = 0
  var metrics: URLConnectionMetrics?
  /// Whether the delegate has not been asked about the canonical form yet.
  var isFirst = true
}

extension URLRequest {
  /// Who answers this request.
  ///
  /// Throws `badURL` when the URL is not well-formed, names no host where it has to, or one where it may not;
  /// `unsupportedURL` when it has no scheme or one that nobody answers. A redirect does not lead to what is built in for
  /// `file` and `data`.
  func target(
    _ configuration: URLConnection.Configuration, isRedirect: Bool = false
  ) throws(ConnectionError) -> LoadTarget {
    let address = try wellFormedAddress()
    if let standIn = URLProtocol.standIn(for: self, configuration) { return .custom(standIn) }
    switch address.scheme {
    case "http", "https": return .network(address)
    case "file", "data":
      guard !isRedirect else {
        throw ConnectionError(
          .unsupportedURL, phase: .receiving, url: safeURLString,
          reason: "a redirect does not lead to a URL of the scheme \(address.scheme)")
      }
      guard address.scheme == "file" else { return .custom(DataProtocol.self) }
      guard address.host.isEmpty || address.host == "localhost" || address.host == "127.0.0.1" else {
        throw ConnectionError(
          .badURL, phase: .preparing, url: safeURLString,
          reason: "a file URL names a file of this machine, not of the host \(address.host)")
      }
      return .custom(FileProtocol.self)
    default:
      throw ConnectionError(
        .unsupportedURL, phase: .preparing, url: safeURLString,
        reason: "the scheme \(address.scheme) is not one that can be loaded; http, https, file and data are")
    }
  }

  private func wellFormedAddress() throws(ConnectionError) -> HTTPURL {
    do { return try parsedAddress.get() } catch {
      throw ConnectionError(
        error.rule == .noScheme ? .unsupportedURL : .badURL, phase: .preparing, url: urlString,
        cause: .syntax(rule: error.rule.rawValue, byte: error.byte, offset: Int64(error.offset)),
        reason: error.reason)
    }
  }
}
