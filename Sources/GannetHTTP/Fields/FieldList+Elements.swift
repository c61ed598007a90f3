extension FieldList {
  /// Whether a field of this name holds `token` (ASCII, in lower case) as an element of its comma-separated list,
  /// in any case (RFC 9110 section 5.6.1).
  public func hasToken(_ token: String, in name: String) -> Bool {
    var found = false
    forEachElement(of: name) { element, _ in found = found || element.equalsIgnoringCase(token) }
    return found
  }

  /// Calls `body` with each element of the comma-separated lists in the fields of this name, in order, without the
  /// blanks around it, and where it began in the input that was decoded. Commas in quotes separate too: for lists
  /// of tokens and numbers. Empty elements are passed.
  func forEachElement<Failure: Error>(
    of name: String, _ body: (Span<UInt8>, Int64) throws(Failure) -> Void
  ) throws(Failure) {
    var index = firstIndex(named: name)
    while let position = index {
      let entry = entries[position]
      let value = bytes.span.extracting(Int(entry.valueStart)..<Int(entry.valueEnd))
      var start = 0
      while start <= value.count {
        var end = start
        while end < value.count, value[end] != .comma { end += 1 }
        let element = value.blanksTrimmed(start..<end)
        try body(value.extracting(element), Int64(entry.inputOffset) + Int64(element.lowerBound))
        start = end + 1
      }
      index = firstIndex(named: name, from: position + 1)
    }
  }
}

extension Span where Element == UInt8 {
  /// `range` without the blanks at its ends.
  func blanksTrimmed(_ range: Range<Int>) -> Range<Int> {
    var start = range.lowerBound
    var end = range.upperBound
    while start < end, self[start].isBlank { start += 1 }
    while start < end, self[end - 1].isBlank { end -= 1 }
    return start..<end
  }
}
