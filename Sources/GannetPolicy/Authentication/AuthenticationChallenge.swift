/// One challenge of a `WWW-Authenticate` field: a scheme with its parameters, or with a token68 (RFC 9110
/// section 11.3).
package struct AuthenticationChallenge: Hashable, Sendable {
  /// A parameter: its name in lower case, its value without quotes and their backslashes.
  package struct Parameter: Hashable, Sendable {
    package var name: String
    package var value: String

    package init(name: String, value: String) {
      self.name = name
      self.value = value
    }
  }

  /// The scheme in lower case.
  package var scheme: String
  /// The parameters in order, repeated ones included.
  package var parameters: [Parameter]
  /// The token68 in place of parameters.
  package var token68: String?

  package init(scheme: String, parameters: [Parameter] = [], token68: String? = nil) {
    self.scheme = scheme
    self.parameters = parameters
    self.token68 = token68
  }

  /// The value of the first parameter of this name (in lower case), or nil.
  package subscript(name: String) -> String? {
    parameters.first { $0.name == name }?.value
  }
}
