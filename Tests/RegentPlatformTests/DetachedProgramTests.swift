import RegentPlatform
import TestSupport
import Testing

@Suite("Programs started without waiting")
struct DetachedProgramTests {
  @Test func `a detached program gets its arguments unchanged and none of our open files`() throws {
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
      // The three standard descriptors, and those that the shell needs for the pipe.
      #expect(lines.first.flatMap { Int($0) }.map { $0 <= 6 } == true, "\(said)")
    }
  }

  @Test func `starting a program that does not exist fails at once`() {
    #expect(throws: SystemError.self) { try DetachedProgram.start("/nowhere/browser", ["x"]) }
    #expect(throws: SystemError.self) { try DetachedProgram.start("sh", ["a\0b"]) }
  }
}
