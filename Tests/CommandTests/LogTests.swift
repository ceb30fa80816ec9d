import CommandKit
import Testing

@testable import regentd

@Suite struct `Log lines` {
  @Test func `a log entry stays one line, whatever text it contains`() {
    let hostile = "\u{1b}[2J\n<3>fake \"quoted\" \u{202e}=x"
    #expect(
      lines(.text) { $0.info("seen", ["name": .text(hostile), "count": 5, "none": ""]) }
        == #"1970-01-01T00:00:01.000Z info seen name="\e[2J\n<3>fake \"quoted\" \u{202e}=x" count=5 none="""#
        + "\n")
    #expect(
      lines(.json) { $0.warning("seen", ["name": .text(hostile)]) }
        == #"{"time":1000,"level":"warning","event":"seen","name":"\u001b[2J\n<3>fake \"quoted\" \u202e=x"}"#
        + "\n")
    #expect(lines(.text, isJournal: true) { $0.error("bad") } == "<3>bad\n")
  }

  @Test func `a backslash cannot end a quoted value early`() {
    #expect(
      lines(.text) { $0.info("seen", ["a": "x \\", "b": "y"]) }
        == "1970-01-01T00:00:01.000Z info seen a=\"x \\\\\" b=y\n")
    let accented = lines(.text) { $0.info("seen", ["a": "x\"\u{301} b=y"]) }
    #expect(accented.unicodeScalars.contains("\\"))
  }

  private func lines(_ format: LogFormat, isJournal: Bool = false, _ body: (Log) -> Void) -> String {
    let text = CapturedText()
    body(Log(format, to: text.stream(), isJournal: isJournal, now: { 1_000 }))
    return text.text
  }
}
