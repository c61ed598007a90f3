import FoundationEssentials
import GannetHTTP
import GannetPolicy
import GannetSockets

/// A copy of the body being delivered, to be stored when it is whole.
struct BodyKeeper {
  let limit: Int
  /// Seconds since 1970.
  let requestTime: Int64
  let responseTime: Int64
  private(set) var data = Data()
  /// What the delegate wants stored.
  var answer: CachedURLResponse?

  init(limit: Int, requestTime: Int64, responseTime: Int64) {
    (self.limit, self.requestTime, self.responseTime) = (limit, requestTime, responseTime)
  }

  /// Takes a piece; false when the body has got too long.
  mutating func take(_ piece: Data) -> Bool {
    guard piece.count <= limit - data.count else { return false }
    // Copied, also the first: a piece may share the loop's buffer, which would live as long as the cache keeps it.
    data.append(piece)
    return true
  }
}

// How a load uses its cache. What is decided is the machine's.
extension LoadDriver {
  private var cache: URLCache? { connection.configuration.urlCache }

  private func key(_ url: HTTPURL) -> URLCache.Key { URLCache.Key(url, connection.configuration) }

  /// The fields that the request is sent with, as long as no challenge has been answered.
  private var unchallengedFields: FieldList {
    var fields = machine.request.fields
    if let sentCookie { fields.append(name: "Cookie".utf8.span, value: sentCookie.span) }
    return fields
  }

  /// The fields that choose among the responses stored for a URL: those that the request is sent with.
  private var sentFields: FieldList {
    var fields = unchallengedFields
    if let sentAuthorization { fields.set(sentAuthorization, for: "Authorization") }
    return fields
  }

  func lookUp() {
    requestChanged()
    guard let cache, !cache.isEmpty else { return feed { $0.foundStored(nil, at: 0, into: &$1) } }
    lookForCookies()
    found = cache.entry(for: key(machine.request.url), sent: unchallengedFields)
    let (head, now) = (found?.head, cache.now)
    feed { $0.foundStored(head, at: now, into: &$1) }
  }

  // MARK: Delivering what is stored

  func deliverStored() {
    guard let found, let cache else { return }
    requestChanged()
    var fields = found.head.fields
    if machine.conditions == nil {
      // How old it is, which nobody has asked the server about (RFC 9111 section 5.1).
      fields.set(String(found.head.age(at: cache.now)), for: "Age")
    }
    let stored = HTTPURLResponse(stored: found.response, urlString: safeURL, fields: fields)
    response = stored
    dataDelegate?.connection(connection, didReceive: stored)
    storedBody = machine.request.method == "HEAD" ? Data() : found.cached.data
    passStoredOn()
  }

  /// Delivers the stored body, then says that this is done, unless the load is paused: then when it goes on.
  func passStoredOn() {
    guard let data = storedBody, !isStopped else { return }
    if !data.isEmpty {
      storedBody = Data()
      dataDelegate?.connection(connection, didReceive: data)
      guard storedBody != nil, !isStopped else { return }
    }
    storedBody = nil
    feed { $0.receivedEnd(into: &$1) }
  }

  /// A 304 said that what is stored is valid.
  func freshen(_ fields: FieldList) {
    guard let found, let cache else { return }
    var entry = found
    let (requestTime, responseTime) = exchangeTimes(cache)
    entry.head.freshen(by: fields, requestTime: requestTime, responseTime: responseTime)
    entry.response = HTTPURLResponse(
      stored: entry.response, urlString: entry.response.urlString, fields: entry.head.fields)
    entry.cached = CachedURLResponse(
      response: entry.response, data: entry.cached.data, userInfo: entry.cached.userInfo,
      storagePolicy: entry.cached.storagePolicy)
    cache.replace(found, by: entry, for: key(machine.request.url), sent: sentFields)
    self.found = entry
  }

  /// The response's URL, and those that it names at the same origin, are not what they were (RFC 9111 section 4.4).
  func invalidate() {
    guard let cache, !cache.isEmpty else { return }
    let url = machine.request.url
    cache.remove(key(url))
    for name in ["Location", "Content-Location"] {
      guard let text = response?.fields[name], let other = try? url.resolving(text),
        other.hasSameOrigin(as: url)
      else { continue }
      cache.remove(key(other))
    }
  }

  // MARK: Storing

  /// The response being delivered is to be stored: its body is kept as it passes, if it is not too long.
  func beginKeeping(_ response: HTTPURLResponse) {
    guard let cache, !body.isEndless else { return }
    let limit = cache.longestBody
    guard limit > 0, response.expectedContentLength <= Int64(limit) else { return }
    let (requestTime, responseTime) = exchangeTimes(cache)
    keeper = BodyKeeper(limit: limit, requestTime: requestTime, responseTime: responseTime)
  }

  /// A piece of the body passes.
  func keep(_ piece: Data) {
    if keeper?.take(piece) == false { keeper = nil }
  }

  func askStoring() {
    guard let keeper, let response else { return feed { $0.answeredStoring(false, into: &$1) } }
    var cached: CachedURLResponse? = CachedURLResponse(response: response, data: keeper.data)
    if let dataDelegate, let proposal = cached {
      cached = dataDelegate.connection(connection, willCacheResponse: proposal)
    }
    guard !isCancelled else { return }
    self.keeper?.answer = cached
    feed { $0.answeredStoring(cached != nil, into: &$1) }
  }

  func store() {
    guard let keeper, let answer = keeper.answer else { return }
    cache?.keep(
      answer, for: key(machine.request.url), sent: sentFields, requestTime: keeper.requestTime,
      responseTime: keeper.responseTime)
  }

  /// When the request was sent, and now, that its response has come: seconds since 1970.
  private func exchangeTimes(_ cache: URLCache) -> (Int64, Int64) {
    let now = cache.now
    return (now - (client.loop.time.nanoseconds - sentAt.nanoseconds) / 1_000_000_000, now)
  }
}
