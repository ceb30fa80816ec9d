import RegentPlatform
import TestSupport
import Testing

@Suite struct `Lines of a text from outside` {
  @Test(arguments: [
    ("", [""]), ("a", ["a"]), ("a\n", ["a", ""]), ("a\r\nb\r\n", ["a", "b", ""]), ("a\rb\r", ["a\rb"]),
    ("\r\n\n", ["", "", ""]),
    ("a\r\r\n", ["a\r", ""]),
  ])
  func `a text is split at line feeds, each with or without a carriage return`(text: String, lines: [String]) {
    #expect(TextLines.texts(of: Array(text.utf8)) == lines)
  }

  @Test func `bytes that are not UTF-8 are kept, and trimming removes spaces at both ends`() {
    #expect(TextLines.of([0xE9, 0x0D, 0x0A, 0x41]) == [[0xE9], [0x41]])
    #expect(TextLines.trimmed(Array(" \t a b\r".utf8)[...]) == Array("a b".utf8)[...])
    #expect(TextLines.trimmed(Array(" \t".utf8)[...]).isEmpty)
  }

  @Test func `a quoted shell word is safe even if its quotation marks carry combining marks`() throws {
    let hostile = "it'\u{301}s; echo no '\u{301}x"
    let said = try run("sh", ["-c", "printf %s \(shellQuoted(hostile))"])
    #expect(said.status == 0 && said.output == Array(hostile.utf8))
  }
}
