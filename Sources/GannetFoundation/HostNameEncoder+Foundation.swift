import Foundation
public import GannetHTTP

extension HostNameEncoder {
  /// Foundation's encoder, with ICU's tables: UTS 46 as in browsers.
  ///
  /// A program that links Foundation has it anyway, and asks for it once: `HostNameEncoder.shared = .foundation`. Without
  /// Foundation there is the package trait `IDN`.
  public static let foundation = HostNameEncoder { (name: String) throws(Failure) -> String in
    // The name holds no byte that could end a host, so all of it is one. It is ASCII in the text, never in `host`.
    let prefix = "http://"
    let text = URL(string: prefix + name)?.absoluteString ?? ""
    let host = text.dropFirst(prefix.count)
    // Foundation percent-encodes what it cannot encode otherwise.
    guard text.hasPrefix(prefix), !host.isEmpty,
      host.utf8.allSatisfy({ $0 < 0x80 && $0 != UInt8(ascii: "%") })
    else { throw Failure("Foundation has none for it") }
    return host.lowercased()
  }
}
