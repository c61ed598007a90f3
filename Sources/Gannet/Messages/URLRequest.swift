public import FoundationEssentials
public import GannetHTTP
import Synchronization

/// What to load: a URL, a method, header fields, a body and an inactivity time-out.
///
/// A value: a connection keeps its own copy, so a change made after the connection was created has no effect on it.
public struct URLRequest: Sendable {
  /// Behind one reference, so that passing a request on costs no more than that. Copied before it is changed while
  /// shared.
  // UNCHECKED: changed only while uniquely referenced, so never while another thread can see it.
  private final class Storage: @unchecked Sendable {
    var values: Values { didSet { composed.withLock { $0 = nil } } }
    /// What is sent for these values, once it has been asked for.
    let composed = Mutex<RequestComposer?>(nil)
    init(_ values: Values) { self.values = values }
  }

  private struct Values: Hashable, Sendable {
    var text: String
    var foundationURL: URL?
    /// The text parsed, once for all the loads that are made of this request.
    var address: Result<HTTPURL, URLSyntaxError>
    var method = "GET"
    var fields = FieldList()
    var omittedFields: Set<String> = []
    var cachePolicy = CachePolicy.useProtocolCachePolicy
    var timeoutInterval: TimeInterval
    var body: Body?
    var version = HTTPVersion.http11
    var handlesCookies = true
    var mainDocumentURL: URL?
    /// The stored cookies that a delegate was shown this request with.
    var shownCookie: [UInt8]?
    /// What protocol classes have noted; nil when nothing.
    var properties: [String: RequestProperty]?
  }

  private var storage: Storage

  private var values: Values {
    get { storage.values }
    set {
      if isKnownUniquelyReferenced(&storage) {
        storage.values = newValue
      } else {
        storage = Storage(newValue)
      }
    }
  }

  /// The URL as the text it was made from; `FoundationEssentials.URL` changes some bytes, so this is what counts.
  public var urlString: String { storage.values.text }
  var parsedAddress: Result<HTTPURL, URLSyntaxError> { storage.values.address }
  var method: String { storage.values.method }

  /// Names, in lower case, of fields that are not added by themselves: `user-agent`, `accept`, `accept-encoding`.
  package var omittedFields: Set<String> {
    get { storage.values.omittedFields }
    set { values.omittedFields = newValue }
  }

  /// Seconds without a byte moving in either direction after which the load fails with `timedOut`; 0, a negative
  /// or a non-finite value means no limit. Default 60. While a challenge waits for its answer the clock stands.
  public var timeoutInterval: TimeInterval {
    get { storage.values.timeoutInterval }
    set { values.timeoutInterval = newValue }
  }

  /// What is wanted of the configuration's cache. Default: what HTTP says.
  public var cachePolicy: CachePolicy {
    get { storage.values.cachePolicy }
    set { values.cachePolicy = newValue }
  }

  /// Whether loads send the cookies of their configuration's storage with it, and keep there what responses set. Default
  /// true. A `Cookie` field of the request's own is sent as it is, and then no stored cookie is; what responses set is
  /// kept all the same.
  public var httpShouldHandleCookies: Bool {
    get { storage.values.handlesCookies }
    set { values.handlesCookies = newValue }
  }

  /// What the request is loaded for, as far as `HTTPCookie.AcceptPolicy.onlyFromMainDocumentDomain` asks. Default
  /// nil: it is loaded for itself. It goes along with redirects.
  public var mainDocumentURL: URL? {
    get { storage.values.mainDocumentURL }
    set { values.mainDocumentURL = newValue }
  }

  var shownCookie: [UInt8]? {
    get { storage.values.shownCookie }
    set { values.shownCookie = newValue }
  }

  var properties: [String: RequestProperty]? {
    get { storage.values.properties }
    set { values.properties = newValue }
  }

  var storedBody: Body? {
    get { storage.values.body }
    set { values.body = newValue }
  }

  /// The version of HTTP the request is sent as. Default HTTP/1.1; some old devices want 1.0, which has no chunks, no
  /// `Expect` and no connection that serves another request: a body without a known length fails the load then, before
  /// anything is sent.
  public var httpVersion: HTTPVersion {
    get { storage.values.version }
    set { values.version = newValue }
  }

  /// A version of HTTP to send a request as.
  public enum HTTPVersion: String, Hashable, Sendable {
    /// RFC 1945, with a `Host` field.
    case http10 = "HTTP/1.0"
    /// RFC 9112.
    case http11 = "HTTP/1.1"
  }

