public import FoundationEssentials
public import GannetHTTP
import GannetSockets

// UNCHECKED: a class that can be subclassed cannot be checked; every stored property is an immutable Sendable.
/// The metadata of what a load received: its URL, type, length and name.
public class URLResponse: @unchecked Sendable {
  /// The URL that answered, as text: after redirects the last one, with the fragment.
  public let urlString: String
  /// What is said of something that has no head: nil for HTTP, so that its responses are no larger for it.
  private let metadata: Metadata?

  private final class Metadata: Sendable {
    let mimeType: String?
    let textEncodingName: String?
    let expectedContentLength: Int64

    init(_ mimeType: String?, _ textEncodingName: String?, _ expectedContentLength: Int64) {
      self.mimeType = mimeType
      self.textEncodingName = textEncodingName
      self.expectedContentLength = expectedContentLength
    }
  }

  /// The media type in lower case without parameters, or nil when none was given.
  public var mimeType: String? { metadata?.mimeType }
  /// The name of the text encoding, as given, or nil.
  public var textEncodingName: String? { metadata?.textEncodingName }
  /// Bytes of the body, or -1 when that is not known: no length was given, or the body is decoded on the way.
  public var expectedContentLength: Int64 { metadata?.expectedContentLength ?? -1 }
  /// A safe name for a file of it: never a path, and it begins with no dot.
  public var suggestedFilename: String? {
    let address = try? HTTPURL(urlString)
    return SuggestedFilename.choose(
      disposition: nil, path: address?.scheme == "data" ? "" : address?.path ?? "", host: address?.host ?? "",
      mediaType: mimeType)
  }

  /// Whether it came from a cache: as it was stored, or after the server found it valid.
  public let isFromCache: Bool

  /// Makes the response of something that is not HTTP: what a `URLProtocol` gives (Apple's initialiser).
  ///
  /// - Parameters:
  ///   - urlString: the URL that answered, as text.
  ///   - mimeType: type and subtype, such as `text/html`.
  ///   - expectedContentLength: bytes of the body; less than 0 when that is not known.
  ///   - textEncodingName: such as `utf-8`.
  public init(
    urlString: String, mimeType: String?, expectedContentLength: Int64, textEncodingName: String?
  ) {
    self.urlString = urlString
    isFromCache = false
    metadata = Metadata(mimeType?.lowercased(), textEncodingName, max(-1, expectedContentLength))
  }

  /// As ``init(urlString:mimeType:expectedContentLength:textEncodingName:)``.
  public convenience init(
    url: URL, mimeType: String?, expectedContentLength: Int64, textEncodingName: String?
  ) {
    self.init(
      urlString: url.absoluteString, mimeType: mimeType, expectedContentLength: expectedContentLength,
      textEncodingName: textEncodingName)
  }

  /// Makes a response that has a head.
  init(urlString: String, isFromCache: Bool = false) {
    self.urlString = urlString
    self.isFromCache = isFromCache
    metadata = nil
  }

  /// The URL that answered.
  public var url: URL? { URL(string: urlString) }
}

// UNCHECKED: restated because its superclass is; every stored property is an immutable Sendable.
/// The head of an HTTP response, or of one part of a multipart response.
public final class HTTPURLResponse: URLResponse, @unchecked Sendable {
  /// The status code; a part has its outer response's.
  public let statusCode: Int
  /// The reason phrase, or an empty string.
  public let reasonPhrase: String
  /// `HTTP/1.1` or `HTTP/1.0`.
  public var httpVersion: String { minorVersion == 0 ? "HTTP/1.0" : "HTTP/1.1" }
  /// The fields in the order received, with duplicates and spelling; of a part: the part's own.
  public let fields: FieldList
  /// For a part of a multipart response its number, from 0; otherwise nil.
  public let partIndex: Int?
  /// For a part of a multipart response the response that holds it; otherwise nil.
  public let outerResponse: HTTPURLResponse?

  /// Whether the connection had carried another request before; false of what came from a cache.
  public let isReusedConnection: Bool
  /// The IP address that answered, or the path of a Unix socket; nil where there was no socket, and of what came from a
  /// cache.
  public var remoteAddress: String? { peer?.host }
  /// The port that answered; nil for a Unix socket, where there was no socket, and of what came from a cache.
  public var remotePort: Int? { peer?.port.map { Int($0) } }

  /// Whom it came from; a part's is its outer response's.
  private var peer: SocketAddress? { outerResponse?.ownPeer ?? ownPeer }
  private let ownPeer: SocketAddress?
  private let minorVersion: UInt8
  private let length: Int64

  /// The fields as a dictionary: repeated ones are joined by a comma and a space.
  ///
  /// A dictionary tells `content-type` from `Content-Type`, and servers write both. So the names that are registered for
  /// HTTP are spelled as they are registered, as in Cocoa; others as the server spelled the first field of that name.
  /// ``value(forHTTPHeaderField:)`` compares names without case, and ``fields`` keeps everything as it came.
  public var allHeaderFields: [String: String] { fields.joinedByName(spelling: StandardFieldName.spelling) }

