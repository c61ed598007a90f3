package import Gannet
import GannetHTTP

/// Cookies in Netscape's format, as curl and browsers' exporters write them: a line each of seven fields that tabs part
/// (domain, whether subdomains get it, path, whether it is secure, when it ends in seconds since 1970 or 0, name, value).
/// `#HttpOnly_` before the domain is no comment.
package enum CookieFile {
  /// A line that is none.
  package struct Failure: Error, Equatable {
    /// Counted from 1.
    package let line: Int
    /// What is wrong with it.
    package let reason: String
  }

  private static let httpOnly = "#HttpOnly_"

  /// The cookies of a file; those that are over are among them.
  package static func parse(_ bytes: [UInt8]) throws(Failure) -> [HTTPCookie] {
    var cookies: [HTTPCookie] = []
    let lines = bytes.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
    for (index, line) in lines.enumerated() {
      let bytes = Array(line.last == UInt8(ascii: "\r") ? line.dropLast() : line)
      var text = String(fieldText: bytes.span)
      let isHTTPOnly = text.hasPrefix(httpOnly)
      if isHTTPOnly { text.removeFirst(httpOnly.count) }
      if text.allSatisfy({ $0 == " " || $0 == "\t" }) || text.hasPrefix("#") { continue }
      do throws(Refusal) { cookies.append(try cookie(text, isHTTPOnly: isHTTPOnly)) } catch {
        throw Failure(line: index + 1, reason: error.reason)
      }
    }
    return cookies
  }

  private struct Refusal: Error { let reason: String }

  private static func cookie(_ line: String, isHTTPOnly: Bool) throws(Refusal) -> HTTPCookie {
    let fields = line.split(separator: "\t", omittingEmptySubsequences: false).map(String.init)
    // Some leave the last tab out where the value is empty.
    guard fields.count == 7 || fields.count == 6 else {
      throw Refusal(reason: "\(fields.count) field\(fields.count == 1 ? "" : "s") that tabs part, not 7")
    }
    guard let expires = Double(fields[4]), expires.isFinite else {
      throw Refusal(reason: "the fifth field is no number of seconds: \"\(fields[4])\"")
    }
    let host = String(fields[0].drop { $0 == "." })
    var properties: [HTTPCookiePropertyKey: Any] = [
      .domain: fields[1].uppercased() == "TRUE" ? "." + host : host, .path: fields[2], .secure: fields[3],
      .httpOnly: isHTTPOnly, .name: fields[5], .value: fields.count == 7 ? fields[6] : "",
    ]
    if expires != 0 { properties[.expires] = Date(timeIntervalSince1970: expires) }
    guard let cookie = HTTPCookie(properties: properties) else {
      throw Refusal(reason: "what it says cannot be a cookie")
    }
    return cookie
  }

  /// The file of these cookies. Text that is not UTF-8 is written as if it were Latin-1; what holds a tab cannot be written
  /// and is left out.
  package static func text(of cookies: [HTTPCookie]) -> String {
    var text = "# Netscape HTTP Cookie File\n# Written by gannet; curl reads it too.\n\n"
    for cookie in cookies {
      // Cut toward the past: no cookie is kept longer for having been written.
      let expires = cookie.expiresDate.map { Int64(clamping: $0.timeIntervalSince1970) } ?? 0
      let fields = [
        cookie.domain, cookie.domain.hasPrefix(".") ? "TRUE" : "FALSE", cookie.path,
        cookie.isSecure ? "TRUE" : "FALSE", String(expires), cookie.name, cookie.value,
      ]
      if fields.contains(where: { $0.contains("\t") }) { continue }
      text += (cookie.isHTTPOnly ? httpOnly : "") + fields.joined(separator: "\t") + "\n"
    }
    return text
  }
}

extension Int64 {
  /// The whole seconds; the nearest there are for what no `Int64` holds.
  fileprivate init(clamping seconds: Double) {
    self = seconds < -9e18 ? .min : seconds > 9e18 ? .max : Int64(seconds.rounded(.down))
  }
}
