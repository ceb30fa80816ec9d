import CommandKit
import RegentPlatform
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

  @Test(arguments: Language.allCases)
  func `the screen says that the account is disabled, with and without a code`(language: Language) {
    for stage in [PairStage.starting, .waiting(Scene.code())] {
      for (columns, rows) in [(40, 15), (80, 25)] {
        let screen = PairScreen(
          size: WindowSize(rows: rows, columns: columns), capabilities: TerminalCapabilities(), language: language)
        let canvas = screen.canvas(of: Scene.disabledAccount(stage), now: Scene.now)
        let last = Texts(language)[.problemAccountDisabled].split(separator: " ").last.map(String.init) ?? ""
        #expect(canvas.lines.joined().contains(last), "\(language) \(columns)×\(rows)")
      }
    }
  }

  @Test(
    arguments: [
      ("HTTP://192.168.7.1:8787/D/BCDFGHJK", true), ("http://10.0.0.1/D/X", true), ("http://172.31.0.1/D/X", true),
      ("http://172.32.0.1/D/X", false), ("http://169.254.1.1/D/X", true), ("http://[fd12::1]/D/X", true),
      ("http://[fe80::1]/D/X", true), ("http://[2001:db8::1]/D/X", false), ("http://tv.local/D/X", true),
      ("http://tv.home.arpa/D/X", true), ("https://tv.example.org/D/X", false), ("http://203.0.113.1/D/X", false),
    ])
  func `the screen says that the phone must be in the same network if the address is private`(
    link: String, isPrivate: Bool
  ) {
    for language in Language.allCases {
      for (columns, rows) in [(40, 15), (80, 25)] {
        let screen = PairScreen(
          size: WindowSize(rows: rows, columns: columns), capabilities: TerminalCapabilities(), language: language)
        let canvas = screen.canvas(of: Scene.view(.waiting(Scene.code(link: link))), now: Scene.now)
        let shown = canvas.lines.joined().filter { !$0.isWhitespace }
        let sentence = Texts(language)[.sameNetwork].filter { !$0.isWhitespace }
        // Beside a QR code the lines of the sentence are not contiguous; its last word is enough there.
        let last = Texts(language)[.sameNetwork].split(separator: " ").last.map(String.init) ?? ""
        #expect((shown.contains(sentence) || shown.contains(last)) == isPrivate, "\(language) \(columns)×\(rows)")
      }
    }
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
