/// Reads a date from its words, whose shapes tell what they are; each thing may come once.
struct HTTPDateParser {
  private var day: Int64?
  private var month: Int64?
  private var year: Int64?
  private var secondOfDay: Int64?
  private var zoneSeconds: Int64?
  private var hasWeekday = false

  /// The seconds since 1970 that `text` means, or nil.
  mutating func parse(_ text: String) -> Int64? {
    guard text.utf8.count <= 64 else { return nil }
    for word in text.utf8.split(whereSeparator: { $0.isBlank || $0 == .comma }) {
      guard take(Array(word)) else { return nil }
    }
    guard let day, let month, let year, let secondOfDay, year >= 1, day >= 1,
      day <= HTTPDate.length(ofMonth: month, year: year)
    else { return nil }
    return HTTPDate.days(year: year, month: month, day: day) * 86_400 + secondOfDay - (zoneSeconds ?? 0)
  }

  private mutating func take(_ word: [UInt8]) -> Bool {
    guard let first = word.first else { return true }
    if first == 0x2B || first == 0x2D { return takeOffset(word) }
    if word.contains(.colon) { return takeTime(word) }
    // `06-Nov-94`
    if word.contains(0x2D) {
      return word.split(separator: 0x2D, omittingEmptySubsequences: false).allSatisfy {
        !$0.isEmpty && takePart($0)
      }
    }
    return takePart(word[...])
  }

  private mutating func takePart(_ word: ArraySlice<UInt8>) -> Bool {
    guard let first = word.first else { return false }
    return first.isDigit ? takeNumber(word) : takeName(ParameterParser.lowercased(word))
  }

  private mutating func takeNumber(_ word: ArraySlice<UInt8>) -> Bool {
    guard let number = Self.number(word, atMost: 4) else { return false }
    switch word.count {
    case 1 where day == nil, 2 where day == nil:
      day = number
    case 2 where year == nil: year = number < 70 ? 2000 + number : 1900 + number
    case 4 where year == nil: year = number
    default: return false
    }
    return true
  }

  private mutating func takeName(_ word: String) -> Bool {
    switch word {
    case "gmt", "utc", "ut", "z":
      guard zoneSeconds == nil else { return false }
      zoneSeconds = 0
      return true
    default: break
    }
    if let index = Self.monthNames.firstIndex(where: { word == $0 || word == $0.prefix(3) }) {
      guard month == nil else { return false }
      month = Int64(index) + 1
      return true
    }
    guard !hasWeekday, Self.weekdayNames.contains(where: { word == $0 || word == $0.prefix(3) }) else {
      return false
    }
    hasWeekday = true
    return true
  }

  private mutating func takeTime(_ word: [UInt8]) -> Bool {
    let parts = word.split(separator: .colon, omittingEmptySubsequences: false)
    guard secondOfDay == nil, parts.count == 3, let hour = Self.number(parts[0], atMost: 2),
      let minute = Self.number(parts[1], atMost: 2), let second = Self.number(parts[2], atMost: 2),
      hour < 24, minute < 60, second <= 60  // 60: a leap second
    else { return false }
    secondOfDay = hour * 3600 + minute * 60 + second
    return true
  }

  private mutating func takeOffset(_ word: [UInt8]) -> Bool {
    guard zoneSeconds == nil, word.count == 5, let number = Self.number(word[1...], atMost: 4),
      number % 100 < 60,
      number < 2400
    else { return false }
    let seconds = number / 100 * 3600 + number % 100 * 60
    zoneSeconds = word[0] == 0x2D ? -seconds : seconds
    return true
  }

  private static func number(_ word: ArraySlice<UInt8>, atMost digits: Int) -> Int64? {
    guard !word.isEmpty, word.count <= digits, word.allSatisfy({ $0.isDigit }) else { return nil }
    return word.reduce(0) { $0 * 10 + Int64($1 - 0x30) }
  }

  private static let weekdayNames = [
    "sunday", "monday", "tuesday", "wednesday", "thursday", "friday", "saturday",
  ]
  private static let monthNames = [
    "january", "february", "march", "april", "may", "june", "july", "august", "september", "october",
    "november",
    "december",
  ]
}
