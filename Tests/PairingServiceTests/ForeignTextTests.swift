import Testing

@testable import PairingService

@Suite("Text from devices and users")
struct ForeignTextTests {
  @Test(arguments: [
    ("Living room", "Living room"), ("  a \n\t b  ", "a b"), ("a\u{202E}b\u{202C}", "ab"),
    ("\u{2066}a\u{2069}", "a"), ("a\u{200B}\u{200D}\u{FEFF}\u{AD}b", "ab"),
    ("\u{0}\u{1B}[31m", "[31m"),
    ("\u{3164}\u{115F}", ""), ("거실 TV", "거실 TV"), ("שלום", "שלום"), ("\u{E000}x\u{FFFF}", "x"),
    ("\u{2800}", ""), ("a\u{85}b", "ab"), ("a\u{2028}b", "a b"), ("<b>", "<b>"), ("", ""),
    ("\u{301}a", "a"), ("e\u{301}\u{323}", "e\u{301}\u{323}"), ("😀", "😀"),
    ("\u{E0041}tag", "tag"), ("a\u{180E}b", "ab"),
  ])
  func `characters that can mislead a reader are removed`(raw: String, shown: String) {
    #expect(Array(ForeignText(raw).text.utf8) == Array(shown.utf8))
  }

  @Test func `a stack of combining marks is cut to four`() {
    let zalgo = "a" + String(repeating: "\u{301}", count: 60)
    #expect(ForeignText(zalgo).text.unicodeScalars.count == 5)
  }

  @Test func `a long text is cut`() {
    let cut = ForeignText(String(repeating: "x", count: 10_000)).text
    #expect(cut == String(repeating: "x", count: 64) + "…")
    #expect(ForeignText(String(repeating: "x", count: 64)).text.count == 64)
    #expect(ForeignText("abc", limit: 2).text == "ab…")
  }

  @Test(arguments: [
    ("anna", "A"), ("  ñandú", "Ñ"), ("(3) drei", "3"), ("한빛", "한"), ("", "•"), ("…", "•"),
    ("ﬁ", "FI"),
  ])
  func `the initial of a name replaces a missing logo`(name: String, initial: String) {
    #expect(ForeignText(name).initial == initial)
  }

  @Test(arguments: [
    ("/", true), ("/screens", true), ("/D/BCDFGHJK?x=1&y=%20", true), ("", false),
    ("screens", false),
    ("//elsewhere.example", false), ("/\\elsewhere.example", false), ("\\\\x", false),
    ("https://elsewhere.example/", false), ("javascript:x", false), ("/a b", false),
    ("/a\nb", false),
    ("/a\u{0}", false), ("/é", false), ("/a#b", false), ("/\u{9}/x", false), ("/\"", false),
    ("/" + String(repeating: "a", count: 511), true),
    ("/" + String(repeating: "a", count: 512), false),
  ])
  func `only a path on this service is accepted as a way back`(text: String, accepted: Bool) {
    #expect((SafePath(returning: text) != nil) == accepted)
  }

  @Test(arguments: [
    ("a b", "/screens/a%20b"), ("../x", "/screens/..%2Fx"), ("..", "/screens/%2E%2E"),
    (".", "/screens/%2E"), ("ü?#", "/screens/%C3%BC%3F%23"), ("\"><", "/screens/%22%3E%3C"),
    ("%2e", "/screens/%252e"),
  ])
  func `a path step is encoded so that it stays one step`(step: String, path: String) {
    #expect(PagePaths.screens.step(step).text == path)
    #expect(SafePath(returning: path) != nil)
  }

  @Test func `query parameters are encoded and joined`() {
    #expect(SafePath.root.query("a", "&=").query("b", "x y").text == "/?a=%26%3D&b=x%20y")
    #expect(SafePath.root.step("x").text == "/x")
  }
}
