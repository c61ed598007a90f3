import Foundation

/// The test vectors of public suites, in the folder that the environment's `GANNET_VECTORS` names. They are never part of
/// the project: suites that need them are disabled where they are not there (`.enabled(if: Vectors.areThere)`).
public enum Vectors {
  /// The folder, or nil.
  public static let folder = ProcessInfo.processInfo.environment["GANNET_VECTORS"].flatMap {
    $0.isEmpty ? nil : $0
  }

  /// Whether they can be used.
  public static var areThere: Bool { folder != nil }

  /// The rows of one file, without its header and comments: each line of a `.jsonl`, each object of the `tests` of a
  /// `.json`.
  /// - Parameter path: from the folder, such as `url/go-url.jsonl`.
  public static func rows(_ path: String) throws -> [JSON] {
    guard let folder else { return [] }
    let data = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(path))
    if path.hasSuffix(".jsonl") {
      return try data.split(separator: 0x0A).map { try JSON(parsing: Array($0)) }.filter {
        $0["_header"] == nil
      }
    }
    return try JSON(parsing: Array(data))["tests"]?.array?.filter { $0.object != nil } ?? []
  }
}

/// A JSON value.
public enum JSON: Hashable, Sendable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Reads a text. Halves of surrogate pairs that stand alone become U+FFFD: there is no other way to say them in UTF-8.
  public init(parsing text: [UInt8]) throws {
    self = try JSONDecoder().decode(JSON.self, from: Data(JSON.withoutLoneSurrogates(text)))
  }

  /// The value at `key` of an object.
  public subscript(key: String) -> JSON? { object?[key] }

  public var object: [String: JSON]? { if case .object(let value) = self { value } else { nil } }
  public var array: [JSON]? { if case .array(let value) = self { value } else { nil } }
  public var string: String? { if case .string(let value) = self { value } else { nil } }
  public var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
  public var int: Int? { if case .number(let value) = self { Int(exactly: value) } else { nil } }

  /// The bytes of a string whose code points are bytes.
  public var bytes: [UInt8]? { string?.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }

  private static func withoutLoneSurrogates(_ text: [UInt8]) -> [UInt8] {
    var result = text
    var position = 0
    while position + 1 < result.count {
      guard result[position] == UInt8(ascii: "\\") else {
        position += 1
        continue
      }
      guard let unit = codeUnit(result, at: position) else {
        position += 2
        continue
      }
      if UTF16.isLeadSurrogate(unit), let next = codeUnit(result, at: position + 6),
        UTF16.isTrailSurrogate(next)
      {
        position += 12
        continue
      }
      if UTF16.isSurrogate(unit) {
        result.replaceSubrange(position..<(position + 6), with: "\\uFFFD".utf8)
      }
      position += 6
    }
    return result
  }

  /// The code unit that a `\uXXXX` at `position` stands for.
  private static func codeUnit(_ text: [UInt8], at position: Int) -> UInt16? {
    guard position + 6 <= text.count, text[position] == UInt8(ascii: "\\"),
      text[position + 1] == UInt8(ascii: "u")
    else { return nil }
    return UInt16(String(decoding: text[(position + 2)..<(position + 6)], as: UTF8.self), radix: 16)
  }
}

extension JSON: Decodable {
  public init(from decoder: any Decoder) throws {
    let container = try decoder.singleValueContainer()
    if container.decodeNil() {
      self = .null
    } else if let value = try? container.decode(Bool.self) {
      self = .bool(value)
    } else if let value = try? container.decode(Double.self) {
      self = .number(value)
    } else if let value = try? container.decode(String.self) {
      self = .string(value)
    } else if let value = try? container.decode([JSON].self) {
      self = .array(value)
    } else {
      self = .object(try container.decode([String: JSON].self))
    }
  }
}
