/// The status line and the fields of one response (RFC 9112 section 4).
public struct ResponseHead: Hashable, Sendable {
  /// The minor version: 1 for HTTP/1.1, 0 for HTTP/1.0 and what is read as it (`ICY`).
  public var minorVersion: UInt8
  /// The status code, 100 to 999.
  public var status: Int
  /// The reason phrase; empty when there is none. Bytes that are not UTF-8 are read as Latin-1.
  public var reason: String
  /// The fields in the order received.
  public var fields: FieldList

  /// Makes a head.
  public init(minorVersion: UInt8 = 1, status: Int, reason: String = "", fields: FieldList = FieldList()) {
    self.minorVersion = minorVersion
    self.status = status
    self.reason = reason
    self.fields = fields
  }
}
