import RegentPlatform
import TestSupport
import Testing

@Suite struct `A text that somebody else wrote` {
  @Test(arguments: [
    ("", [""]), ("a", ["a"]), ("a\n", ["a", ""]), ("a\r\nb\r\n", ["a", "b", ""]), ("a\rb\r", ["a\rb"]),
    ("\r\n\n", ["", "", ""]),
    ("a\r\r\n", ["a\r", ""]),
  ])
  func `has its lines by its bytes`(text: String, lines: [String]) {
    #expect(TextLines.texts(of: Array(text.utf8)) == lines)
  }

  @Test func `keeps its bytes in a line, and loses the spaces around a part`() {
    #expect(TextLines.of([0xE9, 0x0D, 0x0A, 0x41]) == [[0xE9], [0x41]])
    #expect(TextLines.trimmed(Array(" \t a b\r".utf8)[...]) == Array("a b".utf8)[...])
    #expect(TextLines.trimmed(Array(" \t".utf8)[...]).isEmpty)
  }

  @Test func `is one word of a shell, whatever marks are on its quotation marks`() throws {
    let hostile = "it'\u{301}s; echo no '\u{301}x"
    let said = try run("sh", ["-c", "printf %s \(shellQuoted(hostile))"])
    #expect(said.status == 0 && said.output == Array(hostile.utf8))
  }
}
