/// The rows of the field value suites on which we differ on purpose.
enum HeaderDifferences {
  typealias Table = [(reason: String, ids: [String])]

  /// The ids `prefix` + n for each n of the ranges.
  private static func ids(_ prefix: String, _ ranges: ClosedRange<Int>...) -> [String] {
    ranges.flatMap { range in range.map { "\(prefix)\($0)" } }
  }

  private static let noEscapes =
    "percent escapes and encoded words (RFC 2047) in filename are text: RFC 6266 has neither"
  private static let noContinuations = "filename*0 and so on (RFC 2231) are not of RFC 6266 and RFC 8187"

  static let chromiumDisposition: Table = [
    (noEscapes, ids("chromium/filename/", 9...9, 15...26, 31...39)),
    (noEscapes, ids("chromium/tc2231/", 22...22, 24...24, 27...27)),
    ("blanks in a quoted name are kept as they are", ["chromium/filename/14"]),
    (
      "no charset but UTF-8 and Latin-1: bytes that are not UTF-8 are Latin-1",
      ids("chromium/filename/", 29...30, 53...54, 57...58)
        + ids("chromium/tc2231/", 20...20, 26...26, 31...31)
    ),
    ("a name is not brought into a normal form", ["chromium/filename/65"]),
    (
      "wrong parameters are passed, what is readable counts",
      ids("chromium/tc2231/", 35...35, 38...40, 42...42)
    ),
  ]

  static let firefoxDisposition: Table = [
    (
      noContinuations,
      ids("firefox/MIME_params/", 8...11, 14...18, 20...21, 23...24, 29...34, 68...69)
    ),
    (noEscapes, ids("firefox/MIME_params/", 42...43)),
    ("a parameter without a value is none", ["firefox/MIME_params/41"]),
    (
      "an extended value is charset'language'text without quotes, in UTF-8 or Latin-1 without controls, or not read",
      ids("firefox/MIME_params/", 46...46, 51...55, 57...57, 63...63)
    ),
    (
      "NUL is a byte of the text there, here a field with it is refused", ids("firefox/MIME_params/", 76...79)
    ),
    ("a value without quotes ends at the semicolon", ["firefox/MIME_params/71"]),
    (
      "Latin-1 is read, as RFC 6266 asks; blanks are taken in an extended value",
      ids("firefox/rfc5987/", 4...4, 8...8)
    ),
  ]

  static let chromiumFilenames: Table = [
    (
      "extensions of Windows' and Chrome's own types, and changed extensions",
      [
        "chromium/safe-name/2", "chromium/safe-name/18", "chromium/generation/46", "chromium/generation/48",
      ]
    ),
    (
      "names that mean something to Windows only are safe here",
      ids("chromium/safe-name/", 9...12, 14...15) + ids("chromium/generation/", 28...31, 34...38)
    ),
    ("not http: its URL has no path or host of ours", ids("chromium/selection/", 11...11, 13...13, 24...28)),
    (
      "a name that the page gives or a default is not the response's",
      ids("chromium/selection/", 15...15, 18...18, 30...30)
        + ids("chromium/generation/", 18...18, 23...23, 25...27, 32...32, 49...49)
    ),
    (noEscapes, ids("chromium/selection/", 16...16, 19...19, 23...23, 37...37, 39...40, 42...42)),
    (noEscapes, ids("chromium/generation/", 10...10, 56...56)),
    ("no charset but UTF-8 and Latin-1", ids("chromium/selection/", 21...21, 29...29, 34...34)),
    (
      "of a path in a name only the last segment is taken, RFC 6266 section 4.3",
      ids("chromium/generation/", 3...7)
    ),
    (
      "dots and blanks at the end are dropped, not replaced",
      ids("chromium/generation/", 15...17, 21...21, 24...24)
    ),
    ("a name is not brought into a normal form", ["chromium/generation/54"]),
  ]

  static let goMediaTypes: Table = [
    (
      noContinuations + "; media types have no extended values here",
      ids("go/media-type/", 7...9, 65...68, 70...70, 73...73, 79...79)
    ),
    (
      "a backslash in quotes escapes any byte, RFC 9110 section 5.6.4",
      ids("go/media-type/", 15...15, 28...28, 77...78)
    ),
    (
      "wrong parameters are passed, what is readable counts",
      ids("go/media-type/", 33...44, 46...46, 48...48) + ids("go/bad-media-type/", 1...1, 5...11)
    ),
    ("an extended value has no quotes, RFC 8187 section 3.2.1", ["go/media-type/59"]),
  ]

  static let chromiumMediaTypes: Table = [
    (
      "blanks may stand before the =",
      ids("chromium/content-type/", 3...3, 7...7) + ids("chromium/parse-mime-type/", 14...14, 18...18)
    ),
    ("a type and a subtype are tokens", ids("chromium/parse-mime-type/", 10...10, 27...33)),
    ("a type and a subtype are tokens; the wildcard is one", ids("chromium/content-type/", 32...33)),
  ]

  static let curlDates: Table = [
    (
      "a date has a day, a month, a year and hh:mm:ss, day first",
      ids("curl/date/", 14...19, 28...29, 92...93, 103...107, 128...128)
    ),
    (
      "no other separators than blanks, commas and dashes",
      ids("curl/date/", 35...35, 47...47, 70...76, 177...177)
    ),
    (
      "zones have no names but GMT, UTC, UT and Z, in any case",
      ids("curl/date/", 20...20, 22...24, 143...151, 153...167)
    ),
    ("nothing follows the zone", ids("curl/date/", 52...55)),
    ("a month's name may be whole, in any order", ids("curl/date/", 85...86)),
    ("a day has two digits at most, and is in its month", ids("curl/date/", 88...88, 123...125)),
    ("any second of the years 1 to 9999 is a date", ids("curl/date/", 111...111, 117...118, 176...176)),
  ]

  static let chromiumHeads: Table = [
    ("white space before a colon skips the line", ["chromium/parse/0", "chromium/parse/3"]),
    ("not HTTP/1.x", ids("chromium/parse/", 4...4, 8...8, 13...13) + ids("chromium/keep-alive/", 0...1)),
    ("a Content-Length that is no number is an error", ids("chromium/content-length/", 3...7)),
    ("there CR is a byte of the value, here CRLF ends the line", ["chromium/content-length/16"]),
    ("Proxy-Connection may end a connection, not keep it", ["chromium/keep-alive/11"]),
    ("close wins over keep-alive", ids("chromium/keep-alive/", 23...23, 25...25)),
  ]
}
