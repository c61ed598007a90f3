package import GannetHTTP

/// One `Set-Cookie` field's value, read as user agents read it (RFC 6265bis section 5.6). Where it came from has not been
/// looked at yet: `Cookie(_:from:)` does that.
package struct SetCookie: Hashable, Sendable {
  /// The name; empty when there is no `=` before the first `;`.
  package private(set) var name: [UInt8] = []
  package private(set) var value: [UInt8] = []
  /// When it ends, in seconds since 1970, by `Max-Age` or else `Expires`; at most 400 days from now.
  package var expires: Double? { maximumAge ?? expiryDate }
  /// What the last `Domain` says, without a dot before it and in lower case; nil for none.
  package private(set) var domain: [UInt8]?
  /// What the last `Path` says; empty when that does not begin with a slash; nil for none.
  package private(set) var path: [UInt8]?
  package private(set) var isSecure = false
  package private(set) var isHTTPOnly = false
  package private(set) var sameSite = Cookie.SameSite.unsaid
  private var maximumAge: Double?
  private var expiryDate: Double?

  /// Bytes of an attribute's value that is looked at; longer ones are passed over.
  private static let maximumAttributeBytes = 1024
  /// What is earlier than any other time: of the year 1.
  private static let longAgo = Double(HTTPDate.range.lowerBound)

  /// Reads a field's value; linear in its length.
  ///
  /// - Parameter now: seconds since 1970.
  package init(_ field: Span<UInt8>, at now: Double) throws(CookieRefusal) {
    for index in field.indices where !field[index].isFieldText { throw .controlByte }
    var end = field.end(of: 0)
    let equals = field.firstIndex(of: .equals, in: 0..<end)
    name = equals.map { [UInt8](copying: field.extracting(field.blanksTrimmed(0..<$0))) } ?? []
    value = [UInt8](copying: field.extracting(field.blanksTrimmed((equals.map { $0 + 1 } ?? 0)..<end)))
    if name.isEmpty, value.isEmpty { throw .empty }
    if name.count + value.count > Cookie.maximumBytes { throw .tooLong }
    while end < field.count {
      let start = end + 1
      end = field.end(of: start)
      let equals = field.firstIndex(of: .equals, in: start..<end)
      let attribute = field.extracting(field.blanksTrimmed(start..<(equals ?? end)))
      let value = field.extracting(field.blanksTrimmed((equals.map { $0 + 1 } ?? end)..<end))
      if value.count <= SetCookie.maximumAttributeBytes { take(attribute, value, at: now) }
    }
  }

  private mutating func take(_ attribute: Span<UInt8>, _ value: Span<UInt8>, at now: Double) {
    if attribute.equalsIgnoringCase("expires") {
      guard let date = CookieDate.parse(value) else { return }
      expiryDate = min(Double(date), now + Cookie.maximumLifetime)
    } else if attribute.equalsIgnoringCase("max-age") {
      guard let seconds = SetCookie.seconds(value) else { return }
      maximumAge = seconds <= 0 ? SetCookie.longAgo : now + min(seconds, Cookie.maximumLifetime)
    } else if attribute.equalsIgnoringCase("domain") {
      let hasDot = !value.isEmpty && value[0] == UInt8(ascii: ".")
      domain = [UInt8](copying: value.extracting((hasDot ? 1 : 0)...)).map(\.asciiLowercased)
    } else if attribute.equalsIgnoringCase("path") {
      let isPath = !value.isEmpty && value[0] == UInt8(ascii: "/")
      path = isPath ? [UInt8](copying: value) : []
    } else if attribute.equalsIgnoringCase("secure") {
      isSecure = true
    } else if attribute.equalsIgnoringCase("httponly") {
      isHTTPOnly = true
    } else if attribute.equalsIgnoringCase("samesite") {
      sameSite =
        value.equalsIgnoringCase("none")
        ? .none
        : value.equalsIgnoringCase("lax") ? .lax : value.equalsIgnoringCase("strict") ? .strict : .unsaid
    }
  }

  /// A whole number of seconds, perhaps below 0, of any length.
  private static func seconds(_ text: Span<UInt8>) -> Double? {
    let isNegative = !text.isEmpty && text[0] == UInt8(ascii: "-")
    let digits = text.extracting((isNegative ? 1 : 0)...)
    guard !digits.isEmpty else { return nil }
    var number = 0.0
    for index in digits.indices {
      guard digits[index].isDigit else { return nil }
      number = min(number * 10 + Double(digits[index] - UInt8(ascii: "0")), 1e15)
    }
    return isNegative ? -number : number
  }
}

