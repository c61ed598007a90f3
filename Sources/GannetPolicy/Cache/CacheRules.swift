package import GannetHTTP

/// When a response is stored, and when a stored one is used: HTTP caching for a private cache (RFC 9111). Each rule is
/// facts in, a decision out; the time is one of the facts.
package enum CacheRules {
  /// What a caller wants of the cache.
  package enum Policy: Hashable, Sendable {
    /// What HTTP says.
    case useProtocol
    /// Nothing stored is used; the answer may be stored.
    case reload
    /// What is stored is used, however old.
    case returnElseLoad
    /// What is stored is used, however old, and nothing is loaded.
    case returnDontLoad
    /// The server is asked whether what is stored is valid.
    case revalidate
  }

  /// What becomes of a request.
  package enum Decision: Hashable, Sendable {
    /// The stored response answers it.
    case use
    /// It is sent, with these fields more: a 304 says that the stored response answers it.
    case validate(FieldList)
    /// It is sent.
    case load
    /// Nothing may be sent, and nothing is stored that answers it.
    case unavailable
  }

  /// Seconds that a response is taken to be fresh at most when it does not say so itself: a day.
  package static let longestHeuristic: Int64 = 86_400

  // MARK: Looking up

  /// Whether a stored response may answer the request: a GET or HEAD for the whole, without conditions of the caller's.
  package static func looksUp(method: String, fields: FieldList, policy: Policy) -> Bool {
    guard policy != .reload, method == "GET" || method == "HEAD" else { return false }
    guard !fields.isEmpty else { return true }
    return !callersOwn.contains { fields.contains($0) }
  }

  /// Fields by which a caller sees to parts and conditions itself.
  private static let callersOwn = [
    "Range", "If-Range", "If-Match", "If-None-Match", "If-Modified-Since", "If-Unmodified-Since",
  ]

  /// What becomes of a request with these fields, given what is stored for it (RFC 9111 section 4).
  package static func decide(
    _ stored: StoredHead?, fields: FieldList, policy: Policy, at now: Int64
  ) -> Decision {
    switch policy {
    case .reload: return .load
    case .returnElseLoad: return stored == nil ? .load : .use
    case .returnDontLoad: return stored == nil ? .unavailable : .use
    case .revalidate:
      guard var conditions = stored?.conditions else { return .load }
      // Caches on the way are to ask too, as with a browser's reload.
      if !fields.contains("Cache-Control") { conditions.append(name: "Cache-Control", value: "max-age=0") }
      return .validate(conditions)
    case .useProtocol: break
    }
    let asked = CacheDirectives(fields, ofRequest: true)
    let otherwise: Decision = asked.onlyIfCached ? .unavailable : .load
    guard let stored, !asked.noStore else { return otherwise }
    if isUsable(stored, asked, at: now) { return .use }
    guard !asked.onlyIfCached, let conditions = stored.conditions else { return otherwise }
    return .validate(conditions)
  }

  private static func isUsable(_ stored: StoredHead, _ asked: CacheDirectives, at now: Int64) -> Bool {
    let said = CacheDirectives(stored.fields)
    guard !said.noCache, !asked.noCache else { return false }
    let age = stored.age(at: now)
    // A caller that wants nothing older than 0 seconds wants what there is now.
    if let maxAge = asked.maxAge, age > maxAge || maxAge == 0 { return false }
    let rest = stored.freshnessLifetime - age
    if rest > 0 { return rest >= asked.minFresh ?? 0 }
    guard let maxStale = asked.maxStale, !said.mustRevalidate, asked.minFresh == nil else { return false }
    return -rest <= maxStale
  }

  // MARK: Storing

  /// Whether a response is stored (RFC 9111 section 3): of a GET, complete in itself, not forbidden, and of use later,
  /// being fresh for a while or having a validator. Redirects are followed, not stored.
  package static func stores(method: String, sent: FieldList, status: Int, fields: FieldList) -> Bool {
    guard method == "GET", canStore(status) else { return false }
    let isDated = fields.contains("Cache-Control") || fields.contains("Expires")
    let hasValidator = fields.contains("ETag") || fields.contains("Last-Modified")
    // Most of what is not to be stored is told apart here, without looking further.
    guard isDated || hasValidator else { return false }
    let said = CacheDirectives(fields)
    guard !said.noStore, !sent.contains("Range") else { return false }
    if CacheDirectives(sent, ofRequest: true).noStore { return false }
    if answersNobody(fields) { return false }
    let isAllowed =
      said.maxAge != nil || fields.contains("Expires") || said.isPublic || said.isPrivate
      || isHeuristicallyCacheable(status)
    guard isAllowed else { return false }
    if hasValidator { return true }
    return said.maxAge.map { $0 > 0 } ?? fields.contains("Expires")
  }

  /// Whether a 304 with these fields speaks of the response that was asked about with those: one with another strong
  /// validator must not change it (RFC 9111 section 4.3.4).
  package static func speaksOfStored(_ fields: FieldList, asked: FieldList) -> Bool {
    guard let told = fields["ETag"], let tag = asked["If-None-Match"] else { return true }
    return told.hasPrefix("W/") || tag.hasPrefix("W/") || told == tag
  }

  /// Whether no request chooses a response with these fields (RFC 9111 section 4.1).
  package static func answersNobody(_ fields: FieldList) -> Bool {
    fields.values(for: "Vary").contains { $0.contains("*") }
  }

  /// Whether a response with this final status can be kept for a later request: not a part (206), a word on something
  /// stored (304) or a way elsewhere.
  private static func canStore(_ status: Int) -> Bool {
    switch status {
    case 200..<600: ![206, 301, 302, 303, 304, 307, 308].contains(status)
    default: false
    }
  }

  /// Whether how long it is fresh may be guessed (RFC 9110 section 15.1).
  package static func isHeuristicallyCacheable(_ status: Int) -> Bool {
    [200, 203, 204, 300, 404, 405, 410, 414, 501].contains(status)
  }

  // MARK: Invalidating

  /// Whether the answer to a request makes what is stored for its URL invalid: the method changes things there, and was
  /// not refused (RFC 9111 section 4.4).
  package static func invalidates(method: String, status: Int) -> Bool {
    switch method {
    case "GET", "HEAD", "OPTIONS", "TRACE": false
    default: 200..<400 ~= status
    }
  }
}
