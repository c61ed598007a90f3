extension HTTPURL {
  /// The scheme in lower case, without its colon.
  public var scheme: String { part(0, layout.schemeEnd) }

  /// The user name, percent-decoded (bytes that are not UTF-8 are read as Latin-1), or nil when there is
  /// none.
  public var user: String? {
    layout.passwordEnd > layout.authorityStart ? decodedPart(layout.authorityStart, layout.userEnd) : nil
  }

  /// The password, percent-decoded, or nil when there is none. It may hold colons.
  public var password: String? {
    layout.passwordEnd > layout.userEnd ? decodedPart(layout.userEnd + 1, layout.passwordEnd) : nil
  }

  /// The host as it is connected to: a name or an address, in lower case, without brackets and zone. Empty
  /// only for schemes that do without.
  public var host: String { part(layout.hostStart, layout.hostEnd) }

  /// What kind of thing `host` is.
  public var hostKind: HostKind { layout.hostKind }

  /// The zone (network interface) of an IPv6 address, or nil. The URL writes it `[fe80::1%25eth0]` (RFC
  /// 6874).
  public var zone: String? {
    layout.zoneEnd > layout.hostEnd ? part(layout.hostEnd + 3, layout.zoneEnd) : nil
  }

  /// The effective port: the one named, else the scheme's default (http and ws 80, https and wss 443, ftp
  /// 21), else 0.
  public var port: UInt16 { layout.port }

  /// The port that the text names, or nil. It may be the scheme's default.
  public var explicitPort: UInt16? { layout.explicitPort }

  /// The path, percent-encoded as in the URL. Never empty for http and https.
  public var path: String { part(layout.pathStart, layout.pathEnd) }

  /// The query without its `?`, percent-encoded as in the URL, or nil when there is no `?`.
  public var query: String? {
    layout.queryEnd > layout.pathEnd ? part(layout.pathEnd + 1, layout.queryEnd) : nil
  }

  /// The fragment without its `#`, percent-encoded as in the URL, or nil when there is no `#`.
  public var fragment: String? {
    hasFragment ? String(Substring(utf8(layout.queryEnd + 1, nil))) : nil
  }

  /// What the request line names in origin-form (RFC 9112 section 3.2.1): path and query, never the fragment.
  public var requestTarget: String { part(layout.pathStart, layout.queryEnd) }

  /// The value of the `Host` field (RFC 9110 section 7.2): the host, in brackets and without its zone when it
  /// is an IPv6 address, and the port when it is not the scheme's default.
  public var hostField: String {
    guard layout.hasAuthority else { return "" }
    return layout.zoneEnd > layout.hostEnd
      ? "[\(host)]" + part(layout.zoneEnd + 1, layout.pathStart)
      : part(layout.hostFieldStart, layout.pathStart)
  }

  /// Scheme, host and effective port: what decides where credentials and connections may go.
  public var origin: Origin {
    Origin(
      scheme: scheme, host: layout.zoneEnd > layout.hostEnd ? "\(host)%\(zone ?? "")" : host, port: port)
  }

  /// Whether both URLs have the same scheme, host and effective port.
  public func hasSameOrigin(as other: HTTPURL) -> Bool {
    layout.port == other.layout.port
      && utf8(layout.hostStart, layout.zoneEnd).elementsEqual(
        other.utf8(other.layout.hostStart, other.layout.zoneEnd))
      && utf8(0, layout.schemeEnd).elementsEqual(other.utf8(0, other.layout.schemeEnd))
  }

  /// This URL without user name and password; itself when it has none, else in canonical form.
  public var withoutUserInfo: HTTPURL {
    guard layout.hostFieldStart > layout.authorityStart else { return self }
    var shorter = layout
    shorter.removeUserInfo()
    let text = part(0, layout.authorityStart) + String(Substring(utf8(layout.hostFieldStart, nil)))
    return HTTPURL(text: text, canonicalText: text, layout: shorter)
  }

  /// This URL without its fragment; itself when it has none, else in canonical form.
  public var withoutFragment: HTTPURL {
    guard hasFragment else { return self }
    let text = part(0, layout.queryEnd)
    return HTTPURL(text: text, canonicalText: text, layout: layout)
  }

  /// This URL with the fragment of `other`, in canonical form; itself when it has one of its own or `other`
  /// has none.
  ///
  /// A redirect inherits the fragment that way (RFC 9110 section 10.2.2).
  public func inheritingFragment(from other: HTTPURL) -> HTTPURL {
    guard !hasFragment, let inherited = other.fragment else { return self }
    let text = canonicalText + "#" + inherited
    return HTTPURL(text: text, canonicalText: text, layout: layout)
  }

  private var hasFragment: Bool { Int(layout.queryEnd) < canonicalText.utf8.count }

  func utf8(_ start: UInt32, _ end: UInt32?) -> Substring.UTF8View {
    let view = canonicalText.utf8
    let lower = view.index(view.startIndex, offsetBy: Int(start))
    return view[lower..<(end.map { view.index(view.startIndex, offsetBy: Int($0)) } ?? view.endIndex)]
  }

  private func part(_ start: UInt32, _ end: UInt32) -> String { String(Substring(utf8(start, end))) }

  /// The path with its percent-escapes decoded: bytes, which need not be UTF-8.
  package var decodedPath: [UInt8] { decodedBytes(layout.pathStart, layout.pathEnd) }

  private func decodedPart(_ start: UInt32, _ end: UInt32) -> String {
    String(fieldText: decodedBytes(start, end).span)
  }

  private func decodedBytes(_ start: UInt32, _ end: UInt32) -> [UInt8] {
    let bytes = Array(utf8(start, end))
    let input = bytes.span
    var decoded: [UInt8] = []
    var position = 0
    while position < input.count {
      if let byte = percentEscape(in: input, at: position, before: input.count) {
        decoded.append(byte)
        position += 3
      } else {
        decoded.append(input[position])
        position += 1
      }
    }
    return decoded
  }
}
