/// How the names of fields are spelled in the standards that define them.
public enum StandardFieldName {
  /// The spelling of a name in lower case, or nil when it is none of those that are registered for HTTP and in use.
  public static func spelling(of lowercased: String) -> String? { spellings[lowercased] }

  /// IANA's registry of HTTP field names (RFC 9110 section 16.3.1): the permanent ones that responses have.
  private static let spellings: [String: String] = {
    let names = """
      Accept-CH Accept-Patch Accept-Post Accept-Ranges Access-Control-Allow-Credentials Access-Control-Allow-Headers
      Access-Control-Allow-Methods Access-Control-Allow-Origin Access-Control-Expose-Headers Access-Control-Max-Age Age
      Allow Alt-Svc Authentication-Info Cache-Control Cache-Status CDN-Cache-Control Clear-Site-Data Connection
      Content-Digest Content-Disposition Content-Encoding Content-Language Content-Length Content-Location Content-MD5
      Content-Range Content-Security-Policy Content-Security-Policy-Report-Only Content-Type
      Cross-Origin-Embedder-Policy Cross-Origin-Opener-Policy Cross-Origin-Resource-Policy Date ETag Expect-CT Expires
      Keep-Alive Last-Modified Link Location MIME-Version Origin-Agent-Cluster Permissions-Policy Pragma
      Preference-Applied Proxy-Authenticate Proxy-Authentication-Info Proxy-Connection Proxy-Status Referrer-Policy
      Refresh Repr-Digest Retry-After Server Server-Timing Set-Cookie Set-Cookie2 SourceMap Strict-Transport-Security
      Timing-Allow-Origin TE Trailer Transfer-Encoding Upgrade Vary Via Want-Content-Digest Want-Repr-Digest Warning
      WWW-Authenticate X-Content-Type-Options X-Frame-Options
      """
    var spellings: [String: String] = [:]
    for name in names.split(whereSeparator: \.isWhitespace) { spellings[name.lowercased()] = String(name) }
    return spellings
  }()
}
