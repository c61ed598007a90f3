extension HTTPURL {
  /// The URL that a reference, such as the value of a `Location` field, means when it is read here, in
  /// canonical form (RFC 3986 section 5).
  ///
  /// As servers force it: spaces and control characters around it and tabs and line ends in it are dropped,
  /// other bytes that a URL may not hold (UTF-8, Latin-1, controls) are percent-encoded one by one, `\` is
  /// read as `/`, any number of slashes may announce the host, and a reference that repeats the scheme of
  /// this URL without `//` is relative. The fragment is the reference's own, see `inheritingFragment(from:)`.
  /// An error's offset is the byte of `reference`. A host that is not ASCII is encoded with `encoder`, and refused
  /// where there is none.
  public func resolving(
    _ reference: Span<UInt8>, encodingHostsWith encoder: HostNameEncoder? = nil
  ) throws(URLSyntaxError) -> HTTPURL {
    var start = 0
    var end = reference.count
    while start < end, reference[start] <= 0x20 { start += 1 }
    while start < end, reference[end - 1] <= 0x20 { end -= 1 }
    var joined: [UInt8] = []
    joined.reserveCapacity(end - start + canonicalText.utf8.count)
    for position in start..<end where !HTTPURL.isDropped(reference[position]) {
      joined.append(reference[position])
    }
    let (kept, skipped) = try basis(for: joined.span)
    joined.replaceSubrange(0..<skipped, with: kept)
    var parser = URLParser(by: .peer, encodingHostsWith: encoder)
    do {
      try parser.parse(joined.span)
    } catch {
      throw error.at(HTTPURL.place(of: error.offset - kept.count + skipped, in: reference, from: start))
    }
    let text = String(decoding: parser.output, as: UTF8.self)
    return HTTPURL(text: text, canonicalText: text, layout: parser.layout)
  }

  /// The same of a text.
  public func resolving(
    _ reference: String, encodingHostsWith encoder: HostNameEncoder? = nil
  ) throws(URLSyntaxError) -> HTTPURL {
    try resolving(reference.utf8.span, encodingHostsWith: encoder)
  }

  /// What of this URL goes before the reference, and how many bytes of the reference are left out for it.
  private func basis(for reference: Span<UInt8>) throws(URLSyntaxError) -> (kept: [UInt8], skipped: Int) {
    let special = isSpecial
    var skipped = 0
    if let colon = URLParser.schemeEnd(in: reference, from: 0, to: reference.count) {
      let rest = reference.extracting((colon + 1)...)
      guard special, isOwnScheme(reference.extracting(..<colon)), !(isSlash(rest, 0) && isSlash(rest, 1))
      else {
        return ([], 0)
      }
      skipped = colon + 1
    }
    let rest = reference.extracting(skipped...)
    if !rest.isEmpty, rest[0] == UInt8(ascii: "#") { return (prefix(layout.queryEnd), skipped) }
    let path = utf8(layout.pathStart, layout.pathEnd)
    guard layout.hasAuthority || path.first == UInt8(ascii: "/") else {
      throw URLSyntaxError(.notABase, at: 0, "a relative reference to a URL without a hierarchy")
    }
    if rest.isEmpty { return (prefix(layout.queryEnd), skipped) }
    if isSlash(rest, 0) {
      return (prefix(isSlash(rest, 1) ? layout.schemeEnd + 1 : layout.pathStart), skipped)
    }
    if rest[0] == UInt8(ascii: "?") { return (prefix(layout.pathEnd), skipped) }
    guard let slash = path.lastIndex(of: UInt8(ascii: "/")) else {
      return (prefix(layout.pathStart) + [UInt8(ascii: "/")], skipped)
    }
    return (prefix(layout.pathStart) + path[...slash], skipped)
  }

  private func prefix(_ end: UInt32) -> [UInt8] { Array(utf8(0, end)) }

  private var isSpecial: Bool {
    HTTPURL.defaultPort(ofScheme: canonicalText.utf8.span.extracting(..<Int(layout.schemeEnd))) != nil
  }

  private func isOwnScheme(_ spelled: Span<UInt8>) -> Bool {
    guard spelled.count == Int(layout.schemeEnd) else { return false }
    let own = canonicalText.utf8.span
    for index in spelled.indices where spelled[index].asciiLowercased != own[index] { return false }
    return true
  }

  private func isSlash(_ reference: Span<UInt8>, _ position: Int) -> Bool {
    guard position < reference.count else { return false }
    return reference[position] == UInt8(ascii: "/")
      || (isSpecial && reference[position] == UInt8(ascii: "\\"))
  }

  private static func isDropped(_ byte: UInt8) -> Bool { byte == 0x09 || byte == 0x0A || byte == 0x0D }

  /// The place in `reference` of the byte that is the `count`th of those kept.
  private static func place(of count: Int, in reference: Span<UInt8>, from start: Int) -> Int {
    var left = max(count, 0)
    var position = start
    while position < reference.count {
      if !isDropped(reference[position]) {
        if left == 0 { break }
        left -= 1
      }
      position += 1
    }
    return position
  }
}
