internal import RegentJSON

extension Program {
  /// The program's own commands, then `completion`, `version`, `manual` and `__complete`, which every program has.
  var allCommands: [Command] {
    commands + builtIns
  }

  /// The command named `word`.
  ///
  /// Only this command is created, because creating all of them costs half of a start.
  func command(named word: String) -> Command? {
    offers.first { $0.name == word }?.make() ?? builtIns.first { $0.name == word }
  }

  private var builtIns: [Command] {
    [completionCommand, versionCommand, manualCommand, completeCommand]
  }

  private var completionCommand: Command {
    let shell = Input.argument("SHELL", ValueKind<Shell>.cases, "bash, zsh or fish")
    return Command(
      "completion", "print a shell completion script", inputs: [shell],
      example: "\(name) completion bash > ~/.local/share/bash-completion/completions/\(name)"
    ) { call in
      call.console.draw(completionScript(for: call[shell]))
    }
  }

  /// The command `version`, which does the same as the option `--version`.
  private var versionCommand: Command {
    Command("version", "print the version", example: "\(name) version") { call in
      call.show(["version": .string(version)], lines: ["\(name) \(version)"])
    }
  }

  private var manualCommand: Command {
    Command(
      "manual", "print the manual page (roff)", example: "\(name) manual | man -l -",
      isHidden: true
    ) { call in
      call.console.draw(manualPage())
    }
  }

  /// The hidden command that the completion scripts call.
  private var completeCommand: Command {
    let anything = ValueKind<String>("WORD", show: { $0 }, read: { $0 })
    let words = Input.arguments("WORD", anything, orNone: true, "the words up to the cursor")
    return Command(
      "__complete", "list what fits at the cursor", inputs: [words],
      example: "\(name) __complete -- ser", isHidden: true
    ) { call in
      let found = await complete(call[words], call.environment)
      switch found {
      case .files: call.console.draw("files\n")
      case .folders: call.console.draw("folders\n")
      case .words(let candidates):
        call.console.draw("words\n")
        for candidate in candidates {
          call.console.draw("\(candidate.word)\t\(harmless(candidate.summary))\n")
        }
      }
    }
  }
}
