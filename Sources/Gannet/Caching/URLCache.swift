import FoundationEssentials
import GannetHTTP
import GannetPolicy
import GannetSockets
import Synchronization

/// Responses kept in memory for later loads, as HTTP says (RFC 9111; a private cache). May be used from any thread.
///
/// Only whole responses to GET are kept. A response is found by its URL, without user name, password and fragment, and
/// by those fields of its request that `Vary` names; `Authorization` counts as named always, so that one caller's
/// credentials never answer another. What came with another trust than the system's, or over a Unix socket, is found by
/// loads of the same kind alone. When there is no room, what was not used for longest is let go.
public final class URLCache: Sendable {
  /// Whether, and where, a response may be stored.
  public enum StoragePolicy: UInt, Hashable, Sendable {
    /// It may be stored.
    case allowed = 0
    /// It may be stored in memory. This cache has nothing else.
    case allowedInMemoryOnly = 1
    /// It is not stored.
    case notAllowed = 2
  }

  /// The cache of loads whose configuration names no other: 4 MiB.
  public static let shared = URLCache(memoryCapacity: 4 << 20)

  /// One response, with what decides whether it may be used.
  struct Entry: Sendable {
    var cached: CachedURLResponse
    var response: HTTPURLResponse
    var head: StoredHead

    /// What it takes of the capacity: its bytes, and a little for what holds them.
    var cost: Int {
      cached.data.count + head.fields.byteCount + head.selecting.byteCount + response.urlString.utf8.count
        + 256
    }
  }

  /// What a response is found by, besides the fields that choose: where it is, and how one gets there.
  struct Key {
    let text: String

    init(_ url: HTTPURL, _ configuration: borrowing URLConnection.Configuration) {
      self.init(url, trust: configuration.trust, unixSocketPath: configuration.unixSocketPath)
    }

    /// Of loads with the system's trust, over TCP.
    init(_ url: HTTPURL) { self.init(url, trust: .system, unixSocketPath: nil) }

    private init(_ url: HTTPURL, trust: URLConnection.Trust, unixSocketPath: String?) {
      let place = url.canonical.withoutUserInfo.withoutFragment.text
      if trust == .system, unixSocketPath == nil {
        text = place
      } else {
        // No URL has a line feed, so nothing else is called so.
        text = "\(place)\n\(trust)\n\(unixSocketPath ?? "")"
      }
    }
  }

  /// Responses that are kept for one URL at most, when `Vary` tells them apart.
  private static let variants = 16
  /// The part of the capacity that one body may take: a twentieth, as in Cocoa.
  private static let largestPart = 20

  private let store: Guarded<RecencyStore<[Entry]>>
  /// How many URLs have something stored: an empty cache is not locked.
  private let count = Atomic<Int>(0)
  private let clock: @Sendable () -> Int64

  /// An empty cache.
  ///
  /// - Parameter memoryCapacity: how many bytes it may keep; less than 1 keeps nothing. A body of more than a twentieth
  ///   of it is not kept.
  public convenience init(memoryCapacity: Int) {
    self.init(memoryCapacity: memoryCapacity) { Int64(Date().timeIntervalSince1970) }
  }

  /// A cache whose time, in seconds since 1970, `clock` tells.
  package init(memoryCapacity: Int, clock: @escaping @Sendable () -> Int64) {
    store = Guarded(RecencyStore(capacity: memoryCapacity))
    self.clock = clock
  }

  /// How many bytes are kept at most. Setting less lets go of what was not used for longest.
  public var memoryCapacity: Int {
    get { store.withLock { $0.capacity } }
    set { change { $0.capacity = newValue } }
  }

  /// How many bytes are kept now: bodies, heads, and a little for what holds them.
  public var currentMemoryUsage: Int { store.withLock { $0.cost } }

