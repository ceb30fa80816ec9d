import RegentPlatform
import TestSupport
import Testing

@Suite("A program that nobody waits for")
struct DetachedProgramTests {
  @Test func `runs with its words as they are, and without our descriptors`() throws {
    try withTemporaryFolder { folder in
      try DetachedProgram.start(
        "sh",
        ["-c", "ls /proc/$$/fd | wc -l > \"$1\"; printf %s \"$0\" >> \"$1\"", "https://x/?a=b&c='d'", "\(folder)/said"])
      let said = try eventually("what it says") {
        let text = String(decoding: (try? readFile("\(folder)/said")) ?? [], as: UTF8.self)
        return text.hasSuffix("'") ? text : nil
      }
      let lines = said.split(separator: "\n")
      #expect(lines.last == "https://x/?a=b&c='d'")
      // The three standard ones, and what the shell has for the pipe.
      #expect(lines.first.flatMap { Int($0) }.map { $0 <= 6 } == true, "\(said)")
    }
  }

  @Test func `that does not exist is an error at once`() {
    #expect(throws: SystemError.self) { try DetachedProgram.start("/nowhere/browser", ["x"]) }
    #expect(throws: SystemError.self) { try DetachedProgram.start("sh", ["a\0b"]) }
  }
}