  /// Makes a GET request.
  public init(
    url: URL, cachePolicy: CachePolicy = .useProtocolCachePolicy, timeoutInterval: TimeInterval = 60
  ) {
    self.init(string: url.absoluteString, timeoutInterval: timeoutInterval)
    storage.values.cachePolicy = cachePolicy
    storage.values.foundationURL = url
  }

  /// Makes a GET request from the URL's text, whose bytes are kept as they are.
  public init(string: String, timeoutInterval: TimeInterval = 60) {
    storage = Storage(
      Values(text: string, address: URLRequest.parse(string), timeoutInterval: timeoutInterval))
  }

  private static func parse(_ text: String) -> Result<HTTPURL, URLSyntaxError> {
    Result { () throws(URLSyntaxError) in
      try HTTPURL(text, encodingHostsWith: .shared)
    }
  }

  /// The URL; nil when the text it was made from is none that `URL(string:)` takes.
  public var url: URL? {
    get { storage.values.foundationURL ?? URL(string: storage.values.text) }
    set {
      let text = newValue?.absoluteString ?? ""
      values.text = text
      values.address = URLRequest.parse(text)
      values.foundationURL = newValue
    }
  }

  /// The method, in the case given; nil means GET.
  public var httpMethod: String? {
    get { method }
    set { values.method = newValue ?? "GET" }
  }

  /// The header fields as a dictionary: repeated fields are joined by a comma. Setting it replaces all fields, in
  /// the order of their names.
  public var allHTTPHeaderFields: [String: String]? {
    get { fields.joinedByName() }
    set {
      values.fields = FieldList(
        (newValue ?? [:]).sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
    }
  }

  /// The header fields in their order, with duplicates and spelling kept. They are sent in this order after `Host`.
  public var fields: FieldList {
    get { storage.values.fields }
    set { values.fields = newValue }
  }

  /// The value of a header field; names compare without case, repeated fields are joined by a comma.
  public func value(forHTTPHeaderField name: String) -> String? { fields.combinedValue(for: name) }

  /// Sets a header field, or removes it with nil; names compare without case.
  public mutating func setValue(_ value: String?, forHTTPHeaderField name: String) {
    if let value { values.fields.set(value, for: name) } else { values.fields.removeAll(named: name) }
  }

  /// Adds a header field, keeping those of the same name.
  public mutating func addValue(_ value: String, forHTTPHeaderField name: String) {
    values.fields.append(name: name, value: value)
  }

  /// What is sent for this request as it is, whose body is none or data: a program that polls makes many loads of one
  /// request, and the head is written for the first of them.
  func composed(for url: HTTPURL) throws(ConnectionError) -> RequestComposer {
    if let made = storage.composed.withLock({ $0 }) { return made }
    let length = httpBody.map { Int64($0.count) }
    let made = try RequestComposer(
      self, url: url, authorization: nil, body: length.map { .length($0) } ?? .none, expects: false)
    storage.composed.withLock { $0 = made }
    return made
  }

  /// The same request for another URL, method and fields: what a canonical step or a redirect makes of it.
  func replacing(url: HTTPURL, method: String, fields: FieldList, keepsBody: Bool) -> URLRequest {
    var changed = storage.values
    if url.text != changed.text {
      changed.text = url.text
      changed.address = .success(url)
      changed.foundationURL = nil
    }
    changed.method = method
    changed.fields = fields
    if !keepsBody { changed.body = nil }
    var copy = self
    copy.storage = Storage(changed)
    return copy
  }
}

extension URLRequest: Hashable {
  /// Whether both load the same in the same way.
  public static func == (left: URLRequest, right: URLRequest) -> Bool {
    left.storage === right.storage || left.storage.values == right.storage.values
  }

  /// Feeds every member.
  public func hash(into hasher: inout Hasher) { hasher.combine(storage.values) }
}

extension URLRequest: CustomStringConvertible {
  /// The method and the URL, without user name and password.
  public var description: String { "\(method) \(safeURLString)" }
}

extension FieldList {
  /// One entry a name; repeated fields joined by a comma and a space.
  ///
  /// - Parameter spelling: how a name, in lower case, is spelled; nil: as its first field is.
  func joinedByName(spelling: (String) -> String? = { _ in nil }) -> [String: String] {
    var joined: [String: String] = [:]
    var names: [String: String] = [:]
    for field in self {
      let key = field.name.lowercased()
      if let name = names[key] {
        // In place: many fields of one name cost no more than others.
        joined[name, default: ""] += ", \(field.value)"
      } else {
        let name = spelling(key) ?? field.name
        names[key] = name
        joined[name] = field.value
      }
    }
    return joined
  }
}
