import TestSupport
import Testing

/// Commands that the service suggests, and that an operator copies into a shell.
@Suite struct `Suggested commands` {
  @Test func `names in suggested commands are quoted for the shell`() throws {
    try withService { service in
      let shell = Operator(folder: service.folder)
      try shell.get(
        """
        regentctl requestor add acme && regentctl provider add cable --name Cable --kind local && regentctl integrate acme cable
        regentctl key issue acme --json > key
        echo correct-horse-battery | regentctl account add cable 'eve; touch pasted'
        """)
      let box = try ShellBox(shell, service, key: "key")
      let code = try box.code(device: "box-1")
      try shell.get("regentctl code approve \(code) --provider cable --account 'eve; touch pasted'")
      #expect(try box.call("GET", "/api/v1/tokens/authn.json?deviceId=box-1").status == 200)
      // A title with a quotation mark, as a viewer may report it.
      let title = "news'; touch pasted; '"
      try write(title, "title")
      let denied = try shell.type("regentctl why box-1 \"$(cat title)\"").outputText
      let account = "'eve; touch pasted'"
      #expect(denied.contains("--allow 'news'\\''; touch pasted; '\\''' --account \(account)\n"), "\(denied)")
      try shell.get("regentctl account disable cable \(account)")
      let disabled = try shell.type("regentctl why box-1").outputText
      #expect(disabled.contains("fix: regentctl account enable cable \(account)\n"), "\(disabled)")

      func write(_ text: String, _ name: String) throws {
        try writeFile("\(shell.folder)/\(name)", Array(text.utf8))
      }
    }
  }
}
