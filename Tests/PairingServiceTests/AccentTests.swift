import Testing

@testable import PairingService

@Suite("Accent colours of the phone pages")
struct AccentTests {
  @Test(arguments: [
    ("000000", "ffffff", 21.0), ("767676", "ffffff", 4.54), ("777777", "ffffff", 4.48),
    ("ff0000", "ffffff", 3.998), ("0000ff", "ffffff", 8.592), ("ffff00", "ffffff", 1.074),
    ("14606b", "f5f4f0", 6.545), ("123456", "123456", 1),
  ])
  func `contrast is computed as WCAG defines it`(one: String, other: String, ratio: Double) throws {
    let (first, second) = (try #require(Color(hex: one)), try #require(Color(hex: other)))
    #expect(abs(first.contrast(with: second) - ratio) < 0.01)
    #expect(first.contrast(with: second) == second.contrast(with: first))
  }

  @Test(arguments: AccentColor.Scheme.allCases)
  func `every accent colour gives readable text in light and dark mode`(scheme: AccentColor.Scheme) throws {
    let steps: [UInt8] = [0, 51, 102, 128, 153, 204, 255]
    for red in steps {
      for green in steps {
        for blue in steps {
          let color = Color(red, green, blue)
          let shades = try #require(AccentColor(hex: color.hex)).shades(scheme)
          for background in scheme.backgrounds {
            #expect(shades.line.contrast(with: background) >= 4.5, "\(color.hex)")
          }
          #expect(shades.onFill.contrast(with: shades.fill) >= 4.5, "\(color.hex)")
          #expect(shades.fill == color)
        }
      }
    }
  }

  @Test func `a readable accent colour is left unchanged`() throws {
    let accent = try #require(AccentColor(hex: "14606b"))
    #expect(accent.shades(.light).line.hex == "14606b")
  }

  @Test func `the backgrounds in the code are those of the pages' style sheet`() throws {
    let bytes = try #require(realWeb.get().contents["static/phone.css"])
    let css = String(decoding: bytes, as: UTF8.self)
    let schemes = css.split(separator: "@media (prefers-color-scheme: dark)", maxSplits: 1)
    try #require(schemes.count == 2)
    let names = ["--page", "--card", "--sunken"]
    for (text, scheme) in [(schemes[0], AccentColor.Scheme.light), (schemes[1], .dark)] {
      try #require(scheme.backgrounds.count == names.count)
      for (place, name) in names.enumerated() {
        let color = scheme.backgrounds[place]
        #expect(text.contains("\(name): #\(color.hex);"), "\(name) of \(scheme)")
      }
    }
  }

  @Test func `the deny button is readable, and less bright than the approve button in dark mode`() throws {
    let bytes = try #require(realWeb.get().contents["static/phone.css"])
    let css = String(decoding: bytes, as: UTF8.self)
    let schemes = css.split(separator: "@media (prefers-color-scheme: dark)", maxSplits: 1)
    func color(_ name: String, _ text: Substring) throws -> Color {
      let value = try #require(text.split(separator: "\(name): #", maxSplits: 1).last)
      return try #require(Color(hex: String(value.prefix(6))))
    }
    for scheme in schemes {
      let (deny, words) = (try color("--deny", scheme), try color("--on-deny", scheme))
      #expect(deny.contrast(with: words) >= 7)
    }
    let dark = schemes[1]
    let card = try color("--card", dark)
    #expect(try color("--deny", dark).contrast(with: card) <= color("--fill", dark).contrast(with: card))
    #expect(!css.contains(".deny { border-color: var(--ink)"))
  }

  @Test(arguments: ["#E4B400", "e4b400", "#e4b400"])
  func `an accent colour has one style sheet path, whatever its case`(hex: String) throws {
    let accent = try #require(AccentColor(hex: hex))
    #expect(accent.path.text == "/static/accent/1/e4b400.css")
    #expect(AccentColor(path: accent.path.text) == accent)
    let css = String(decoding: accent.styleSheet.bytes, as: UTF8.self)
    #expect(css.hasPrefix(":root{--accent:#"))
    #expect(css.contains("--fill:#e4b400;--on-fill:#000000}}"))
  }

  @Test(arguments: ["", "#", "12345", "1234567", "#12345g", "+12345", "red", "１２３４５６", "#-12345"])
  func `text that is not six hexadecimal digits is not a colour`(hex: String) {
    #expect(AccentColor(hex: hex) == nil)
    #expect(AccentColor(path: "/static/accent/1/\(hex).css") == nil)
  }

  @Test(arguments: [
    "/static/accent/1/E4B400.css", "/static/accent/1/#e4b400.css", "/static/accent/2/e4b400.css",
    "/static/accent/1/e4b400.js", "/static/accent/1/e4b400", "/static/accent/1/.css",
    "/x/static/accent/1/e4b400.css",
  ])
  func `a path with another version, colour format or suffix gives no accent style sheet`(path: String) {
    #expect(AccentColor(path: path) == nil)
  }
}
