import Foundation

/// The folder of test vectors that `GANNET_VECTORS` names. They never become part of this repository: a suite that
/// reads them is `.enabled(if: VectorFile.areAvailable, "…")`.
public enum VectorFile {
  /// Whether the variable is set.
  public static var areAvailable: Bool { folder != nil }

  private static var folder: String? { ProcessInfo.processInfo.environment["GANNET_VECTORS"] }

  /// The rows of a `.jsonl` file, without its header line; none when the variable is unset.
  public static func rows(_ path: String) throws -> [Row] {
    guard let folder else { return [] }
    let text = try Data(contentsOf: URL(fileURLWithPath: folder).appendingPathComponent(path))
    return try text.split(separator: UInt8(ascii: "\n")).dropFirst().map { line in
      Row(values: try JSONSerialization.jsonObject(with: Data(line)) as? [String: Any] ?? [:])
    }
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
