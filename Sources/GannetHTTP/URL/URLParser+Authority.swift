extension URLParser {
  /// Writes user information, host and port, from after the `//`; returns the place of the path.
  mutating func parseAuthority(_ input: Span<UInt8>, _ start: Int, _ end: Int) throws(URLSyntaxError) -> Int {
    var authorityEnd = start
    var at: Int?
    while authorityEnd < end, !endsAuthority(input[authorityEnd]) {
      if input[authorityEnd] == UInt8(ascii: "@") { at = authorityEnd }
      authorityEnd += 1
    }
    writeUserInfo(input, start, at ?? start)
    let hostStart = at.map { $0 + 1 } ?? start
    let hostEnd: Int
    if hostStart < authorityEnd, input[hostStart] == UInt8(ascii: "[") {
      hostEnd = try parseBracketed(input, hostStart, authorityEnd)
    } else {
      var position = hostStart
      while position < authorityEnd, input[position] != UInt8(ascii: ":") { position += 1 }
      hostEnd = position
      try parseName(input, hostStart, hostEnd, needed: isSpecial || hostEnd < authorityEnd || at != nil)
    }
    try parsePort(input, hostEnd, authorityEnd)
    return authorityEnd
  }

  private func endsAuthority(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#"): true
    case UInt8(ascii: "\\"): isSpecial
    default: false
    }
  }

  /// Writes `user:password@`; `end` is the place of the `@`. An empty password is left out, and so is all of
  /// it when both are empty.
  private mutating func writeUserInfo(_ input: Span<UInt8>, _ start: Int, _ end: Int) {
    var colon = start
    while colon < end, input[colon] != UInt8(ascii: ":") { colon += 1 }
    let begin = output.count
    for position in start..<colon { write(input[position], allowed: input[position].isURLWordByte) }
    layout.userEnd = UInt32(clamping: output.count)
    if colon + 1 < end {
      output.append(UInt8(ascii: ":"))
      for position in (colon + 1)..<end {
        write(input[position], allowed: input[position].isURLWordByte || input[position] == UInt8(ascii: ":"))
      }
    }
    layout.passwordEnd = UInt32(clamping: output.count)
    if output.count > begin { output.append(UInt8(ascii: "@")) }
  }

  /// Reads `:port` from `start` to `end`; writes it when it is not the default.
  private mutating func parsePort(_ input: Span<UInt8>, _ start: Int, _ end: Int) throws(URLSyntaxError) {
    guard start < end else { return }
    guard input[start] == UInt8(ascii: ":") else {
      throw URLSyntaxError(
        .badHost, byte: input[start], at: start, "only a port may follow the ']' of an address")
    }
    guard start + 1 < end else { return }
    var port = 0
    for position in (start + 1)..<end {
      let digit = input[position] &- UInt8(ascii: "0")
      guard digit < 10 else {
        throw URLSyntaxError(.badPort, byte: input[position], at: position, "the port is not a number")
      }
      port = port * 10 + Int(digit)
      guard port <= 65535 else {
        throw URLSyntaxError(.badPort, byte: input[position], at: position, "the port is above 65535")
      }
    }
    layout.explicitPort = UInt16(clamping: port)
    layout.port = UInt16(clamping: port)
    guard layout.port != defaultPort else { return }
    output.append(UInt8(ascii: ":"))
    output.append(contentsOf: String(port).utf8)
  }

  /// Reads a host that is not in brackets and writes it.
  private mutating func parseName(
    _ input: Span<UInt8>, _ start: Int, _ end: Int, needed: Bool
  ) throws(URLSyntaxError) {
    guard start < end || !needed else {
      throw URLSyntaxError(.noHost, at: start, "no host: a name or an address must follow '//'")
    }
    let hostStart = output.count
    var position = start
    // A non-ASCII character anywhere in it, and an angle bracket that one may still make a letter of.
    var firstBeyondASCII: Int?
    var firstBracket: (byte: UInt8, position: Int)?
    while position < end {
      var byte = input[position]
      var length = 1
      if isSpecial {
        if let escaped = percentEscape(in: input, at: position, before: end) {
          byte = escaped
          length = 3
        }
        if encoder != nil, byte == UInt8(ascii: "<") || byte == UInt8(ascii: ">") {
          firstBracket = firstBracket ?? (byte, position)
        } else {
          try refuseInName(byte, at: position)
          if byte >= 0x80, firstBeyondASCII == nil { firstBeyondASCII = position }
        }
        output.append(byte.asciiLowercased)
      } else {
        if byte.isForbiddenInHost {
          throw URLSyntaxError(.badHost, byte: byte, at: position, "no host has this character")
        }
        write(byte, allowed: byte.isURLWordByte)
      }
      position += length
    }
    if let firstBeyondASCII {
      try encodeName(from: hostStart, at: firstBeyondASCII)
    } else if let firstBracket {
      try refuseInName(firstBracket.byte, at: firstBracket.position)
    }
    if isSpecial, IPv4Text.isNumeric(output.span.extracting(hostStart...)) {
      guard let address = IPv4Text.parse(output.span.extracting(hostStart...)) else {
        throw URLSyntaxError(
          .badHost, byte: input[start], at: start, "the host ends in a number but is no IPv4 address")
      }
      output.removeSubrange(hostStart...)
      IPv4Text.append(address, to: &output)
      layout.hostKind = .ipv4
    }
    layout.hostStart = UInt32(clamping: hostStart)
    layout.hostEnd = UInt32(clamping: output.count)
    layout.zoneEnd = layout.hostEnd
  }

  private func refuseInName(_ byte: UInt8, at position: Int) throws(URLSyntaxError) {
    if byte >= 0x80, encoder == nil {
      throw URLSyntaxError(
        .nonASCIIHost, byte: byte, at: position,
        "the host is not ASCII: give it as xn--…, build Gannet with the trait IDN, or set HostNameEncoder.shared"
      )
    }
    if byte.isForbiddenInName {
      throw URLSyntaxError(.badHost, byte: byte, at: position, "no host has this character")
    }
  }

  /// Puts the ASCII form of the name that was written from `hostStart` in its place. Errors are at `position`.
  private mutating func encodeName(from hostStart: Int, at position: Int) throws(URLSyntaxError) {
    guard let encoder, let name = String(validating: output[hostStart...], as: UTF8.self) else {
      throw URLSyntaxError(
        .badHost, byte: output[hostStart...].first { $0 >= 0x80 }, at: position, "the host is not UTF-8")
    }
    let encoded: String
    do throws(HostNameEncoder.Failure) { encoded = try encoder.encode(name) } catch {
      throw URLSyntaxError(.badHost, at: position, "the host has no ASCII form: \(error.reason)")
    }
    // What was one character may have become several, `℀` the text `a/c`: the standard looks at them once more.
    guard !encoded.isEmpty, encoded.utf8.allSatisfy({ $0 < 0x80 && !$0.isForbiddenInName }) else {
      throw URLSyntaxError(
        .badHost, at: position, "the host's ASCII form, \"\(encoded)\", is none that a host may have")
    }
    output.replaceSubrange(hostStart..., with: encoded.utf8)
  }

  /// Reads `[address]` or `[address%25zone]` and writes it; returns the place after the bracket.
  private mutating func parseBracketed(
    _ input: Span<UInt8>, _ start: Int, _ end: Int
  ) throws(URLSyntaxError) -> Int {
    var addressEnd = start + 1
    while addressEnd < end, input[addressEnd] != UInt8(ascii: "]"), input[addressEnd] != UInt8(ascii: "%") {
      addressEnd += 1
    }
    guard let address = IPv6Text.parse(input.extracting((start + 1)..<addressEnd)) else {
      throw URLSyntaxError(.badHost, byte: input[start], at: start, "no IPv6 address in the brackets")
    }
    output.append(UInt8(ascii: "["))
    layout.hostKind = .ipv6
    layout.hostStart = UInt32(clamping: output.count)
    IPv6Text.append(address, to: &output)
    layout.hostEnd = UInt32(clamping: output.count)
    var position = addressEnd
    if position < end, input[position] == UInt8(ascii: "%") {
      position = try writeZone(input, position, end)
    }
    layout.zoneEnd = UInt32(clamping: output.count)
    guard position < end, input[position] == UInt8(ascii: "]") else {
      throw URLSyntaxError(
        .badHost, byte: position < end ? input[position] : nil, at: position,
        "the ']' of an IPv6 address is missing")
    }
    output.append(UInt8(ascii: "]"))
    return position + 1
  }

  /// Reads `%25zone`, or `%zone` as people write it, and writes it in the first form (RFC 6874).
  private mutating func writeZone(_ input: Span<UInt8>, _ start: Int, _ end: Int) throws(URLSyntaxError)
    -> Int
  {
    let escape = percentEscape(in: input, at: start, before: end)
    guard escape == nil || escape == UInt8(ascii: "%") else {
      throw URLSyntaxError(
        .badHost, byte: input[start], at: start, "an escape in an IPv6 address (a zone begins with '%25')")
    }
    var position = escape == nil ? start + 1 : start + 3
    let zoneStart = position
    output.append(contentsOf: "%25".utf8)
    while position < end, input[position].isASCIIAlphanumeric || isZoneMark(input[position]) {
      output.append(input[position])
      position += 1
    }
    guard position > zoneStart else {
      throw URLSyntaxError(.badHost, byte: input[start], at: start, "the zone of the IPv6 address is empty")
    }
    return position
  }

  private func isZoneMark(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "-") || byte == UInt8(ascii: ".") || byte == UInt8(ascii: "_")
      || byte == UInt8(ascii: "~")
  }
}
