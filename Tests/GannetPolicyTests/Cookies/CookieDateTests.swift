import GannetHTTP
import GannetPolicy
import Testing

/// Dates of cookies: RFC 6265bis section 5.1.1.
@Suite struct CookieDateTests {
  @Test(
    arguments: [
      ("Mon, 12-Sep-2109 23:59:59 GMT", "Thu, 12 Sep 2109 23:59:59 GMT"),
      ("09-Nov-99 23:12:40", "Tue, 09 Nov 1999 23:12:40 GMT"),
      ("09 Nov 70 1:2:3", "Mon, 09 Nov 1970 01:02:03 GMT"),
      ("09 Nov 69 1:2:3", "Sat, 09 Nov 2069 01:02:03 GMT"),
      ("Nov 9 1601 00:00:00", "Fri, 09 Nov 1601 00:00:00 GMT"),
      ("9th november, 1999th 23:12:40x", "Tue, 09 Nov 1999 23:12:40 GMT"),
      ("1999 nov 23:12:40 09", "Tue, 09 Nov 1999 23:12:40 GMT"),
      ("09 Nov 1600 00:00:00", nil), ("00 Nov 1999 00:00:00", nil), ("31 Nov 1999 00:00:00", nil),
      ("29 Feb 2000 00:00:00", "Tue, 29 Feb 2000 00:00:00 GMT"), ("29 Feb 1900 00:00:00", nil),
      ("32 Nov 1999 00:00:00", nil), ("09 Nov 1999 24:00:00", nil), ("09 Nov 1999 00:60:00", nil),
      ("09 Nov 1999 00:00:60", nil), ("09 Nov 1999 000:00:00", nil), ("09 Nov 12345 00:00:00", nil),
      ("09 Nov 1999", nil), ("09 1999 00:00:00", nil), ("Nov 1999 00:00:00", nil), ("09 Nov 00:00:00", nil),
      ("", nil), (":::", nil), ("1:2", nil), ("09 No 1999 00:00:00", nil),
    ] as [(String, String?)])
  func dates(_ text: String, _ date: String?) {
    #expect(CookieDate.parse(text.utf8.span).map { HTTPDate(secondsSince1970: $0).text } == date)
  }
}
