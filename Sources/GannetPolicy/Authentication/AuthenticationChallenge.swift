import GannetHTTP

/// One challenge of a `WWW-Authenticate` field: a scheme with its parameters, or with a token68 (RFC 9110
/// section 11.3).
package struct AuthenticationChallenge: Hashable, Sendable {
  /// A parameter: its name in lower case, its value without quotes and their backslashes.
  package struct Parameter: Hashable, Sendable {
    package var name: String
    /// The value as it came: what a Digest hashes and sends back.
    package var bytes: [UInt8]
    /// The value as text; bytes that are not UTF-8 are read as Latin-1.
    package var value: String { String(fieldText: bytes.span) }

    package init(name: String, bytes: [UInt8]) {
      self.name = name
      self.bytes = bytes
    }

    package init(name: String, value: String) { self.init(name: name, bytes: Array(value.utf8)) }
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
  package subscript(name: String) -> String? { parameters.first { $0.name == name }?.value }

  /// The bytes of the value of the first parameter of this name (in lower case), or nil.
  package func bytes(of name: String) -> [UInt8]? { parameters.first { $0.name == name }?.bytes }
}
