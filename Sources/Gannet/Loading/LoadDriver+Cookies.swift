import GannetHTTP
import GannetPolicy

// How a load takes cookies and sends them. Which ones is decided by `CookieJar` and what it is made of.
extension LoadDriver {
  var cookieStorage: HTTPCookieStorage? { connection.configuration.cookieStorage }

  /// Keeps what a final response sets, whatever becomes of the response: a redirect's cookies go with the next request.
  func takeCookies(of head: ResponseHead) {
    guard head.fields.contains("Set-Cookie"), request.httpShouldHandleCookies, let cookieStorage else {
      return
    }
    cookieStorage.take(head.fields, from: machine.request.url, mainDocumentURL: request.mainDocumentURL)
  }

  /// Looks for the stored cookies of the current request.
  func lookForCookies() {
    sentCookie =
      if let cookieStorage, !cookieStorage.isEmpty, request.takesStoredCookies {
        cookieStorage.field(for: machine.request.url)
      } else {
        nil
      }
  }

  /// What is sent besides the request's own fields: questions about what is stored, and stored cookies; nil for nothing.
  var addedFields: FieldList? {
    guard let sentCookie else { return machine.conditions }
    var added = machine.conditions ?? FieldList()
    added.append(name: "Cookie".utf8.span, value: sentCookie.span)
    return added
  }
}