  /// The value of a field; names compare without case, repeated fields are joined by a comma.
  public func value(forHTTPHeaderField name: String) -> String? { fields.combinedValue(for: name) }

  public override var mimeType: String? { mediaType?.essence }
  public override var textEncodingName: String? { mediaType?.charset }
  public override var expectedContentLength: Int64 { length }
  public override var suggestedFilename: String? {
    let address = try? HTTPURL(urlString)
    return SuggestedFilename.choose(
      disposition: fields["Content-Disposition"], path: address?.path ?? "", host: address?.host ?? "",
      mediaType: mimeType)
  }

  private var mediaType: MediaType? { MediaType(contentTypeOf: fields) }

  /// Makes a response: what a `URLProtocol` gives that answers for HTTP. Its length is that of `Content-Length`, where
  /// that is a number.
  ///
  /// - Parameters:
  ///   - urlString: the URL that answered, as text.
  ///   - statusCode: the status code.
  ///   - fields: the header fields.
  public convenience init(urlString: String, statusCode: Int, fields: FieldList = FieldList()) {
    let length = fields["Content-Length"].flatMap { Int64($0) }.map { max(-1, $0) } ?? -1
    self.init(
      urlString: urlString, head: ResponseHead(status: statusCode, fields: fields), expectedLength: length,
      on: nil)
  }

  /// Apple's initialiser. `httpVersion` is `HTTP/1.0` or taken to be `HTTP/1.1`; the fields come in the order of their
  /// names.
  public convenience init(
    url: URL, statusCode: Int, httpVersion: String? = nil, headerFields: [String: String]? = nil
  ) {
    let fields = FieldList(
      (headerFields ?? [:]).sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
    let length = fields["Content-Length"].flatMap { Int64($0) }.map { max(-1, $0) } ?? -1
    self.init(
      urlString: url.absoluteString,
      head: ResponseHead(
        minorVersion: httpVersion == "HTTP/1.0" ? 0 : 1, status: statusCode, fields: fields),
      expectedLength: length, on: nil)
  }

  /// The response as one of HTTP: itself, or 200 with the type and the length of what is none (as the Fetch standard
  /// answers for `data` and `file`).
  static func standing(for response: URLResponse) -> HTTPURLResponse {
    if let response = response as? HTTPURLResponse { return response }
    var fields = FieldList()
    if let type = response.mimeType {
      let charset = response.textEncodingName.map { ";charset=\($0)" } ?? ""
      fields.append(name: "Content-Type", value: type + charset)
    }
    let length = response.expectedContentLength
    if length >= 0 { fields.append(name: "Content-Length", value: String(length)) }
    return HTTPURLResponse(
      urlString: response.urlString, head: ResponseHead(status: 200, reason: "OK", fields: fields),
      expectedLength: length, on: nil)
  }

  /// A response's head, which came on this connection. `expectedLength` is -1 when it is not known.
  init(
    urlString: String, head: ResponseHead, expectedLength: Int64, on connection: ConnectionDriver?
  ) {
    self.statusCode = head.status
    self.reasonPhrase = head.reason
    self.fields = head.fields
    self.minorVersion = head.minorVersion
    self.length = expectedLength
    self.partIndex = nil
    self.outerResponse = nil
    self.ownPeer = connection?.peer
    self.isReusedConnection = connection.map { $0.exchanges > 1 } ?? false
    super.init(urlString: urlString, isFromCache: false)
  }

  /// The response, with another length.
  init(_ response: HTTPURLResponse, expectedLength: Int64) {
    self.statusCode = response.statusCode
    self.reasonPhrase = response.reasonPhrase
    self.fields = response.fields
    self.minorVersion = response.minorVersion
    self.length = expectedLength
    self.partIndex = response.partIndex
    self.outerResponse = response.outerResponse
    self.ownPeer = response.ownPeer
    self.isReusedConnection = response.isReusedConnection
    super.init(urlString: response.urlString, isFromCache: response.isFromCache)
  }

  /// A stored response that answers another request, perhaps with fields that were changed since.
  init(stored: HTTPURLResponse, urlString: String, fields: FieldList? = nil) {
    self.statusCode = stored.statusCode
    self.reasonPhrase = stored.reasonPhrase
    self.fields = fields ?? stored.fields
    self.minorVersion = stored.minorVersion
    self.length = stored.length
    self.partIndex = nil
    self.outerResponse = nil
    self.ownPeer = nil
    self.isReusedConnection = false
    super.init(urlString: urlString, isFromCache: true)
  }

  /// A part's head.
  init(part index: Int, of outer: HTTPURLResponse, fields: FieldList, expectedLength: Int64) {
    self.statusCode = outer.statusCode
    self.reasonPhrase = outer.reasonPhrase
    self.fields = fields
    self.minorVersion = outer.minorVersion
    self.length = expectedLength
    self.partIndex = index
    self.outerResponse = outer
    self.ownPeer = nil
    self.isReusedConnection = outer.isReusedConnection
    super.init(urlString: outer.urlString, isFromCache: outer.isFromCache)
  }
}

extension HTTPURLResponse: CustomStringConvertible {
  /// The status and the URL.
  public var description: String { "\(httpVersion) \(statusCode) \(urlString)" }
}
