import RegentHTTPCodec
import Testing

@Suite struct HTTPDateTests {
  @Test(
    arguments: [
      (0, "Thu, 01 Jan 1970 00:00:00 GMT"), (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
      (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"), (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
      (4_102_444_799, "Thu, 31 Dec 2099 23:59:59 GMT"),
      (4_107_542_400, "Mon, 01 Mar 2100 00:00:00 GMT"),
      (253_402_300_799, "Fri, 31 Dec 9999 23:59:59 GMT"),
      (-62_167_219_200, "Sat, 01 Jan 0000 00:00:00 GMT"),
    ] as [(Int64, String)])
  func `an HTTP date is written and read back`(seconds: Int64, text: String) {
    #expect(HTTPDate.text(epochSeconds: seconds) == text)
    #expect(HTTPDate.epochSeconds(text) == seconds)
    #expect(text.utf8.count == HTTPDate.length)
  }

  @Test func `every day from 1970 to 2103 is read back as itself`() {
    for day in 0..<48_700 as Range<Int64> {
      let seconds = day * 86_400 + day % 86_400
      #expect(HTTPDate.epochSeconds(HTTPDate.text(epochSeconds: seconds)) == seconds)
    }
  }

  @Test func `a year outside of 0 to 9999 is replaced by the nearest date in that range`() {
    #expect(HTTPDate.text(epochSeconds: .max) == "Fri, 31 Dec 9999 23:59:59 GMT")
    #expect(HTTPDate.text(epochSeconds: .min) == "Sat, 01 Jan 0000 00:00:00 GMT")
  }

  @Test(arguments: [
    "", "Sun, 06 Nov 1994 08:49:37 UTC", "Sunday, 06-Nov-94 08:49:37 GMT",
    "Sun Nov  6 08:49:37 1994", "Mon, 06 Nov 1994 08:49:37 GMT", "Sun, 6 Nov 1994 08:49:37 GMT",
    "sun, 06 Nov 1994 08:49:37 GMT", "Sun, 06 nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:37 GMT",
    "Sun, 06 Nov 1994 08:49:60 GMT", "Thu, 31 Nov 1994 08:49:37 GMT",
    "Wed, 30 Feb 2000 00:00:00 GMT", "Thu, 29 Feb 1900 00:00:00 GMT",
    "Sat, 00 Nov 1994 08:49:37 GMT", "Sun, +6 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08:49:37 GMT ", " Sun, 06 Nov 1994 08:49:37 GMT",
    "Sun, 06 Nov 1994 08-49-37 GMT", "Sun, 06 Nov 1994 08:49:3\u{E9}GMT",
  ])
  func `a date in another form or that does not exist is refused`(text: String) {
    #expect(HTTPDate.epochSeconds(text) == nil)
  }

  @Test func `a leap second is read as the second after it`() {
    #expect(HTTPDate.epochSeconds("Sat, 31 Dec 2016 23:59:60 GMT") == 1_483_228_800)
  }
}
