/// A point in time as HTTP fields give it, in whole seconds (RFC 9110 section 5.6.7).
public struct HTTPDate: Hashable, Comparable, Sendable {
  /// Seconds since 1970-01-01 00:00:00 UTC, leap seconds not counted.
  public let secondsSince1970: Int64

  /// The first and the last second that the format can write: of the years 1 and 9999.
  public static let range: ClosedRange<Int64> = -62_135_596_800...253_402_300_799

  /// Makes a date; one past `range` becomes its nearer end.
  public init(secondsSince1970: Int64) {
    self.secondsSince1970 = min(max(secondsSince1970, Self.range.lowerBound), Self.range.upperBound)
  }

  /// Reads any of the three formats: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT`,
  /// `Sun Nov  6 08:49:37 1994`. Returns nil for anything else.
  ///
  /// Tolerated, as servers write them: case, a missing, wrong or long weekday, one-digit numbers, blanks and
  /// dashes in any number, a missing zone, `UTC`, `UT`, `Z` or an offset such as `+0200`. A year of two digits is
  /// 1970 to 2069.
  public init?(_ text: String) {
    var parser = HTTPDateParser()
    guard let seconds = parser.parse(text) else { return nil }
    self.init(secondsSince1970: seconds)
  }

  /// The date in the preferred format: `Sun, 06 Nov 1994 08:49:37 GMT`.
  public var text: String {
    let (days, second) = secondsSince1970.quotientAndRemainderRoundingDown(by: 86_400)
    let (year, month, day) = Self.civil(fromDays: days)
    let weekday = Self.weekdays[Int((days + 4).quotientAndRemainderRoundingDown(by: 7).remainder)]
    return weekday + ", " + Self.padded(day) + " " + Self.months[Int(month - 1)] + " "
      + Self.padded(year, to: 4) + " " + Self.padded(second / 3600) + ":" + Self.padded(second / 60 % 60)
      + ":"
      + Self.padded(second % 60) + " GMT"
  }

  /// Whether the first is earlier.
  public static func < (left: HTTPDate, right: HTTPDate) -> Bool {
    left.secondsSince1970 < right.secondsSince1970
  }

  static let weekdays = ["Sun", "Mon", "Tue", "Wed", "Thu", "Fri", "Sat"]
  static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]

  private static func padded(_ number: Int64, to width: Int = 2) -> String {
    let digits = String(number)
    return String(repeating: "0", count: max(0, width - digits.count)) + digits
  }

  /// The days from 1970-01-01 to the first of a month (1 to 12) of the Gregorian calendar.
  package static func days(year: Int64, month: Int64, day: Int64) -> Int64 {
    // Years are counted from March, so that the leap day is the last of its year.
    let shifted = month > 2 ? year : year - 1
    let monthFromMarch = month > 2 ? month - 3 : month + 9
    let leapDays =
      shifted.quotientAndRemainderRoundingDown(by: 4).quotient
      - shifted.quotientAndRemainderRoundingDown(by: 100).quotient
      + shifted.quotientAndRemainderRoundingDown(by: 400).quotient
    // 719_468 days from 0000-03-01 to 1970-01-01.
    return shifted * 365 + leapDays + (monthFromMarch * 153 + 2) / 5 + day - 1 - 719_468
  }

  /// Days of a month.
  package static func length(ofMonth month: Int64, year: Int64) -> Int64 {
    let next =
      month == 12 ? days(year: year + 1, month: 1, day: 1) : days(year: year, month: month + 1, day: 1)
    return next - days(year: year, month: month, day: 1)
  }

  private static func civil(fromDays days: Int64) -> (year: Int64, month: Int64, day: Int64) {
    // Not past the year, and at most some twenty before it.
    var year = 1970 + days.quotientAndRemainderRoundingDown(by: days < 0 ? 365 : 366).quotient
    while Self.days(year: year + 1, month: 1, day: 1) <= days { year += 1 }
    var month: Int64 = 1
    while month < 12, Self.days(year: year, month: month + 1, day: 1) <= days { month += 1 }
    return (year, month, days - Self.days(year: year, month: month, day: 1) + 1)
  }
}

extension Int64 {
  /// The quotient rounded toward minus infinity, and the remainder, which is then not negative.
  fileprivate func quotientAndRemainderRoundingDown(by divisor: Int64) -> (quotient: Int64, remainder: Int64)
  {
    let (quotient, remainder) = quotientAndRemainder(dividingBy: divisor)
    return remainder < 0 ? (quotient - 1, remainder + divisor) : (quotient, remainder)
  }
}
