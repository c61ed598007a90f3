package import GannetHTTP

/// What the `Cache-Control` fields of a request or a response say to a private cache (RFC 9111 section 5.2).
///
/// Directives that are for shared caches alone (`s-maxage`, `proxy-revalidate`) and unknown ones are passed over. A
/// `no-cache` or `private` that names fields counts as `no-cache` or nothing. Of several values of one directive the
/// strictest counts; one that is no number counts as 0, so that what is not understood is not reused.
package struct CacheDirectives: Hashable, Sendable {
  package var noStore = false
  package var noCache = false
  package var mustRevalidate = false
  package var isPublic = false
  package var isPrivate = false
  package var onlyIfCached = false
  /// Seconds.
  package var maxAge: Int64?
  /// Seconds; `unlimited` when any staleness is welcome.
  package var maxStale: Int64?
  /// Seconds.
  package var minFresh: Int64?

  /// The largest number of seconds, which stands for all that is larger (RFC 9111 section 1.2.2).
  package static let unlimited: Int64 = 1 << 31

  /// Reads every `Cache-Control` field; a request's `Pragma: no-cache` counts where there is none (section 5.4).
  package init(_ fields: FieldList, ofRequest: Bool = false) {
    var next = fields.firstIndex(named: "Cache-Control")
    if next == nil, ofRequest, fields.hasToken("no-cache", in: "Pragma") { noCache = true }
    while let index = next {
      fields.withValueBytes(at: index) { read($0) }
      next = fields.firstIndex(named: "Cache-Control", from: index + 1)
    }
  }

  private mutating func read(_ value: Span<UInt8>) {
    var position = 0
    while position < value.count {
      let name = CacheDirectives.token(in: value, at: &position)
      var argument: Range<Int>?
      CacheDirectives.skipBlanks(in: value, at: &position)
      if position < value.count, value[position] == UInt8(ascii: "=") {
        position += 1
        CacheDirectives.skipBlanks(in: value, at: &position)
        argument = CacheDirectives.argument(in: value, at: &position)
      }
      take(value.extracting(name), hasArgument: argument != nil, CacheDirectives.seconds(value, argument))
      // What does not belong there goes with its directive.
      while position < value.count, value[position] != UInt8(ascii: ",") { position += 1 }
      position += 1
    }
  }

  private mutating func take(_ name: Span<UInt8>, hasArgument: Bool, _ seconds: Int64?) {
    switch name.count {
    case 6 where name.equalsIgnoringCase("public"): isPublic = true
    case 7 where name.equalsIgnoringCase("private"): isPrivate = true
    case 7 where name.equalsIgnoringCase("max-age"): maxAge = min(maxAge ?? .max, seconds ?? 0)
    case 8 where name.equalsIgnoringCase("no-store"): noStore = true
    case 8 where name.equalsIgnoringCase("no-cache"): noCache = true
    case 9 where name.equalsIgnoringCase("max-stale"):
      let most = hasArgument ? seconds ?? 0 : CacheDirectives.unlimited
      maxStale = min(maxStale ?? .max, most)
    case 9 where name.equalsIgnoringCase("min-fresh"):
      minFresh = max(minFresh ?? 0, seconds ?? CacheDirectives.unlimited)
    case 14 where name.equalsIgnoringCase("only-if-cached"): onlyIfCached = true
    case 15 where name.equalsIgnoringCase("must-revalidate"): mustRevalidate = true
    default: break
    }
  }

  // MARK: Syntax

  private static func isBlank(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

  private static func skipBlanks(in value: Span<UInt8>, at position: inout Int) {
    while position < value.count, isBlank(value[position]) { position += 1 }
  }

  private static func token(in value: Span<UInt8>, at position: inout Int) -> Range<Int> {
    while position < value.count, isBlank(value[position]) || value[position] == UInt8(ascii: ",") {
      position += 1
    }
    let start = position
    while position < value.count, !endsToken(value[position]) { position += 1 }
    return start..<position
  }

  private static func endsToken(_ byte: UInt8) -> Bool {
    isBlank(byte) || byte == UInt8(ascii: ",") || byte == UInt8(ascii: "=")
  }

  /// A token, or what stands between quotes.
  private static func argument(in value: Span<UInt8>, at position: inout Int) -> Range<Int> {
    guard position < value.count, value[position] == UInt8(ascii: "\"") else {
      let start = position
      while position < value.count, !endsToken(value[position]) { position += 1 }
      return start..<position
    }
    position += 1
    let start = position
    while position < value.count, value[position] != UInt8(ascii: "\"") {
      position += value[position] == UInt8(ascii: "\\") ? 2 : 1
    }
    position = min(position, value.count)
    let end = position
    if position < value.count { position += 1 }
    return start..<end
  }

  /// Digits as a number of seconds, `unlimited` at most; nil when it is something else.
  static func seconds(_ text: Span<UInt8>, _ range: Range<Int>?) -> Int64? {
    guard let range, !range.isEmpty else { return nil }
    var number: Int64 = 0
    for index in range {
      guard UInt8(ascii: "0")...UInt8(ascii: "9") ~= text[index] else { return nil }
      number = min(unlimited, number * 10 + Int64(text[index] - UInt8(ascii: "0")))
    }
    return number
  }
}
