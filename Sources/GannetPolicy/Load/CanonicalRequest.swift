import GannetHTTP

/// A request as it is loaded: its URL in canonical form (docs/CONTRACT.md, rule 7; `HTTPURL` says what that is).
///
/// The delegate is asked about a request of the caller's that this changes. It is not asked about its own answers, which
/// are taken as if it had given the canonical form.
package struct CanonicalRequest: Equatable, Sendable {
  /// The request to load.
  package let request: LoadMachine.Request
  /// Whether its URL was given in another form.
  package let isChanged: Bool

  /// Changes nothing but the URL.
  package init(_ given: LoadMachine.Request) {
    isChanged = !given.url.isCanonical
    var changed = given
    if isChanged { changed.url = given.url.canonical }
    request = changed
  }
}
