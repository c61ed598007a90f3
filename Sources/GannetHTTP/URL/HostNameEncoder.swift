/// Turns the name of a host that has characters beyond ASCII into its ASCII form: `bücher.example` into
/// `xn--bcher-kva.example`.
///
/// The form is that of UTS 46, non-transitional, as in browsers (url.spec.whatwg.org, "domain to ASCII"). Its tables
/// are large and are not part of this layer, so whoever has them makes an encoder of them. A name that is ASCII
/// already is not asked for: it is what it says, `xn--` or not.
public struct HostNameEncoder: Sendable {
  /// Why a name has no ASCII form.
  public struct Failure: Error, Hashable, Sendable {
    /// What is wrong, in words, for a person.
    public let reason: String

    /// Makes a failure.
    public init(_ reason: String) { self.reason = reason }
  }

  private let convert: @Sendable (String) throws(Failure) -> String

  /// Makes an encoder.
  ///
  /// - Parameter convert: gets a whole name with its dots, percent-escapes undone, in which no ASCII character is
  ///   one that no name may hold, but for `<` and `>`, which a combining stroke makes `≮` and `≯` of. Gives the name in
  ///   ASCII and lower case. Called on any thread.
  public init(_ convert: @escaping @Sendable (String) throws(Failure) -> String) { self.convert = convert }

  /// The ASCII form of a name.
  public func encode(_ name: String) throws(Failure) -> String { try convert(name) }
}
