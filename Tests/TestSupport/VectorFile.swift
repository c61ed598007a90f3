import Foundation

/// The folder of test vectors that `GANNET_VECTORS` names. They never become part of this repository: a suite that
/// reads them is `.enabled(if: VectorFile.areAvailable, "…")`.
public enum VectorFile {
  /// Whether the variable is set.
  public static var areAvailable: Bool { folder != nil }

  private static var folder: String? { ProcessInfo.processInfo.environment["GANNET_VECTORS"] }

  /// The rows of a file, without its header and comments: each line of a `.jsonl`, each object of the `tests` of a
  /// `.json`; none when the variable is unset.
  public static func rows(_ path: String) throws -> [Row] {
    guard let folder else { return [] }
    let text = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(path))
    guard path.hasSuffix(".jsonl") else {
      let file = try JSONSerialization.jsonObject(with: withoutLoneSurrogates(text)) as? [String: Any]
      return (file?["tests"] as? [Any] ?? []).compactMap { ($0 as? [String: Any]).map(Row.init) }
    }
    return try text.split(separator: UInt8(ascii: "\n")).dropFirst().map { line in
      Row(values: try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] ?? [:])
    }
  }

  /// The arrays of a `.json` file's `tests`, without its comments; none when the variable is unset.
  public static func lists(_ path: String) throws -> [[Any]] {
    guard let folder else { return [] }
    let text = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(path))
    let file = try JSONSerialization.jsonObject(with: withoutLoneSurrogates(text)) as? [String: Any]
    return (file?["tests"] as? [Any] ?? []).compactMap { $0 as? [Any] }
  }

  /// JSON in which halves of surrogate pairs that stand alone are U+FFFD: there is no other way to say them in UTF-8.
  private static func withoutLoneSurrogates(_ text: Data) -> Data {
    var result = Array(text)
    var position = 0
    while position + 1 < result.count {
      guard result[position] == UInt8(ascii: "\\") else {
        position += 1
        continue
      }
      guard let unit = escapedCodeUnit(in: result, at: position) else {
        position += 2
        continue
      }
      let next = escapedCodeUnit(in: result, at: position + 6)
      if UTF16.isLeadSurrogate(unit), let next, UTF16.isTrailSurrogate(next) {
        position += 12
        continue
      }
      if unit & 0xF800 == 0xD800 { result.replaceSubrange(position..<(position + 6), with: "\\uFFFD".utf8) }
      position += 6
    }
    return Data(result)
  }

  /// The code unit that a `\uXXXX` at `position` stands for.
  private static func escapedCodeUnit(in text: [UInt8], at position: Int) -> UInt16? {
    guard position + 6 <= text.count, text[position] == UInt8(ascii: "\\"),
      text[position + 1] == UInt8(ascii: "u")
    else { return nil }
    return UInt16(String(decoding: text[(position + 2)..<(position + 6)], as: UTF8.self), radix: 16)
  }

  /// One row.
  public struct Row {
    fileprivate let values: [String: Any]

    /// Its name in the suite.
    public var id: String { string("id") ?? "" }
    /// A text, or nil.
    public func string(_ key: String) -> String? { values[key] as? String }
    /// A number, or nil.
    public func integer(_ key: String) -> Int? { values[key] as? Int }
    /// A truth value; false when it is not there.
    public func flag(_ key: String) -> Bool { values[key] as? Bool ?? false }
    /// Texts; none when it is not there.
    public func strings(_ key: String) -> [String] { values[key] as? [String] ?? [] }
    /// An object's texts, or nil.
    public func object(_ key: String) -> [String: String]? { values[key] as? [String: String] }
    /// A value that has its own shape, or nil.
    public func value(_ key: String) -> Any? { values[key] }
    /// Whether there is a value that is not null.
    public func has(_ key: String) -> Bool { values[key].map { !($0 is NSNull) } ?? false }
    /// The bytes that base64 text stands for, or nil.
    public func base64(_ key: String) -> [UInt8]? {
      string(key).flatMap { Data(base64Encoded: $0) }.map { Array($0) }
    }
    /// The bytes of text in which each code point is a byte, or nil.
    public func latin1(_ key: String) -> [UInt8]? {
      string(key).map { $0.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) } }
    }
  }
}
