public import FoundationEssentials
public import GannetHTTP

/// What to load: a URL, a method, header fields, a body and an inactivity time-out.
///
/// A value: a connection keeps its own copy, so a change made after the connection was created has no effect on it.
public struct URLRequest: Hashable, Sendable {
  /// The URL as the text it was made from; `FoundationEssentials.URL` changes some bytes, so this is what counts.
  public var urlString: String { text }
  private var text: String
  private var foundationURL: URL?
  /// The text parsed, once for all the loads that are made of this request.
  private(set) var parsedAddress: Result<HTTPURL, URLSyntaxError>
  var method: String = "GET"
  var fields = FieldList()

  /// Names, in lower case, of fields that are not added by themselves: `user-agent`, `accept`, `accept-encoding`.
  package var omittedFields: Set<String> = []

  /// Seconds without a byte moving in either direction after which the load fails with `timedOut`; 0, a negative
  /// or a non-finite value means no limit. Default 60. While a challenge waits for its answer the clock stands.
  public var timeoutInterval: TimeInterval

  /// The body to send, or nil. A body is sent with whatever method is set; its `Content-Length` is Gannet's to set.
  public var httpBody: Data?

  /// Makes a GET request.
  public init(url: URL, timeoutInterval: TimeInterval = 60) {
    self.init(string: url.absoluteString, timeoutInterval: timeoutInterval)
    self.foundationURL = url
  }

  /// Makes a GET request from the URL's text, whose bytes are kept as they are.
  public init(string: String, timeoutInterval: TimeInterval = 60) {
    self.text = string
    self.parsedAddress = Result { () throws(URLSyntaxError) in try HTTPURL(string) }
    self.timeoutInterval = timeoutInterval
  }

  /// The URL; nil when the text it was made from is none that `URL(string:)` takes.
  public var url: URL? {
    get { foundationURL ?? URL(string: text) }
    set {
      let changed = URLRequest(string: newValue?.absoluteString ?? "")
      text = changed.text
      parsedAddress = changed.parsedAddress
      foundationURL = newValue
    }
  }

  /// The method, in the case given; nil means GET.
  public var httpMethod: String? {
    get { method }
    set { method = newValue ?? "GET" }
  }

  /// The header fields as a dictionary: repeated fields are joined by a comma. Setting it replaces all fields, in
  /// the order of their names.
  public var allHTTPHeaderFields: [String: String]? {
    get { fields.joinedByName }
    set {
      fields = FieldList()
      for (name, value) in (newValue ?? [:]).sorted(by: { $0.key < $1.key }) {
        fields.append(name: name, value: value)
      }
    }
  }

  /// The header fields in their order, with duplicates and spelling kept. They are sent in this order after `Host`.
  public var httpFields: FieldList {
    get { fields }
    set { fields = newValue }
  }

  /// The value of a header field; names compare without case, repeated fields are joined by a comma.
  public func value(forHTTPHeaderField name: String) -> String? { fields.combinedValue(for: name) }

  /// Sets a header field, or removes it with nil; names compare without case.
  public mutating func setValue(_ value: String?, forHTTPHeaderField name: String) {
    if let value { fields.set(value, for: name) } else { fields.removeAll(named: name) }
  }

  /// Adds a header field, keeping those of the same name.
  public mutating func addValue(_ value: String, forHTTPHeaderField name: String) {
    fields.append(name: name, value: value)
  }

  /// The same request for another URL, method and fields: what a canonical step or a redirect makes of it.
  func replacing(url: HTTPURL, method: String, fields: FieldList, keepsBody: Bool) -> URLRequest {
    var copy = self
    if url.text != text {
      copy.text = url.text
      copy.parsedAddress = .success(url)
      copy.foundationURL = nil
    }
    copy.method = method
    copy.fields = fields
    if !keepsBody { copy.httpBody = nil }
    return copy
  }
}

extension URLRequest: CustomStringConvertible {
  /// The method and the URL.
  public var description: String { "\(method) \(urlString)" }
}

extension FieldList {
  /// One entry a name, in the spelling of its first field; repeated fields joined by a comma and a space.
  var joinedByName: [String: String] {
    var joined: [String: String] = [:]
    var spelling: [String: String] = [:]
    for field in self {
      let key = field.name.lowercased()
      if let name = spelling[key], let value = joined[name] {
        joined[name] = "\(value), \(field.value)"
      } else {
        spelling[key] = field.name
        joined[field.name] = field.value
      }
    }
    return joined
  }
}
