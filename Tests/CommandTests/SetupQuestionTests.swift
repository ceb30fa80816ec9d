import Glibc
import TestSupport
import Testing

/// What setup asks a new operator at a terminal.
@Suite struct `Questions of setup` {
  private static let setup = "regentctl setup --settings settings --backups backups"

  private func withNewService(_ body: (Operator) throws -> Void) throws {
    try withTemporaryFolder { folder in
      let shell = Operator(folder: folder)
      try writeFile("\(folder)/settings", "REGENT_LOG=text\n".utf8, mode: 0o600)
      #expect(unsafe mkdir("\(folder)/backups", 0o700) == 0)
      try withService(in: folder) { _ in try body(shell) }
    }
  }

  /// Types lines at a terminal, each after a pause in which a password prompt can switch the echo off.
  private func typed(_ shell: Operator, _ lines: [String]) throws -> FinishedProgram {
    let words = lines.map { "'\($0)'" }.joined(separator: " ")
    return try shell.type(
      "for L in \(words); do sleep 0.7; printf '%s\\n' \"$L\"; done | script -qec '\(Self.setup)' /dev/null")
  }

  @Test func `setup asks for display names and titles, and refuses a password that is easy to guess`() throws {
    try withNewService { shell in
      let said = try typed(
        shell,
        [
          "", "my tv", "acme", "My TV", "cable", "Hotel Adler", "news-*", "anna", "password1", "password1",
          "wide blue window", "wide blue window", "none",
        ])
      #expect(said.status == 0, "\(said.outputText)")
      #expect(said.outputText.contains("an id has no spaces, for example my-tv"), "\(said.outputText)")
      #expect(said.outputText.contains("titles that every viewer may watch"), "\(said.outputText)")
      #expect(said.outputText.contains("the password is too easy to guess"), "\(said.outputText)")
      #expect(try shell.get("regentctl provider list --json").contains(#""name":"Hotel Adler""#))
      #expect(try shell.get("regentctl requestor list --json").contains(#""name":"My TV""#))
      let rules = try shell.get("regentctl entitle list cable")
      #expect(rules.contains("news-*"), "\(rules)")
    }
  }

  @Test func `without a terminal setup takes names from options, says what the rule grants and checks the password`()
    throws
  {
    try withNewService { shell in
      let command = "\(Self.setup) --requestor acme --requestor-name 'My TV' --provider cable --account anna"
      let weak = try shell.refusal("echo 12345678 | \(command)")
      #expect(weak.contains("the password is too easy to guess"), "\(weak)")
      #expect(weak.contains("every viewer may watch every title (*); add --allow PATTERN"), "\(weak)")
      // A provider that was there before keeps its rules, even if it has none.
      let rule = try shell.get("regentctl entitle list cable --json | sed 's/.*\"id\":\"\\([^\"]*\\)\".*/\\1/'")
      try shell.get("regentctl entitle remove \(rule)")
      let short = try shell.get("echo 'blue bench' | \(command) --invite 2>&1")
      #expect(short.contains("account cable/anna added") && short.contains("but short; viewers"), "\(short)")
      #expect(try shell.get("regentctl requestor list --json").contains(#""name":"My TV""#))
      #expect(short.contains("no viewer may watch a title yet: run regentctl entitle add cable --allow"), "\(short)")
      #expect(try shell.get("regentctl entitle list cable --json") == "[]")
      try shell.get("\(Self.setup) --allow 'news-*' < /dev/null")
      #expect(try shell.get("regentctl entitle list cable").contains("news-*"))
    }
  }

  @Test func `setup gives groups a role in the settings, and tells an operator at a terminal about them`() throws {
    try withNewService { shell in
      let said = try shell.get("\(Self.setup) --json --desk-group daemon --viewer-group sys 2>&1 < /dev/null")
      #expect(
        said.contains(#""roles":["REGENT_ADMIN_DESK_GROUP=daemon","REGENT_ADMIN_VIEWER_GROUP=sys"]"#), "\(said)")
      #expect(
        try shell.get("cat settings")
          == "REGENT_LOG=text\nREGENT_ADMIN_DESK_GROUP=daemon\nREGENT_ADMIN_VIEWER_GROUP=sys")
      let again = try shell.get("\(Self.setup) --desk-group daemon 2>&1 < /dev/null")
      #expect(!again.contains("REGENT_ADMIN"), "\(again)")
      try shell.get("echo 'a long enough password' | \(Self.setup) --account anna --allow '*'")
      let informed = try typed(shell, ["", "", "", "none"]).outputText
      #expect(!informed.contains("--desk-group"), "\(informed)")
      try shell.get("printf 'REGENT_LOG=text\n' > settings")
      let told = try typed(shell, ["", "", "", "none"]).outputText
      #expect(told.contains("regentctl setup --desk-group regent-desk"), "\(told)")
    }
  }
}
