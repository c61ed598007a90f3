import GannetHTTP
import Testing

@Suite("HTTP date")
struct HTTPDateTests {
  @Test(
    "read",
    arguments: [
      ("Sun, 06 Nov 1994 08:49:37 GMT", 784_111_777),
      ("Sunday, 06-Nov-94 08:49:37 GMT", 784_111_777),
      ("Sun Nov  6 08:49:37 1994", 784_111_777),
      ("sun, 6 nov 1994 8:49:37 gmt", 784_111_777),
      ("Mon,06 November 1994 08:49:37", 784_111_777),
      ("Sun, 06 Nov 1994 10:49:37 +0200", 784_111_777),
      ("Sun, 06 Nov 1994 08:19:37 -0030", 784_111_777),
      ("Thu, 01-Jan-1970 00:00:00 UTC", 0),
      ("Tue, 29 Feb 2000 00:00:00 GMT", 951_782_400),
      ("01 Jan 69 00:00:00", 3_124_224_000),
      ("01 Jan 70 00:00:00", 0),
      ("Fri, 31 Dec 9999 23:59:59 GMT", 253_402_300_799),
      ("Mon, 01 Jan 0001 00:00:00 GMT", -62_135_596_800),
      ("Sat, 31 Dec 2016 23:59:60 GMT", 1_483_228_800),
    ])
  func reads(text: String, seconds: Int) {
    #expect(HTTPDate(text)?.secondsSince1970 == Int64(seconds))
  }

  @Test(
    "refused",
    arguments: [
      "", "0", "-1", "now", "Sun, 06 Nov 1994", "08:49:37", "Sun, 31 Nov 1994 08:49:37 GMT",
      "Sun, 29 Feb 1900 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 06 Nov 1994 24:00:00 GMT",
      "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT", "Sun, 06 Nov 1994 08:49 GMT",
      "Sun, 06 Nov 19945 08:49:37 GMT", "Sun, 06 Nov 194 08:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT GMT",
      "Sun, 06 Nov 1994 08:49:37 XYZ", "Sun, Sun, 06 Nov 1994 08:49:37", "06 Nov Dec 1994 08:49:37",
      "06--Nov-94 08:49:37", "06 07 Nov 1994 08:49:37 08:49:37", "Sun, 06 Nov 0000 08:49:37 GMT",
      "Sun, 06 Nov 1994 08:49:37 +02",
    ])
  func refuses(text: String) { #expect(HTTPDate(text) == nil) }

  @Test("a long text is refused") func refusesALongText() {
    #expect(HTTPDate(String(repeating: ",", count: 100_000)) == nil)
  }

  @Test("written, and read back, over every kind of year")
  func roundTrip() {
    #expect(HTTPDate(secondsSince1970: 784_111_777).text == "Sun, 06 Nov 1994 08:49:37 GMT")
    #expect(HTTPDate(secondsSince1970: .max).text == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(HTTPDate(secondsSince1970: .min).text == "Mon, 01 Jan 0001 00:00:00 GMT")
    // A step that is prime to days, months and years.
    for seconds in stride(
      from: HTTPDate.range.lowerBound, through: HTTPDate.range.upperBound, by: 86_399 * 997)
    {
      let date = HTTPDate(secondsSince1970: seconds)
      #expect(HTTPDate(date.text) == date)
    }
    #expect(HTTPDate(secondsSince1970: 1) < HTTPDate(secondsSince1970: 2))
  }
}
