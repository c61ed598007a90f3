/// The cookies that are kept, and which of them a request is sent with (RFC 6265bis sections 5.7 and 5.8). In memory,
/// bounded; time, in seconds since 1970, is told with each call.
package struct CookieJar: Sendable {
  /// How many cookies are kept. Past that the expired ones are let go, then what was not sent for longest.
  package struct Limits: Hashable, Sendable {
    /// Of one domain, whose secure cookies are the last to go.
    package var perDomain = 180
    /// Of all together, at least 0.
    package var total = 3000

    package init() {}
  }

  private struct Entry: Sendable {
    var cookie: Cookie
    /// Its place in the order of creation, which it takes over from the one it replaces.
    var created: UInt64
    /// When it was last sent or stored, in turns.
    var used: UInt64
    /// When it was stored, in seconds since 1970.
    var storedAt: Double
  }

  /// The cookies of each domain, in the order of their creation.
  private var domains: [String: [Entry]] = [:]
  private var turn: UInt64 = 0
  private let limits: Limits
  /// How many are kept, those that are over but have not been looked at since included.
  package private(set) var count = 0

  /// An empty jar.
  package init(limits: Limits = Limits()) { self.limits = limits }

  // MARK: Storing

  /// Keeps a cookie in place of the one with its name, host and path; one that is over only removes that.
  package mutating func store(_ cookie: Cookie, at now: Double) {
    turn += 1
    var entry = Entry(cookie: cookie, created: turn, used: turn, storedAt: now)
    change(cookie.domain) { entries in
      if let index = entries.firstIndex(where: { $0.cookie.isReplaced(by: cookie) }) {
        entry.created = entries[index].created
        if cookie.hasExpired(at: now) { entries.remove(at: index) } else { entries[index] = entry }
      } else if !cookie.hasExpired(at: now) {
        entries.append(entry)
      }
    }
    shrink(cookie.domain, at: now)
  }

  /// Keeps a cookie that a response from here has set.
  ///
  /// - Throws: `insecure` when the response came without TLS and the cookie would stand in for a secure one: of its name,
  ///   of a domain that holds its own or lies in it, and of its path or one above.
  package mutating func store(
    _ cookie: Cookie, from scope: CookieScope, at now: Double
  ) throws(CookieRefusal) {
    if !scope.isSecure, !cookie.isSecure, hidesSecure(cookie, at: now) { throw .insecure }
    store(cookie, at: now)
  }

  private func hidesSecure(_ cookie: Cookie, at now: Double) -> Bool {
    domains.contains { domain, entries in
      guard
        CookieScope.isName(domain, in: cookie.domain) || CookieScope.isName(cookie.domain, in: domain)
      else { return false }
      return entries.contains { entry in
        entry.cookie.isSecure && entry.cookie.name == cookie.name && !entry.cookie.hasExpired(at: now)
          && CookieScope.isPath(cookie.path, in: entry.cookie.path)
      }
    }
  }

  /// Lets go of the cookie with this one's name, host and path.
  package mutating func remove(_ cookie: Cookie) {
    change(cookie.domain) { $0.removeAll { $0.cookie.isReplaced(by: cookie) } }
  }

  /// Lets go of what was stored at this time or later.
  package mutating func removeAll(since time: Double) {
    for domain in domains.keys.sorted() { change(domain) { $0.removeAll { $0.storedAt >= time } } }
  }

  // MARK: Sending

  /// The cookies that a request here is sent with, in their order: longer paths first, then those created earlier.
  package mutating func cookies(for scope: CookieScope, at now: Double) -> [Cookie] {
    guard count > 0 else { return [] }
    turn += 1
    var found: [(cookie: Cookie, created: UInt64)] = []
    var domain = Substring(scope.host)
    while true {
      take(from: String(domain), for: scope, at: now, into: &found)
      guard !scope.isAddress, let dot = domain.utf8.firstIndex(of: UInt8(ascii: ".")) else { break }
      domain = domain[domain.utf8.index(after: dot)...]
    }
    found.sort { left, right in
      let (first, second) = (left.cookie.path.utf8.count, right.cookie.path.utf8.count)
      return first == second ? left.created < right.created : first > second
    }
    return found.map(\.cookie)
  }

  private mutating func take(
    from domain: String, for scope: CookieScope, at now: Double,
    into found: inout [(cookie: Cookie, created: UInt64)]
  ) {
    guard let place = domains.index(forKey: domain) else { return }
    for index in domains.values[place].indices {
      let entry = domains.values[place][index]
      guard scope.takes(entry.cookie), !entry.cookie.hasExpired(at: now) else { continue }
      domains.values[place][index].used = turn
      found.append((entry.cookie, entry.created))
    }
  }

  /// Every cookie that is not over, in the order of creation.
  package func all(at now: Double) -> [Cookie] {
    domains.values.joined().filter { !$0.cookie.hasExpired(at: now) }.sorted { $0.created < $1.created }
      .map(\.cookie)
  }

  // MARK: Limits

  private mutating func change(_ domain: String, _ body: (inout [Entry]) -> Void) {
    var entries = domains.removeValue(forKey: domain) ?? []
    count -= entries.count
    body(&entries)
    count += entries.count
    if !entries.isEmpty { domains[domain] = entries }
  }

  private mutating func shrink(_ domain: String, at now: Double) {
    let most = max(0, limits.perDomain)
    if (domains[domain]?.count ?? 0) > most {
      change(domain) { entries in
        entries.removeAll { $0.cookie.hasExpired(at: now) }
        while entries.count > most, let index = CookieJar.leastUsed(entries) {
          entries.remove(at: index)
        }
      }
    }
    if count > limits.total { thinOut(at: now) }
  }

  /// Lets go of what is over and, when that is not enough, of a tenth more than has to be: so the next cookies do not look
  /// at all the others again.
  private mutating func thinOut(at now: Double) {
    let keys = Array(domains.keys)
    for domain in keys { change(domain) { $0.removeAll { $0.cookie.hasExpired(at: now) } } }
    guard count > limits.total else { return }
    let excess = count - max(0, limits.total - limits.total / 10)
    let last = domains.values.joined().map(\.used).sorted()[excess - 1]
    for domain in keys { change(domain) { $0.removeAll { $0.used <= last } } }
  }

  /// The one to let go of first: not secure, if there is such a one, and not used for longest.
  private static func leastUsed(_ entries: [Entry]) -> Int? {
    entries.indices.min {
      let (left, right) = (entries[$0], entries[$1])
      if left.cookie.isSecure != right.cookie.isSecure { return right.cookie.isSecure }
      return left.used < right.used
    }
  }
}
