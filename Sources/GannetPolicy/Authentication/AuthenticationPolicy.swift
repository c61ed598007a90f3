package import GannetHTTP

/// Decides about the challenges of one load: whether a response is one that can be answered, which credential
/// answers it without asking, and how often an answer was wrong.
///
/// A credential that a server has refused is never sent again by itself, whatever realm the server names
/// then: cameras lock the account after a few wrong attempts. A delegate may answer as often as it likes.
///
/// ```
/// response ─ receivedResponse ─ notAChallenge → deliver
///                             └ challenge ─ automaticCredential ─ one: answer → send again
///                                                                └ nil: ask, with previousFailureCount
/// ```
package struct AuthenticationPolicy: Hashable, Sendable {
  /// Where a challenge comes from: what its answer is for.
  package struct Space: Hashable, Sendable {
    package var origin: Origin
    /// Nil when the challenge names none.
    package var realm: String?

    package init(origin: Origin, realm: String?) {
      self.origin = origin
      self.realm = realm
    }
  }

  /// What a response is.
  package enum Decision: Hashable, Sendable {
    case notAChallenge(Reason)
    /// Its Basic challenge can be answered. So many answers were wrong before.
    case challenge(Space, previousFailureCount: Int)
  }

  /// Why a response is delivered as it is.
  package enum Reason: Hashable, Sendable {
    /// Its status is not 401. (407 asks for a proxy's credentials, and there is no proxy.)
    case status
    /// It has no challenge.
    case noChallenge
    /// It has challenges, of none of the known schemes.
    case unknownSchemes
  }

  /// Where an automatic credential comes from.
  package enum Source: Hashable, Sendable { case url, storage }

  private struct Refused: Hashable {
    let origin: Origin
    let credential: BasicCredential
  }

  private struct Answer: Hashable {
    let credential: BasicCredential
    /// The value of `Authorization`.
    let field: String
  }

  /// The challenge's place that the failures are counted for.
  private var space: Space?
  private var failures = 0
  /// Credentials that a server said no to in this load.
  private var refused: Set<Refused> = []
  /// The last answer. Whether a request carried it, its `Authorization` field says.
  private var lastAnswer: Answer?
  /// Whether a request that carried the answer got through since the last challenge.
  private var wasAccepted = false

  package init() {}

  /// Takes in the head of a final response.
  /// - Parameters:
  ///   - requestFields: the fields that the request was sent with.
  ///   - url: the URL that it was sent to.
  package mutating func receivedResponse(
    status: Int, fields: FieldList, to requestFields: FieldList, url: HTTPURL
  ) -> Decision {
    let origin = url.origin
    let carried = carriedAnswer(requestFields)
    guard status == 401 else {
      if carried != nil { wasAccepted = true }
      return .notAChallenge(.status)
    }
    if let carried { refused.insert(Refused(origin: origin, credential: carried)) }
    let challenges = AuthenticationChallengeParser.parse(fields)
    guard let basic = challenges.first(where: { $0.scheme == "basic" }) else {
      return .notAChallenge(challenges.isEmpty ? .noChallenge : .unknownSchemes)
    }
    let asking = Space(origin: origin, realm: basic["realm"])
    count(asking, carried: carried != nil)
    return .challenge(asking, previousFailureCount: failures)
  }

  /// The credential that answers the challenge just received without asking: that of the URL, else the stored
  /// one, unless it was refused before or cannot be sent by the Basic scheme.
  package func automaticCredential(
    url: HTTPURL, stored: BasicCredential?
  ) -> (credential: BasicCredential, source: Source)? {
    if let user = url.user {
      let credential = BasicCredential(user: user, password: url.password ?? "")
      if canSend(credential, to: url.origin) { return (credential, .url) }
    }
    if let stored, canSend(stored, to: url.origin) { return (stored, .storage) }
    return nil
  }

  /// Answers the challenge: the value of the `Authorization` field to send the request again with.
  package mutating func answer(
    with credential: BasicCredential
  ) throws(BasicCredential.Refusal) -> String {
    let field = try credential.authorization()
    lastAnswer = Answer(credential: credential, field: field)
    return field
  }

  private func carriedAnswer(_ requestFields: FieldList) -> BasicCredential? {
    guard let lastAnswer, requestFields["Authorization"] == lastAnswer.field else { return nil }
    return lastAnswer.credential
  }

  private func canSend(_ credential: BasicCredential, to origin: Origin) -> Bool {
    (try? credential.authorization()) != nil
      && !refused.contains(Refused(origin: origin, credential: credential))
  }

  /// Counts a wrong answer. A new place starts at none; a new realm only when the answer for the old one was
  /// right, so that a server cannot keep the count at none by naming another realm each time.
  private mutating func count(_ asking: Space, carried: Bool) {
    let isNewPlace = space?.origin != asking.origin || (wasAccepted && space?.realm != asking.realm)
    if isNewPlace || wasAccepted { failures = 0 }
    if carried && !isNewPlace { failures += 1 }
    space = asking
    wasAccepted = false
  }
}
