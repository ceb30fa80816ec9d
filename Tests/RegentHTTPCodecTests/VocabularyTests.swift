import RegentHTTPCodec
import Testing

@Suite("HTTP methods, statuses, header names and dates")
struct VocabularyTests {
  @Test(arguments: Method.allCases)
  func `an HTTP method is recognised only in its exact spelling`(method: Method) {
    #expect(Method(method.token) == method)
    #expect(Method(method.token.lowercased()) == nil)
  }

  @Test func `a status always has three digits`() {
    #expect(Status(404).description == "404 Not Found")
    #expect(Status(99) == .internalServerError)
    #expect(Status(1000) == .internalServerError)
    #expect(Status(299).reason == "Status")
    #expect(
      Status.noContent.forbidsBody && Status.notModified.forbidsBody && !Status.ok.forbidsBody)
  }

  @Test func `header names ignore case and cannot contain a line break`() {
    #expect(HeaderName("x-FOO") == HeaderName("X-foo"))
    #expect(Set([HeaderName("ETAG"), HeaderName.etag]).count == 1)
    #expect(HeaderName("") == nil)
    #expect(HeaderName("a b") == nil)
    #expect(HeaderName("a\r\nb") == nil)
    #expect(HeaderName("é") == nil)
    // `@` and the grave accent differ only in the bit that distinguishes upper and lower case letters.
    #expect(HeaderName("a`") != HeaderName("A@"))
  }

  static let dates: [(Int64, String)] = [
    (0, "Thu, 01 Jan 1970 00:00:00 GMT"),
    (784_111_777, "Sun, 06 Nov 1994 08:49:37 GMT"),
    (951_782_400, "Tue, 29 Feb 2000 00:00:00 GMT"),
    (1_709_251_199, "Thu, 29 Feb 2024 23:59:59 GMT"),
    (4_102_444_800, "Fri, 01 Jan 2100 00:00:00 GMT"),
    (-1, "Wed, 31 Dec 1969 23:59:59 GMT"),
  ]

  @Test("dates are written in the form that HTTP requires", arguments: dates)
  func writesDates(seconds: Int64, text: String) {
    #expect(String(decoding: HTTPDate.bytes(epochSeconds: seconds), as: UTF8.self) == text)
  }
}
