/// The forms of a request's target (RFC 9112 section 3.2).
public enum TargetForm: Hashable, Sendable, CaseIterable {
  /// Path and query: to the origin server.
  case origin
  /// The whole URL, without user name, password and fragment: to a proxy.
  case absolute
  /// Host and port: of CONNECT.
  case authority
}

extension HTTPURL {
  /// What the request line names of this URL. The fragment is never sent.
  ///
  /// - Parameter form: to whom the request goes. In `authority` the port is there also when it is the scheme's
  ///   default, since CONNECT has none (RFC 9110 section 9.3.6).
  public func target(in form: TargetForm) -> String {
    switch form {
    case .origin: requestTarget
    case .absolute: "\(scheme)://\(hostField)\(requestTarget)"
    case .authority: hostFieldHasPort ? hostField : "\(hostField):\(origin.port)"
    }
  }

  /// Whether the port stands in `hostField`: a colon outside the brackets of an IPv6 address.
  private var hostFieldHasPort: Bool {
    let field = hostField
    guard let colon = field.lastIndex(of: ":") else { return false }
    return field.lastIndex(of: "]").map { $0 < colon } ?? true
  }
}
