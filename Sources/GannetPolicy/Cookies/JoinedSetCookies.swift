import GannetHTTP

/// Takes `Set-Cookie` values apart that were joined by commas, as dictionaries of fields have them.
///
/// Dates and values hold commas of their own, so this is a guess, which a list of fields needs not: a comma parts two
/// cookies where a name and `=` follow it, and it does not stand in quotes.
package enum JoinedSetCookies {
  /// The places of the values in `text`; linear in its length.
  package static func split(_ text: Span<UInt8>) -> [Range<Int>] {
    var places: [Range<Int>] = []
    var start = 0
    var position = 0
    // Where the quotes end that `position` is in; a `;` ends what no quote does.
    var quoteEnd = 0
    while position < text.count {
      switch text[position] {
      case .quote where position >= quoteEnd:
        quoteEnd = end(ofQuoteAt: position, in: text)
      case .comma where position >= quoteEnd:
        if let next = nameStart(after: position, in: text) {
          places.append(start..<position)
          (start, position) = (next, next)
          continue
        }
      default: break
      }
      position += 1
    }
    places.append(start..<text.count)
    return places
  }

  /// Behind the closing quote, or behind the opening one when there is no other before the next `;`.
  private static func end(ofQuoteAt opening: Int, in text: Span<UInt8>) -> Int {
    var position = opening + 1
    while position < text.count, text[position] != .semicolon {
      if text[position] == .quote { return position + 1 }
      position += 1
    }
    return opening + 1
  }

  /// Where a name begins behind the comma, if one does and `=` follows it.
  private static func nameStart(after comma: Int, in text: Span<UInt8>) -> Int? {
    var start = comma + 1
    while start < text.count, text[start].isBlank { start += 1 }
    var end = start
    while end < text.count, text[end].isToken { end += 1 }
    guard end > start else { return nil }
    while end < text.count, text[end].isBlank { end += 1 }
    return end < text.count && text[end] == .equals ? start : nil
  }
}
