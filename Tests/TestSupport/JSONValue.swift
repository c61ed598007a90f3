import Foundation

/// A JSON value of a vector file, for rows with a shape of their own. What is not there, or null, is nil.
public struct JSONValue {
  private let value: Any

  /// Wraps what `JSONSerialization` made; nil for null.
  public init?(_ value: Any?) {
    guard let value, !(value is NSNull) else { return nil }
    self.value = value
  }

  /// The value at `key` of an object.
  public subscript(key: String) -> JSONValue? { JSONValue((value as? [String: Any])?[key]) }

  /// The keys of an object.
  public var keys: [String] { (value as? [String: Any])?.keys.map { $0 } ?? [] }

  private init(member: Any) { value = member }

  /// The members of an array; a null among them has no value of any kind.
  public var array: [JSONValue]? { (value as? [Any])?.map { JSONValue(member: $0) } }
  /// A text.
  public var string: String? { value as? String }
  /// A whole number.
  public var int: Int? { value as? Int }
  /// A truth value.
  public var bool: Bool? { value as? Bool }
  /// The bytes of a text in which each code point is a byte.
  public var bytes: [UInt8]? { string.map { Bytes.latin1($0) } }
}

extension VectorFile.Row {
  /// The value at `key`.
  public subscript(key: String) -> JSONValue? { JSONValue(value(key)) }
}
