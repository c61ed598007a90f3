/// Reads an absolute URL and writes its canonical form, noting where each part lies in it.
///
/// The grammar is RFC 3986's; the tolerances are the URL standard's (url.spec.whatwg.org), for the schemes
/// that have an authority and a hierarchy by nature ("special" there): `\` is read as `/`, the host is
/// percent-decoded and lower-cased, numbers are IPv4 addresses. What RFC 3986 does not allow at its place is
/// percent-encoded, what it allows stays as it is, `%` always stays. Linear in the input, one buffer.
struct URLParser {
  /// Who wrote the text. A caller's control characters are refused, a server's are percent-encoded.
  enum Author { case caller, peer }

  let author: Author
  /// What a host that is not ASCII is encoded with.
  let encoder: HostNameEncoder?
  /// The canonical form, as far as written.
  var output: [UInt8] = []
  var layout = URLLayout()
  /// Whether the scheme is http, https, ws, wss or ftp.
  var isSpecial = false
  /// The scheme's port; nil for an unknown one.
  var defaultPort: UInt16?

  init(by author: Author, encodingHostsWith encoder: HostNameEncoder? = nil) {
    self.author = author
    self.encoder = encoder
  }

  /// Reads all of `input`. Errors' offsets are from its start.
  mutating func parse(_ input: Span<UInt8>) throws(URLSyntaxError) {
    guard input.count <= HTTPURL.maximumBytes else {
      throw URLSyntaxError(.tooLong, at: HTTPURL.maximumBytes, "the URL is longer than 2 MiB")
    }
    var start = 0
    var end = input.count
    while start < end, input[start] == 0x20 { start += 1 }
    while start < end, input[end - 1] == 0x20 { end -= 1 }
    output.reserveCapacity(end - start + 8)
    if author == .caller { try refuseControls(in: input, start, end) }
    var position = try parseScheme(input, start, end)
    if let authority = try authorityStart(input, position, end) {
      layout.hasAuthority = true
      output.append(UInt8(ascii: "/"))
      output.append(UInt8(ascii: "/"))
      position = try parseAuthority(input, authority, end)
    } else {
      let place = UInt32(clamping: output.count)
      layout.userEnd = place
      layout.passwordEnd = place
      layout.hostStart = place
      layout.hostEnd = place
      layout.zoneEnd = place
    }
    parseRest(input, position, end)
  }

  /// The place after the slashes that announce an authority, or nil when there are none. Servers write
  /// `https:/host` and `https:///host` too; of a caller these are mistakes (docs/CONTRACT.md, rule 1: http
  /// without a host).
  private func authorityStart(_ input: Span<UInt8>, _ start: Int, _ end: Int) throws(URLSyntaxError) -> Int? {
    if isSpecial, author == .peer {
      var position = start
      while isSlash(input, position, end) { position += 1 }
      return position
    }
    if isSlash(input, start, end), isSlash(input, start + 1, end) { return start + 2 }
    guard !isSpecial else {
      throw URLSyntaxError(.noHost, at: start, "no host: '//' and a host must follow the scheme")
    }
    return nil
  }

  /// Whether what was written is the same as `input`.
  func wrote(_ input: Span<UInt8>) -> Bool {
    guard output.count == input.count else { return false }
    let written = output.span
    for index in input.indices where written[index] != input[index] { return false }
    return true
  }

  private func refuseControls(in input: Span<UInt8>, _ start: Int, _ end: Int) throws(URLSyntaxError) {
    var position = start
    while position < end {
      if input[position].isASCIIControl {
        throw URLSyntaxError(
          .forbiddenByte, byte: input[position], at: position, "a URL holds no control characters")
      }
      position += 1
    }
  }

  /// Whether there is a `/` at `position`, or a `\` that counts as one.
  private func isSlash(_ input: Span<UInt8>, _ position: Int, _ end: Int) -> Bool {
    guard position < end else { return false }
    return input[position] == UInt8(ascii: "/") || (isSpecial && input[position] == UInt8(ascii: "\\"))
  }

  /// Writes the scheme and its colon; returns the place after it.
  private mutating func parseScheme(_ input: Span<UInt8>, _ start: Int, _ end: Int) throws(URLSyntaxError)
    -> Int
  {
    guard let colon = URLParser.schemeEnd(in: input, from: start, to: end) else {
      throw URLSyntaxError(
        .noScheme, byte: start < end ? input[start] : nil, at: start,
        "no scheme: 'http://' or the like is missing")
    }
    for position in start..<colon { output.append(input[position].asciiLowercased) }
    let port = HTTPURL.defaultPort(ofScheme: output.span)
    isSpecial = port != nil
    defaultPort = port
    layout.port = port ?? 0
    layout.schemeEnd = UInt32(clamping: output.count)
    output.append(UInt8(ascii: ":"))
    return colon + 1
  }

