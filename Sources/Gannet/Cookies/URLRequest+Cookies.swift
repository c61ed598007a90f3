import GannetHTTP

// Whose `Cookie` field a request is sent with: the program's, as it is; or what is stored for the URL at the moment of
// sending. A request that a delegate is shown holds the stored one, with a note of it. What comes back from the delegate
// says by the two what is wanted: the field as it was shown is the storage's still, another is the program's, and none
// means none.
extension URLRequest {
  /// Whether stored cookies are sent with it.
  var takesStoredCookies: Bool {
    httpShouldHandleCookies && shownCookie == nil && !fields.contains("Cookie")
  }

  /// This request as a delegate is to see it, with the cookies that it would be sent with.
  func showingCookies(of storage: HTTPCookieStorage?, for url: HTTPURL) -> URLRequest {
    var shown = self
    // An answer to what was shown before says nothing of this.
    if shownCookie != nil { shown.shownCookie = nil }
    guard shown.takesStoredCookies, let cookie = storage?.field(for: url) else { return shown }
    shown.fields.append(name: "Cookie".utf8.span, value: cookie.span)
    shown.shownCookie = cookie
    return shown
  }

  /// This request as it is loaded: without the stored cookies that it was shown with, which are looked for again.
  var withoutShownCookies: URLRequest {
    guard let shownCookie else { return self }
    // Removed by the delegate: none is sent.
    guard let index = fields.firstIndex(named: "Cookie") else { return self }
    var loaded = self
    loaded.shownCookie = nil
    let isAsShown =
      fields.firstIndex(named: "Cookie", from: index + 1) == nil
      && fields.withValueBytes(at: index) { [UInt8](copying: $0) == shownCookie }
    if isAsShown { loaded.fields.removeAll(named: "Cookie") }
    return loaded
  }
}
