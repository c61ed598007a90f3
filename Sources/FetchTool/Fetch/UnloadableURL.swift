import Gannet
import GannetHTTP

extension ToolError {
  /// Why `URLConnection` would not take this URL, and what may have been meant.
  package init(unloadable url: String) {
    let hint = ToolError.likelyURL(url).map { "; did you mean \($0)?" } ?? ""
    do throws(URLSyntaxError) {
      let address = try HTTPURL(url, encodingHostsWith: .shared)
      if address.scheme == "file" {
        self.init(
          .badURL,
          "\(address.withoutUserInfo.text): preparing: a file URL names a file of this machine, not of the host \(address.host)"
        )
        return
      }
      self.init(
        .unsupportedScheme,
        "\(address.withoutUserInfo.text): preparing: the scheme \(address.scheme) is not supported; "
          + "http, https, file and data are" + hint)
    } catch { self.init(.badURL, "\(urlForMessage(url)): preparing: \(error.reason)\(error.culprit)\(hint)") }
  }

  /// The URL that somebody who wrote `text` wanted: the scheme left out, or its colon.
  static func likelyURL(_ text: String) -> String? {
    for scheme in ["http", "https"] where text.lowercased().hasPrefix(scheme + "//") {
      return loadable("\(scheme)://\(text.dropFirst(scheme.utf8.count + 2))")
    }
    let host = text.prefix { !"/?#:".contains($0) }
    // A host that is not written as one, `name:8080` or `[::1]`, would be the scheme of something else: `mailto:me`.
    let rest = text.dropFirst(host.count)
    let hasPort = rest.first == ":" && rest.dropFirst().prefix { $0.isASCII && $0.isNumber }.count > 0
    guard !host.isEmpty, rest.first != ":" || hasPort || host.first == "[" else { return nil }
    return loadable("http://\(text)")
  }

  private static func loadable(_ url: String) -> String? {
    guard let address = try? HTTPURL(url, encodingHostsWith: .shared), !address.host.isEmpty else {
      return nil
    }
    return url
  }
}

/// The URL without user name and password, also where it is malformed.
package func urlForMessage(_ text: String) -> String {
  if let address = try? HTTPURL(text, encodingHostsWith: .shared) { return address.withoutUserInfo.text }
  guard let slashes = text.firstRange(of: "//") else { return text }
  let authority = text[slashes.upperBound...].prefix { !"/?#".contains($0) }
  guard let sign = authority.lastIndex(of: "@") else { return text }
  return String(text[..<slashes.upperBound] + text[text.index(after: sign)...])
}

extension URLSyntaxError {
  /// The byte that is wrong, for the end of a sentence.
  var culprit: String {
    guard let byte, rule == .badHost || rule == .forbiddenByte else { return "" }
    let isVisible = byte > 0x20 && byte < 0x7F
    let shown = isVisible ? "“\(Character(Unicode.Scalar(byte)))”" : "byte \(byte)"
    return ": \(shown) at offset \(offset)"
  }
}
