import CommandKit
import Testing

@testable import DeviceAgent

@Suite struct `Texts of the screen` {
  @Test(arguments: Language.allCases)
  func `every language has every phrase with the same placeholders`(language: Language) {
    let texts = Texts(language)
    let english = Texts(.english)
    for phrase in Phrase.allCases {
      #expect(!texts[phrase].isEmpty, "\(phrase)")
      #expect(places(in: texts[phrase]) == places(in: english[phrase]), "\(phrase)")
      #expect(harmless(texts[phrase]) == texts[phrase], "\(phrase)")
      // Two lines of the narrowest screen.
      #expect(displayWidth(texts[phrase]) <= 80, "\(phrase)")
    }
  }

  @Test(arguments: Language.allCases.filter { $0 != .english })
  func `no phrase is left in English`(language: Language) {
    let same = Phrase.allCases.filter { Texts(language)[$0] == Texts(.english)[$0] }
    #expect(same.isEmpty, "\(same)")
  }

  @Test(
    arguments: [
      ("it", [:], Language.italian), (nil, ["LANG": "ko_KR.UTF-8"], .korean),
      (nil, ["LANG": "it_IT.UTF-8", "LC_ALL": "es_ES.UTF-8"], .spanish),
      (nil, ["LANG": "de_DE.UTF-8"], .english), (nil, ["LANGUAGE": "de:it:en"], .italian),
      (nil, [:], .english), ("xx", ["LANG": "ko"], .korean), (nil, ["LANG": "C.UTF-8"], .english),
    ] as [(String?, [String: String], Language)])
  func `the language comes from the option or the environment`(
    asked: String?, environment: [String: String], expected: Language
  ) {
    #expect(Language(asked: asked) { environment[$0] } == expected)
  }

  @Test func `placeholders in inserted text are not replaced`() {
    #expect(Texts(.english)[.signedInAs, ["name": "{name} {x"]] == "Signed in as {name} {x")
  }

  @Test(arguments: [
    ("Canal Éxito", "canal exito"), ("Łódź TV", "lodz tv"), ("한국", "한국"), ("KANAL", "kanal"),
  ])
  func `a search ignores case and accents`(text: String, expected: String) {
    #expect(searchForm(of: text) == expected)
  }

  @Test(arguments: [
    ("¿Código caducó?", "?Codigo caduco?"), ("…", "."), ("한국", "????"), ("plain", "plain"),
  ])
  func `the ASCII form keeps the width of a text`(text: String, expected: String) {
    #expect(asciiForm(of: text) == expected)
    #expect(displayWidth(asciiForm(of: text)) == displayWidth(text))
  }

  private func places(in text: String) -> [Substring] {
    text.split(separator: "{", omittingEmptySubsequences: false).dropFirst().map {
      $0.prefix { $0 != "}" }
    }.sorted()
  }
}
