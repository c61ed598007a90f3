public import FoundationEssentials
public import GannetHTTP

// UNCHECKED: a class that can be subclassed cannot be checked; every stored property is an immutable Sendable.
/// The metadata of what a load received: its URL, type, length and name.
public class URLResponse: @unchecked Sendable {
  /// The URL that answered, as text: after redirects the last one, with the fragment.
  public let urlString: String
  /// The media type in lower case without parameters, or nil when none was given.
  public var mimeType: String? { nil }
  /// The name of the text encoding, as given, or nil.
  public var textEncodingName: String? { nil }
  /// Bytes of the body, or -1 when that is not known: no length was given, or the body is decoded on the way.
  public var expectedContentLength: Int64 { -1 }
  /// A safe name for a file of it.
  public var suggestedFilename: String? { nil }

  /// Makes a response.
  init(urlString: String) { self.urlString = urlString }

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

  private let minorVersion: UInt8
  private let length: Int64

  /// The fields as a dictionary: repeated ones are joined by a comma, in the spelling of the first.
  public var allHeaderFields: [String: String] { fields.joinedByName }

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

  /// A response's head. `expectedLength` is -1 when it is not known.
  init(urlString: String, head: ResponseHead, expectedLength: Int64) {
    self.statusCode = head.status
    self.reasonPhrase = head.reason
    self.fields = head.fields
    self.minorVersion = head.minorVersion
    self.length = expectedLength
    self.partIndex = nil
    self.outerResponse = nil
    super.init(urlString: urlString)
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
    super.init(urlString: outer.urlString)
  }
}

extension HTTPURLResponse: CustomStringConvertible {
  /// The status and the URL.
  public var description: String { "\(httpVersion) \(statusCode) \(urlString)" }
}
