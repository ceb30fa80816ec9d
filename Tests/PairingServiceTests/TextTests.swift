import RegentPairing
import RegentJSON
import Testing

@testable import PairingService

@Suite("Localized texts")
struct TextTests {
  @Test(arguments: [
    ("en", [(0, "other"), (1, "one"), (2, "other"), (21, "other"), (1_000_000, "other")]),
    (
      "it",
      [
        (0, "other"), (1, "one"), (2, "other"), (11, "other"), (1_000_000, "many"),
        (1_000_001, "other"),
      ]
    ),
    ("es", [(0, "other"), (1, "one"), (2, "other"), (101, "other"), (3_000_000, "many")]),
    ("ko", [(0, "other"), (1, "other"), (2, "other"), (1_000_000, "other")]),
  ])
  func `plural forms are those of the language`(language: String, table: [(Int, String)]) throws {
    let rule = try #require(PluralRule(language: language))
    for (count, form) in table { #expect(rule.form(count).rawValue == form, "\(count)") }
  }

  @Test(arguments: [
    (nil, nil, "en"), (nil, "", "en"), (nil, "it", "it"), (nil, "it-CH, en;q=0.5", "it"),
    (nil, "fr, ko;q=0.3, es;q=0.8", "es"), (nil, "de-AT,de;q=0.9", "en"),
    (nil, "EN-us,KO;q=0.9", "en"), (nil, "ko-Kore-KR", "ko"), (nil, "*", "en"),
    (nil, "fr, *;q=0.5", "en"), (nil, "it;q=0", "en"), (nil, "it;q=0, es;q=0.001", "es"),
    (nil, "it;q=1.5, es", "es"), (nil, "it;q=x, es;q=0.1", "es"), (nil, "it;q=0.8,es;q=0.80", "it"),
    (nil, "es ; q=0.2 , ko ; q=0.3", "ko"), (nil, "\t it\t", "it"),
    (nil, "it;level=1;q=1, es", "es"),
    (nil, "i t, es", "es"), (nil, ",,,es,", "es"), (nil, "<script>, es", "es"),
    (nil, String(repeating: "fr,", count: 500) + "es", "en"),
    ("ko", "it", "ko"), ("xx", "it", "it"), ("", "it", "it"), ("KO", "it", "it"),
  ])
  func `the language is the viewer's choice, else the browser's preference`(
    chosen: String?, header: String?, expected: String
  ) {
    let offered = ["en", "es", "it", "ko"]
    let position = LanguageChoice.pick(offered, chosen: chosen, acceptLanguage: header)
    #expect(offered[position] == expected)
  }

  @Test(arguments: [
    (0, ["just now", "adesso", "ahora mismo", "방금 전"]),
    (59, ["just now", "adesso", "ahora mismo", "방금 전"]),
    (60, ["1 minute ago", "1 minuto fa", "hace 1 minuto", "1분 전"]),
    (185, ["3 minutes ago", "3 minuti fa", "hace 3 minutos", "3분 전"]),
    (3_600, ["1 hour ago", "1 ora fa", "hace 1 hora", "1시간 전"]),
    (86_399, ["23 hours ago", "23 ore fa", "hace 23 horas", "23시간 전"]),
    (86_400, ["1 day ago", "1 giorno fa", "hace 1 día", "1일 전"]),
    (29 * 86_400, ["29 days ago", "29 giorni fa", "hace 29 días", "29일 전"]),
    (
      30 * 86_400, ["21 October 2026", "21 ottobre 2026", "21 de octubre de 2026", "2026년 10월 21일"]
    ),
    (-3_600, ["just now", "adesso", "ahora mismo", "방금 전"]),
  ])
  func `a past time is phrased as people say it in each language`(seconds: Int, expected: [String]) throws {
    let now = Instant(milliseconds: 1_795_174_200_000)
    let then = Instant(milliseconds: now.milliseconds - Int64(seconds) * 1000)
    let texts = try TextCatalog(realWeb.get())
    let said = try ["en", "it", "es", "ko"].map { tag in
      let language = try #require(texts.languages.first { $0.tag == tag })
      return String(decoding: language.ago(then, now: now), as: UTF8.self)
    }
    #expect(said == expected)
  }

  @Test(arguments: [
    (0, "less than a minute"), (59, "less than a minute"), (60, "1 minute"), (61, "2 minutes"),
    (600, "10 minutes"),
  ])
  func `a duration is rounded up to minutes`(seconds: Int, words: String) throws {
    let english = try TextCatalog(realWeb.get()).languages[0]
    #expect(String(decoding: english.duration(seconds), as: UTF8.self) == words)
  }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00Z"), (951_782_399_000, "2000-02-28T23:59:59Z"),
    (951_782_400_000, "2000-02-29T00:00:00Z"), (1_709_251_199_999, "2024-02-29T23:59:59Z"),
    (4_107_542_400_000, "2100-03-01T00:00:00Z"), (-1, "1969-12-31T23:59:59Z"),
    (-62_167_219_200_000, "0000-01-01T00:00:00Z"), (1_795_174_200_123, "2026-11-20T11:30:00Z"),
  ])
  func `a time is formatted as ISO 8601`(milliseconds: Int, text: String) {
    #expect(Instant(milliseconds: Int64(milliseconds)).iso8601.prefix(19) == text.prefix(19))
  }

  @Test func `seconds between two times are never negative and never overflow`() {
    let (low, high) = (Instant(milliseconds: .min), Instant(milliseconds: .max))
    #expect(low.seconds(until: high) == Int(Int64.max / 1000))
    #expect(high.seconds(until: low) == 0)
    #expect(Instant(milliseconds: 0).seconds(until: Instant(milliseconds: 1_999)) == 1)
  }

  @Test(arguments: [
    ("\"hello\": 1", "a text or an object of plural forms"),
    ("\"hello\": {\"few\": \"x\"}", "few is no plural form"),
    ("\"extra\": \"x\"", "extra is not in locales/en.json"),
    ("\"greet\": \"Ciao\"", "greet: {name} is missing"),
    ("\"greet\": \"Ciao {nome}\"", "greet: there is no {nome} in the first language"),
    ("\"greet\": \"Ciao {name\"", "greet: a brace without its partner"),
    ("\"greet\": \"Ciao {na me}\"", "greet: {na me} is not a name"),
    ("\"apples\": \"{count} mele\"", "apples: the plural form one is missing"),
    ("\"apples\": {\"one\": \"{count} mela\"}", "apples: the plural form other is missing"),
    ("\"apples\": {\"one\": \"una mela\", \"other\": \"mele\"}", "does not show {count}"),
    ("\"language.direction\": \"up\"", "language.direction is ltr or rtl"),
  ])
  func `the service refuses to start when the texts of a locale do not correspond to the English ones`(
    change: String, reason: String
  ) throws {
    var members = try #require(JSONValue(reading: "{\(smallEnglish)}").object)
    for member in try #require(JSONValue(reading: "{\(change)}").object).members {
      members[member.name] = member.value
    }
    let italian = String(decoding: members.bytes(), as: UTF8.self)
    let error = #expect(throws: WebFileError.self) {
      _ = try TextCatalog(smallWeb([:], locales: ["it": italian]))
    }
    #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    #expect(error?.file == "locales/it.json")
  }

  @Test func `the service refuses to start when a text or the English locale is missing or a language is unknown`() {
    for (locales, reason) in [
      (["it": "{\"hello\": \"ciao\"}"], "is missing"), (["tlh": "{}"], "no plural rule for tlh"),
      (["it": "{\"a\": \"b\", \"a\": \"c\"}"], "already given"),
      (["it": "[]"], "an object was expected"),
    ] {
      let error = #expect(throws: WebFileError.self) {
        _ = try TextCatalog(smallWeb([:], locales: locales))
      }
      #expect(error?.description.contains(reason) == true, "\(error?.description ?? "")")
    }
    #expect(throws: WebFileError.self) { _ = try TextCatalog(WebFiles([:])) }
  }
}
