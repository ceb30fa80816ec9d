@testable import CommandKit
import Glibc
import TestSupport
import Testing

@Suite struct `Passwords from standard input` {
  @Test(arguments: [
    ("secret\nnext", "secret"), ("secret\r\n", "secret"), ("no end", "no end"),
    (" spaces \n", " spaces "),
    (String(repeating: "x", count: 1_024) + "\n", String(repeating: "x", count: 1_024)),
  ])
  func `a password is the first line of standard input`(input: String, password: String) throws {
    #expect(try firstLine(of: input) == Array(password.utf8))
  }

  @Test(arguments: ["", "\n", "\r\n"])
  func `an empty password is reported as missing`(input: String) {
    let error = #expect(throws: CommandError.self) { try firstLine(of: input) }
    #expect(error?.message == "password of anna is missing")
    #expect(error?.hint?.contains("first line of standard input") == true)
  }

  @Test func `a password that is too long is refused`() {
    #expect(throws: CommandError.self) {
      try firstLine(of: String(repeating: "x", count: 1_025) + "\n")
    }
  }

  @Test func `reading a password leaves the rest of the input unread`() throws {
    try withInput("secret\nnext") { input in
      _ = try Prompt.firstLine(of: input, "password")
      var rest = [UInt8](repeating: 0, count: 10)
      #expect(unsafe read(input, &rest, 10) == 4)
      #expect(rest.prefix(4) == Array("next".utf8)[...])
    }
  }

  private func firstLine(of text: String) throws -> [UInt8] {
    try withInput(text) { try Prompt.firstLine(of: $0, "password of anna") }
  }

  private func withInput<Result>(_ text: String, _ body: (Int32) throws -> Result) throws -> Result {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/input", text.utf8)
      let descriptor = unsafe open("\(folder)/input", O_RDONLY | O_CLOEXEC)
      defer { close(descriptor) }
      return try body(descriptor)
    }
  }
}

@Suite struct `Confirmation before a removal` {
  private static let yes = Input.flag("yes", "without being asked")

  private func remove(_ words: String...) async -> Answer {
    let command = Command("remove", "remove it", inputs: [Self.yes], example: "p remove") { call in
      try Prompt.confirm("remove \u{1b}[2J and its keys", unless: Self.yes, call)
      call.console.print("removed")
    }
    let program = Program(name: "p", version: "0", summary: "p", commands: [.made(command)])
    let (output, errors) = (CapturedText(), CapturedText())
    let console = Console(output: output.stream(), errors: errors.stream())
    let code = await program.run(["remove"] + words, console: console)
    return Answer(output: output.text, errors: errors.text, code: code.rawValue)
  }

  @Test func `a command asks for no confirmation with --yes`() async {
    #expect(await remove("--yes") == Answer(output: "removed\n"))
  }

  @Test func `a command that needs a confirmation is refused without a terminal`() async {
    #expect(
      await remove()
        == Answer(
          errors:
            "p: this would remove \\e[2J and its keys\n  hint: add --yes to confirm\n",
          code: 2))
  }
}
