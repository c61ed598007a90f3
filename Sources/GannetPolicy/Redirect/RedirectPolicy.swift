package import GannetHTTP

/// Decides whether a response sends a load elsewhere, and with which request (RFC 9110 section 15.4).
///
/// - 301, 302, 303, 307, 308 with a `Location` are redirects. 300, 304, 305, 306 and others are not: the
///   response is delivered.
/// - 301 and 302 turn POST into GET and leave other methods; 303 turns all but HEAD into GET; 307 and 308
///   change nothing. A changed method, and any 303, drops the body and the fields that speak of it.
/// - When scheme, host or effective port change, fields that hold credentials and `Host` are dropped. The
///   next redirect is decided from the stripped request, so they stay dropped when the load comes back (A → B
///   → A).
///
/// Decisions where the standards leave a choice: differing `Location` fields are an error, not a guess; an
/// empty `Location` is none; a `Location` that is no URL, or of a scheme that isn't loaded, fails.
package struct RedirectPolicy: Sendable {
  /// How many redirects one load follows; the next one fails.
  package var limit = 20
  /// The schemes, in lower case, that a redirect may lead to.
  package var schemes: Set<String> = ["http", "https"]
  /// What hosts beyond ASCII in `Location` are encoded with; such a place is a bad one where there is none.
  package var hostNameEncoder: HostNameEncoder?

  /// Whether it may lead to any other too: there is someone else who decides.
  package var takesAnyScheme = false

  /// A policy of 20 redirects to http and https.
  package init() {}

  /// The request that was answered.
  package struct Request: Hashable, Sendable {
    package var method: String
    package var url: HTTPURL
    package var fields: FieldList

    package init(method: String, url: HTTPURL, fields: FieldList) {
      self.method = method
      self.url = url
      self.fields = fields
    }
  }

  /// The request to go on with.
  package struct Redirect: Hashable, Sendable {
    package var method: String
    /// In canonical form; the fragment of the request's URL is inherited when `Location` has none.
    package var url: HTTPURL
    /// The request's fields without those that must not go along.
    package var fields: FieldList
    /// Whether the body is sent again (when there was one).
    package var keepsBody: Bool
    /// Whether scheme, host or effective port differ from the request's.
    package var isCrossOrigin: Bool
    /// Whether it leads from https to http.
    package var isDowngrade: Bool
  }

  /// What to do with a response.
  package enum Decision: Hashable, Sendable {
    /// Deliver it: its status is no redirect, or it names no place to go to.
    case notARedirect
    case follow(Redirect)
    case fail(Failure)
  }

  /// Why a redirect cannot be followed.
  package enum Failure: Hashable, Sendable {
    /// The limit, of so many, was reached.
    case tooMany(limit: Int)
    /// `Location` is no URL.
    case badLocation(String, URLSyntaxError)
    /// Several `Location` fields differ.
    case differingLocations
    /// `Location` has a scheme that isn't loaded.
    case unsupportedScheme(String)
  }

  /// Decides about one response.
  /// - Parameter followed: how many redirects this load has followed before.
  package func decide(
    _ request: Request, status: Int, response fields: FieldList, followed: Int
  ) -> Decision {
    guard [301, 302, 303, 307, 308].contains(status) else { return .notARedirect }
    let location: Int
    switch locate(fields) {
    case .none: return .notARedirect
    case .differing: return .fail(.differingLocations)
    case .at(let index): location = index
    }
    guard followed < limit else { return .fail(.tooMany(limit: limit)) }
    let url: HTTPURL
    do throws(URLSyntaxError) {
      url = try fields.resolvedValue(at: location, by: request.url, encodingHostsWith: hostNameEncoder)
        .inheritingFragment(from: request.url)
    } catch {
      return .fail(.badLocation(fields[location].value, error))
    }
    guard takesAnyScheme || schemes.contains(url.scheme) else { return .fail(.unsupportedScheme(url.scheme)) }
    return .follow(redirect(request, to: url, status: status))
  }

  private enum Locations { case none, at(Int), differing }

  /// The one `Location` that is not empty.
  private func locate(_ fields: FieldList) -> Locations {
    var found: Int?
    var next = fields.firstIndex(named: "Location")
    while let index = next {
      next = fields.firstIndex(named: "Location", from: index + 1)
      if fields.withValueBytes(at: index, { $0.isEmpty }) { continue }
      if let found, fields[found].value != fields[index].value { return .differing }
      if found == nil { found = index }
    }
    return found.map { .at($0) } ?? .none
  }

  private func redirect(_ request: Request, to url: HTTPURL, status: Int) -> Redirect {
    let method = nextMethod(request.method, status: status)
    let keepsBody = method == request.method && status != 303
    let isCrossOrigin = !url.hasSameOrigin(as: request.url)
    let isDowngrade = request.url.scheme == "https" && url.scheme == "http"
    var fields = FieldList()
    for index in request.fields.indices {
      let name = request.fields[index].name.lowercased()
      if !keepsBody, RedirectPolicy.speaksOfBody(name) { continue }
      if isCrossOrigin, RedirectPolicy.boundToOrigin.contains(name) { continue }
      // RFC 9110 section 10.1.3: what was got over TLS is not named without it.
      if isDowngrade, name == "referer" { continue }
      request.fields.withNameBytes(at: index) { name in
        request.fields.withValueBytes(at: index) { fields.append(name: name, value: $0) }
      }
    }
    return Redirect(
      method: method, url: url, fields: fields, keepsBody: keepsBody, isCrossOrigin: isCrossOrigin,
      isDowngrade: isDowngrade)
  }

  private func nextMethod(_ method: String, status: Int) -> String {
    switch status {
    case 301, 302: method == "POST" ? "GET" : method
    case 303: method == "HEAD" ? "HEAD" : "GET"
    default: method
    }
  }

  /// Fields (in lower case) that are for one origin only: credentials, and its name.
  private static let boundToOrigin: Set<String> = [
    "authorization", "proxy-authorization", "cookie", "cookie2", "www-authenticate", "host",
  ]

  /// Whether the field (in lower case) describes a body.
  private static func speaksOfBody(_ name: String) -> Bool {
    name.hasPrefix("content-")
      || ["transfer-encoding", "trailer", "expect", "digest", "repr-digest"].contains(name)
  }
}

extension FieldList {
  /// The URL that the value at `index` means, read at `base`.
  fileprivate func resolvedValue(
    at index: Int, by base: HTTPURL, encodingHostsWith encoder: HostNameEncoder?
  ) throws(URLSyntaxError) -> HTTPURL {
    let result: Result<HTTPURL, URLSyntaxError> = withValueBytes(at: index) { value in
      do throws(URLSyntaxError) {
        return .success(try base.resolving(value, encodingHostsWith: encoder))
      } catch {
        return .failure(error)
      }
    }
    return try result.get()
  }
}