extension Cookie {
  /// The cookie that a response from here sets (RFC 6265bis section 5.7).
  ///
  /// Without a list of the domains under which anyone may register, the one-label ones are known: such a `Domain` is
  /// refused, unless it is the host itself, which then has the cookie alone.
  package init(_ set: SetCookie, from scope: CookieScope) throws(CookieRefusal) {
    let (domain, isHostOnly) = try Cookie.domain(set.domain ?? [], of: scope)
    let given = set.path.map { String(fieldText: $0.span) } ?? ""
    let path = given.isEmpty ? scope.defaultPath : given
    if path.utf8.count > Cookie.maximumPathBytes { throw .tooLong }
    self.init(name: set.name, value: set.value, domain: domain, isHostOnly: isHostOnly, path: path)
    expires = set.expires
    isSecure = set.isSecure
    isHTTPOnly = set.isHTTPOnly
    sameSite = set.sameSite
    if isSecure, !scope.isSecure { throw .insecure }
    if sameSite == .none, !isSecure { throw .sameSiteNone }
    let named = name.isEmpty ? value : name
    if named.hasPrefix("__secure-"), name.isEmpty || !isSecure { throw .brokenPrefix }
    if named.hasPrefix("__host-"),
      name.isEmpty || !isSecure || !isHostOnly || set.path == nil || path != "/"
    {
      throw .brokenPrefix
    }
  }

  /// The cookies that a response with these fields sets, in order; those that are refused are left out.
  package static func set(by fields: FieldList, from scope: CookieScope, at now: Double) -> [Cookie] {
    var cookies: [Cookie] = []
    var next = fields.firstIndex(named: "Set-Cookie")
    while let index = next {
      next = fields.firstIndex(named: "Set-Cookie", from: index + 1)
      fields.withValueBytes(at: index) { value in
        if let set = try? SetCookie(value, at: now), let cookie = try? Cookie(set, from: scope) {
          cookies.append(cookie)
        }
      }
    }
    return cookies
  }

  /// The domain that an attribute (empty for none) gives a cookie of this host.
  private static func domain(
    _ attribute: [UInt8], of scope: CookieScope
  ) throws(CookieRefusal) -> (domain: String, isHostOnly: Bool) {
    if attribute.isEmpty { return (scope.host, true) }
    guard attribute.allSatisfy({ $0 < 0x80 }) else { throw .foreignDomain }
    let domain = String(decoding: attribute, as: UTF8.self)
    guard scope.isIn(domain) else { throw .foreignDomain }
    // A dot at the end is no label's.
    if !scope.isAddress, attribute.dropLast().contains(UInt8(ascii: ".")) { return (domain, false) }
    guard domain == scope.host else { throw .foreignDomain }
    return (domain, true)
  }
}

extension [UInt8] {
  /// Whether these bytes begin with `text` (ASCII, in lower case), in any case.
  fileprivate func hasPrefix(_ text: String) -> Bool {
    count >= text.utf8.count && span.extracting(..<text.utf8.count).equalsIgnoringCase(text)
  }
}

extension Span where Element == UInt8 {
  /// The `;` at or after `start`, or the count.
  fileprivate func end(of start: Int) -> Int { firstIndex(of: .semicolon, in: start..<count) ?? count }

  fileprivate func firstIndex(of byte: UInt8, in range: Range<Int>) -> Int? {
    for index in range where self[index] == byte { return index }
    return nil
  }
}