  /// The place of the colon that ends a scheme, or nil when the text does not begin with one.
  static func schemeEnd(in input: Span<UInt8>, from start: Int, to end: Int) -> Int? {
    guard start < end, input[start].isASCIIAlphanumeric, input[start] > UInt8(ascii: "9") else { return nil }
    var position = start + 1
    while position < end, input[position].isSchemeByte { position += 1 }
    return position < end && input[position] == UInt8(ascii: ":") ? position : nil
  }

  /// Writes path, query and fragment.
  private mutating func parseRest(_ input: Span<UInt8>, _ start: Int, _ end: Int) {
    var pathEnd = start
    while pathEnd < end, input[pathEnd] != UInt8(ascii: "?"), input[pathEnd] != UInt8(ascii: "#") {
      pathEnd += 1
    }
    layout.pathStart = UInt32(clamping: output.count)
    if isSlash(input, start, pathEnd) {
      writePath(input, start, pathEnd)
    } else if isSpecial {
      output.append(UInt8(ascii: "/"))
    } else {
      for position in start..<pathEnd { write(input[position], allowed: input[position].isURLQueryByte) }
    }
    layout.pathEnd = UInt32(clamping: output.count)
    var position = pathEnd
    if position < end, input[position] == UInt8(ascii: "?") {
      output.append(UInt8(ascii: "?"))
      position += 1
      while position < end, input[position] != UInt8(ascii: "#") {
        write(input[position], allowed: input[position].isURLQueryByte)
        position += 1
      }
    }
    layout.queryEnd = UInt32(clamping: output.count)
    guard position < end else { return }
    output.append(UInt8(ascii: "#"))
    position += 1
    while position < end {
      write(input[position], allowed: input[position].isURLQueryByte)
      position += 1
    }
  }

  /// Writes a path that begins with a slash, its dot segments resolved (RFC 3986 section 5.2.4; `%2e` is a
  /// dot too).
  private mutating func writePath(_ input: Span<UInt8>, _ start: Int, _ end: Int) {
    let pathStart = output.count
    var position = start
    while position < end {
      let segmentStart = position + 1
      var segmentEnd = segmentStart
      while segmentEnd < end, !isSlash(input, segmentEnd, end) { segmentEnd += 1 }
      switch dotCount(input, segmentStart, segmentEnd) {
      case 1:
        if segmentEnd == end { output.append(UInt8(ascii: "/")) }
      case 2:
        while output.count > pathStart, output.removeLast() != UInt8(ascii: "/") {}
        if segmentEnd == end { output.append(UInt8(ascii: "/")) }
      default:
        output.append(UInt8(ascii: "/"))
        for index in segmentStart..<segmentEnd { write(input[index], allowed: input[index].isURLPathByte) }
      }
      position = segmentEnd
    }
    if output.count == pathStart { output.append(UInt8(ascii: "/")) }
    guard !layout.hasAuthority, output.count > pathStart + 1, output[pathStart + 1] == UInt8(ascii: "/")
    else { return }
    // Without a host a path that begins with '//' would be read as one: the standard's '/.' keeps them apart.
    output.insert(contentsOf: [UInt8(ascii: "/"), UInt8(ascii: ".")], at: pathStart)
    layout.pathStart = UInt32(clamping: pathStart + 2)
  }

  /// 1 or 2 when the segment is `.` or `..` in any spelling, else 0.
  private func dotCount(_ input: Span<UInt8>, _ start: Int, _ end: Int) -> Int {
    guard end - start <= 6 else { return 0 }
    var dots = 0
    var position = start
    while position < end {
      if input[position] == UInt8(ascii: ".") {
        position += 1
      } else if percentEscape(in: input, at: position, before: end) == UInt8(ascii: ".") {
        position += 3
      } else {
        return 0
      }
      dots += 1
    }
    return dots <= 2 ? dots : 0
  }

  /// Writes a byte as it is or, when it is not allowed at its place, percent-encoded.
  @inline(__always) mutating func write(_ byte: UInt8, allowed: Bool) {
    if allowed { output.append(byte) } else { output.appendPercentEncoded(byte) }
  }
}

extension HTTPURL {
  /// The port of a scheme in lower case that names a host by nature, or nil for any other.
  static func defaultPort(ofScheme scheme: Span<UInt8>) -> UInt16? {
    guard scheme.count <= 5 else { return nil }
    var spelled: UInt64 = 0
    for index in scheme.indices { spelled = spelled << 8 | UInt64(scheme[index]) }
    switch spelled {
    case 0x68_7474_70: return 80  // http
    case 0x6874_7470_73: return 443  // https
    case 0x7773: return 80  // ws
    case 0x77_7373: return 443  // wss
    case 0x66_7470: return 21  // ftp
    default: return nil
    }
  }
}
