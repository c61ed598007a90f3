/// One load that a protocol class answers for: which of the things it says count, whatever its code does.
///
/// Words come in the order in which the protocol said them. What the machine lets pass keeps the contract of a load: a
/// response before data, redirects and challenges before a response, one end, nothing after it.
package struct ProtocolMachine: Hashable, Sendable {
  /// What a protocol says.
  package enum Word: Hashable, Sendable, CaseIterable {
    case redirect, challenge, challengeCancelled, response, data, finish, failure
  }

  /// What comes of a word.
  package enum Verdict: Hashable, Sendable {
    /// It counts.
    case pass
    /// It does not: nothing waits for it.
    case ignore
    /// The load fails, since the protocol said this where it cannot stand.
    case fail(Breach)
  }

  /// Why a load fails for what its protocol said.
  package enum Breach: Hashable, Sendable, CaseIterable {
    case dataBeforeResponse, endWithoutResponse, redirectAfterResponse, challengeAfterResponse,
      tooManyRedirects
  }

  private enum State: Hashable, Sendable {
    case awaiting(isChallenged: Bool)
    case answered
    /// A redirect passed; nothing more is heard of who said it.
    case redirected
    case ended
  }

  private var state = State.awaiting(isChallenged: false)
  private let maximumRedirects: Int
  /// How many redirects the load has followed.
  package private(set) var redirects: Int

  /// A load that has followed so many redirects already.
  package init(maximumRedirects: Int, redirects: Int = 0) {
    self.maximumRedirects = maximumRedirects
    self.redirects = redirects
  }

  /// Whether nothing counts any more.
  package var hasEnded: Bool { state == .ended }
  /// Whether it was asked for a credential, and the protocol has said nothing since.
  package var awaitsCredential: Bool { state == .awaiting(isChallenged: true) }

  /// The protocol has said something.
  package mutating func said(_ word: Word) -> Verdict {
    switch (state, word) {
    case (.ended, _), (.redirected, _): return .ignore
    case (.awaiting, .redirect):
      guard redirects < maximumRedirects else { return fail(.tooManyRedirects) }
      redirects += 1
      state = .redirected
    case (.answered, .redirect): return fail(.redirectAfterResponse)
    case (.awaiting, .challenge): state = .awaiting(isChallenged: true)
    case (.answered, .challenge): return fail(.challengeAfterResponse)
    case (.awaiting(let isChallenged), .challengeCancelled):
      guard isChallenged else { return .ignore }
      state = .awaiting(isChallenged: false)
    case (.answered, .challengeCancelled): return .ignore
    case (.awaiting, .response), (.answered, .response): state = .answered
    case (.answered, .data): break
    case (.awaiting, .data): return fail(.dataBeforeResponse)
    case (.awaiting, .finish): return fail(.endWithoutResponse)
    case (.answered, .finish), (.awaiting, .failure), (.answered, .failure): state = .ended
    }
    return .pass
  }

  /// The redirect is followed: another protocol answers now.
  package mutating func followed() {
    if state == .redirected { state = .awaiting(isChallenged: false) }
  }

  /// The load was cancelled, or has ended by something else than its protocol's word.
  package mutating func ended() { state = .ended }

  private mutating func fail(_ breach: Breach) -> Verdict {
    state = .ended
    return .fail(breach)
  }
}