  /// The response kept for a GET or HEAD request, fresh or not; nil for none.
  public func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
    guard request.method == "GET" || request.method == "HEAD", let url = try? request.parsedAddress.get()
    else {
      return nil
    }
    return entry(for: Key(url), sent: request.fields)?.cached
  }

  /// Keeps a response as the answer to a GET request, as if it had just come. Nothing is kept of another method, of a
  /// response that is not one of HTTP or has `Vary: *`, of a `storagePolicy` that forbids it, or of one that is too large.
  public func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
    guard request.method == "GET", let url = try? request.parsedAddress.get() else { return }
    let now = now
    keep(cachedResponse, for: Key(url), sent: request.fields, requestTime: now, responseTime: now)
  }

  /// Lets go of all that is kept for a request's URL.
  public func removeCachedResponse(for request: URLRequest) {
    guard let url = try? request.parsedAddress.get() else { return }
    remove(Key(url))
  }

  /// Lets go of everything.
  public func removeAllCachedResponses() { change { $0.removeAll() } }

  // MARK: For loads

  /// Seconds since 1970.
  var now: Int64 { clock() }
  var isEmpty: Bool { count.load(ordering: .relaxed) == 0 }
  /// The longest body that is kept.
  var longestBody: Int { max(0, memoryCapacity) / URLCache.largestPart }

  /// What is kept for a request sent with these fields.
  func entry(for key: Key, sent: FieldList) -> Entry? {
    guard !isEmpty else { return nil }
    return store.withLock { store in store.use(key.text)?.last { $0.head.isChosen(by: sent) } }
  }

  /// Keeps what a load was answered with, where it may be kept.
  func keep(
    _ cached: CachedURLResponse, for key: Key, sent: FieldList, requestTime: Int64, responseTime: Int64
  ) {
    guard let response = cached.response as? HTTPURLResponse, !CacheRules.answersNobody(response.fields)
    else {
      return
    }
    let head = StoredHead(
      status: response.statusCode, fields: response.fields, sent: sent, requestTime: requestTime,
      responseTime: responseTime)
    let kept = HTTPURLResponse(stored: response, urlString: response.urlString, fields: head.fields)
    keep(Entry(cached: cached, response: kept, head: head), for: key, sent: sent)
  }

  func keep(_ entry: Entry, for key: Key, sent: FieldList) {
    guard entry.cached.storagePolicy != .notAllowed, entry.cached.data.count <= longestBody else { return }
    change { store in
      var variants = store.use(key.text) ?? []
      variants.removeAll { $0.head.isChosen(by: sent) }
      if variants.count >= URLCache.variants { variants.removeFirst() }
      variants.append(entry)
      URLCache.set(variants, for: key, in: &store)
    }
  }

  /// Puts what a 304 made of a response into its place, or lets go of it where that may not be stored. Does nothing when
  /// the response is not kept any more: what is there instead, or that nothing is, is newer than what was asked about.
  func replace(_ old: Entry, by new: Entry, for key: Key, sent: FieldList) {
    change { store in
      guard var variants = store.use(key.text),
        let index = variants.firstIndex(where: { $0.response === old.response })
      else { return }
      let isKept = CacheRules.stores(
        method: "GET", sent: sent, status: new.response.statusCode, fields: new.head.fields)
      if isKept { variants[index] = new } else { variants.remove(at: index) }
      URLCache.set(variants, for: key, in: &store)
    }
  }

  private static func set(_ variants: [Entry], for key: Key, in store: inout RecencyStore<[Entry]>) {
    guard !variants.isEmpty else { return store.remove(key.text) }
    store.set(variants, cost: variants.reduce(key.text.utf8.count) { $0 + $1.cost }, for: key.text)
  }

  func remove(_ key: Key) {
    guard !isEmpty else { return }
    change { $0.remove(key.text) }
  }

  private func change(_ body: (inout RecencyStore<[Entry]>) -> Void) {
    store.withLock { store in
      body(&store)
      count.store(store.count, ordering: .relaxed)
    }
  }
}
