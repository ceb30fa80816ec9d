import RegentHTTPCodec
import Testing

@Suite struct `Calendar dates` {
  @Test(
    arguments: [
      (0, "1970-01-01T00:00:00.000Z"), (-1, "1969-12-31T23:59:59.999Z"),
      (951_782_400_000, "2000-02-29T00:00:00.000Z"),
      (1_709_251_199_999, "2024-02-29T23:59:59.999Z"),
      (4_107_542_400_000, "2100-03-01T00:00:00.000Z"),
      (1_763_633_100_007, "2025-11-20T10:05:00.007Z"),
      (253_402_300_799_999, "9999-12-31T23:59:59.999Z"),
      (-62_135_596_800_000, "0001-01-01T00:00:00.000Z"),
    ] as [(Int64, String)])
  func `a date is written in the form of RFC 3339`(milliseconds: Int64, text: String) {
    #expect(CivilDate.text(epochMilliseconds: milliseconds, fraction: true) == text)
    #expect(
      CivilDate.text(epochMilliseconds: milliseconds, fraction: false)
        == "\(text.prefix(19))Z")
  }

  @Test(
    arguments: [
      (.min, "-292275055-05-16T16:47:04.192Z"), (.min + 1, "-292275055-05-16T16:47:04.193Z"),
      (.max, "292278994-08-17T07:12:55.807Z"),
    ] as [(Int64, String)])
  func `the smallest and largest times can be written`(milliseconds: Int64, text: String) {
    #expect(CivilDate.text(epochMilliseconds: milliseconds, fraction: true) == text)
    #expect(
      CivilDate.text(epochMilliseconds: milliseconds, fraction: false) == "\(text.dropLast(5))Z")
  }

  @Test func `one second before midnight belongs to the day before`() {
    #expect(CivilDate(epochSeconds: 0) == CivilDate(daysSince1970: 0))
    #expect(CivilDate(epochSeconds: -1) == CivilDate(daysSince1970: -1))
    #expect(CivilDate(epochSeconds: 86_399) == CivilDate(daysSince1970: 0))
  }
}
