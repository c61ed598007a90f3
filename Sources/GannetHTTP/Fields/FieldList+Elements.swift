extension FieldList {
  /// Whether a field of this name holds `token` (ASCII, in lower case) as an element of its comma-separated list,
  /// in any case (RFC 9110 section 5.6.1).
  public func hasToken(_ token: String, in name: String) -> Bool {
    var found = false
    forEachElement(of: name) { element, _, _ in found = found || element.equalsIgnoringCase(token) }
    return found
  }

  /// Calls `body` with each element of the comma-separated lists in the fields of this name, in order, without the
  /// blanks around it, where it began in the input that was decoded, and the comma that ends it, if one does. Commas in quotes separate too: for lists
  /// of tokens and numbers. Empty elements are passed.
  func forEachElement<Failure: Error>(
    of name: String, _ body: (Span<UInt8>, Int64, UInt8?) throws(Failure) -> Void
  ) throws(Failure) {
    var index = firstIndex(named: name)
    while let position = index {
      let places = places(at: position)
      let value = storage.span.extracting(places.value)
      var start = 0
      while start <= value.count {
        var end = start
        while end < value.count, value[end] != .comma { end += 1 }
        let element = value.blanksTrimmed(start..<end)
        try body(
          value.extracting(element),
          inputOffset(of: places.value.lowerBound + element.lowerBound, in: places),
          end < value.count ? .comma : nil)
        start = end + 1
      }
      index = firstIndex(named: name, from: position + 1)
    }
  }
}

extension Span where Element == UInt8 {
  /// `range` without the blanks at its ends.
  package func blanksTrimmed(_ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, self[start].isBlank { start += 1 }
    while start < end, self[end - 1].isBlank { end -= 1 }
    return start..<end
  }
}
