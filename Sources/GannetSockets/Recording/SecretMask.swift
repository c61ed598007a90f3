/// Replaces secrets by asterisks, byte for byte, so that lengths and framing stay.
///
/// Masked are the credentials of `Authorization` and `Proxy-Authorization` after the scheme's name, the proof that a
/// server gives of knowing the password (`rspauth` in `Authentication-Info`: who reads it can try passwords on it), the
/// values of the cookies in `Cookie` and `Set-Cookie` (names and attributes stay), and in any line a password in a URL.
package enum SecretMask {
  private static let asterisk = UInt8(ascii: "*")

  /// What a field's value keeps secret.
  private enum Secret { case credentials, proof, cookies, cookieAndAttributes }

  /// Masks one line of a head, without its ending. `isContinuation` says it continues a masked field on a line of
  /// its own (obsolete folding). Gives whether its continuation lines are secret too.
  package static func mask(headLine line: inout [UInt8], isContinuation: Bool) -> Bool {
    if isContinuation, line.first == 0x20 || line.first == 0x09 {
      for index in line.indices where line[index] > 0x20 { line[index] = asterisk }
      return true
    }
    maskPasswords(in: &line)
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), let secret = secret(of: line[..<colon]) else {
      return false
    }
    let value = line[(colon + 1)...].firstIndex { $0 != 0x20 && $0 != 0x09 } ?? line.endIndex
    switch secret {
    case .credentials:
      var start = line[value...].firstIndex(of: 0x20) ?? value
      while start < line.count, line[start] == 0x20 { start += 1 }
      // Blanks between parameters too: where they stand says how long a user name is.
      for index in line.indices[start...] { line[index] = asterisk }
    case .proof: maskProof(in: &line, from: value)
    case .cookies:
      maskCookies(in: &line, from: value, attributesFollow: false)
    case .cookieAndAttributes:
      maskCookies(in: &line, from: value, attributesFollow: true)
    }
    return true
  }

  /// A line of a head as text in which each run of masked bytes is three asterisks, for a person to read.
  package static func veiled(headLine line: [UInt8], isContinuation: inout Bool) -> String {
    var masked = line
    isContinuation = mask(headLine: &masked, isContinuation: isContinuation)
    var shown: [UInt8] = []
    var wasMasked = false
    for (index, byte) in masked.enumerated() {
      // An asterisk of the secret's own is none that is shown.
      let isMasked = byte != line[index] || (wasMasked && byte == asterisk)
      if !isMasked { shown.append(byte) } else if !wasMasked { shown += "***".utf8 }
      wasMasked = isMasked
    }
    return String(decoding: shown, as: UTF8.self)
  }

  /// Masks a field's value given as text.
  package static func mask(name: String, value: String) -> String {
    var line = Array("\(name): \(value)".utf8)
    _ = mask(headLine: &line, isContinuation: false)
    return String(decoding: line.dropFirst(name.utf8.count + 2), as: UTF8.self)
  }

  /// Masks the password in a URL.
  package static func mask(url: String) -> String {
    var bytes = Array(url.utf8)
    maskPasswords(in: &bytes)
    return String(decoding: bytes, as: UTF8.self)
  }

  private static func secret(of name: ArraySlice<UInt8>) -> Secret? {
    switch String(decoding: name, as: UTF8.self).lowercased() {
    case "authorization", "proxy-authorization": .credentials
    case "authentication-info", "proxy-authentication-info": .proof
    case "cookie", "cookie2": .cookies
    case "set-cookie", "set-cookie2": .cookieAndAttributes
    default: nil
    }
  }

  /// From `start`: the value of each `rspauth`, quoted or not.
  private static func maskProof(in line: inout [UInt8], from start: Int) {
    let name = Array("rspauth".utf8)
    var index = start
    while index + name.count < line.count {
      let isNamed = zip(name, line[index...]).allSatisfy { $0 == $1 | 0x20 }
      index += 1
      guard isNamed else { continue }
      index += name.count - 1
      while index < line.count, line[index] != UInt8(ascii: ",") {
        let isSyntax =
          line[index] <= 0x20 || line[index] == UInt8(ascii: "=") || line[index] == UInt8(ascii: "\"")
        if !isSyntax { line[index] = asterisk }
        index += 1
      }
    }
  }

  /// From `start`: the value after each `=`, up to the next `;`. A pair without `=` is all value. With attributes
  /// only the first pair is a cookie.
  private static func maskCookies(in line: inout [UInt8], from start: Int, attributesFollow: Bool) {
    var pair = start
    while pair < line.count {
      let end = line[pair...].firstIndex(of: UInt8(ascii: ";")) ?? line.count
      let equals = line[pair..<end].firstIndex(of: UInt8(ascii: "="))
      for index in (equals.map { $0 + 1 } ?? pair)..<end where line[index] > 0x20 { line[index] = asterisk }
      if attributesFollow { return }
      pair = end + 1
    }
  }

  /// Each `://user:password@`: the password, up to the last `@` before the authority's end.
  private static func maskPasswords(in line: inout [UInt8]) {
    var index = 0
    while index + 2 < line.count {
      guard line[index] == UInt8(ascii: ":"), line[index + 1] == UInt8(ascii: "/"),
        line[index + 2] == UInt8(ascii: "/")
      else {
        index += 1
        continue
      }
      let start = index + 3
      let end = line[start...].firstIndex { isAuthorityEnd($0) } ?? line.count
      if let at = line[start..<end].lastIndex(of: UInt8(ascii: "@")),
        let colon = line[start..<at].firstIndex(of: UInt8(ascii: ":"))
      {
        for secret in (colon + 1)..<at { line[secret] = asterisk }
      }
      index = end
    }
  }

  private static func isAuthorityEnd(_ byte: UInt8) -> Bool {
    byte <= 0x20 || byte == UInt8(ascii: "/") || byte == UInt8(ascii: "?") || byte == UInt8(ascii: "#")
  }
}
