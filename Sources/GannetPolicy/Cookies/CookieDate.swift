import GannetHTTP

/// Reads the dates of `Expires` as user agents do, which is not as HTTP writes dates: words in any order, of which the
/// first that looks like a time, a day, a month and a year counts (RFC 6265bis section 5.1.1).
package enum CookieDate {
  /// The seconds since 1970 that `text` means, or nil. Linear in its length.
  package static func parse(_ text: Span<UInt8>) -> Int64? {
    var found = Parts()
    var position = 0
    while position < text.count {
      if isDelimiter(text[position]) {
        position += 1
        continue
      }
      var end = position
      while end < text.count, !isDelimiter(text[end]) { end += 1 }
      found.take(text.extracting(position..<end))
      position = end
    }
    return found.seconds
  }

  private static func isDelimiter(_ byte: UInt8) -> Bool {
    switch byte {
    case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
    default: false
    }
  }

  private struct Parts {
    var time: Int64?
    var day: Int64?
    var month: Int64?
    var year: Int64?

    /// Takes a word as the first thing it can be that is not there yet.
    mutating func take(_ word: Span<UInt8>) {
      if time == nil, let seconds = Parts.time(word) {
        time = seconds
      } else if day == nil, let number = Parts.number(word, digits: 1...2) {
        day = number.value
      } else if month == nil, let number = Parts.month(word) {
        month = number
      } else if year == nil, let number = Parts.number(word, digits: 2...4) {
        year = number.value
      }
    }

    var seconds: Int64? {
      guard let time, let day, let month, let given = year, time >= 0 else { return nil }
      let year = given < 70 ? given + 2000 : given < 100 ? given + 1900 : given
      guard year >= 1601, day >= 1, day <= HTTPDate.length(ofMonth: month, year: year) else { return nil }
      return HTTPDate.days(year: year, month: month, day: day) * 86_400 + time
    }

    /// The second of the day; -1 for a time that no day has, which still is one.
    private static func time(_ word: Span<UInt8>) -> Int64? {
      var parts: [Int64] = []
      var position = 0
      for index in 0..<3 {
        guard let part = number(word.extracting(position...), digits: 1...2) else { return nil }
        parts.append(part.value)
        position += part.count
        if index == 2 { break }
        guard position < word.count, word[position] == UInt8(ascii: ":") else { return nil }
        position += 1
      }
      guard parts[0] < 24, parts[1] < 60, parts[2] < 60 else { return -1 }
      return parts[0] * 3600 + parts[1] * 60 + parts[2]
    }

    /// The number that `word` begins with, when it has so many digits, whatever follows them.
    private static func number(
      _ word: Span<UInt8>, digits: ClosedRange<Int>
    ) -> (value: Int64, count: Int)? {
      var value: Int64 = 0
      var count = 0
      while count < word.count, word[count].isDigit {
        guard count < digits.upperBound else { return nil }
        value = value * 10 + Int64(word[count] - UInt8(ascii: "0"))
        count += 1
      }
      return count >= digits.lowerBound ? (value, count) : nil
    }

    /// The month, from 1, whose first three letters `word` begins with.
    private static func month(_ word: Span<UInt8>) -> Int64? {
      guard word.count >= 3 else { return nil }
      let letters = word.extracting(..<3)
      return months.firstIndex { letters.equalsIgnoringCase($0) }.map { Int64($0) + 1 }
    }

    private static let months = [
      "jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec",
    ]
  }
}
