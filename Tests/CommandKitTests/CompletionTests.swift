@testable import CommandKit
import TestSupport
import Testing

@Suite struct `Shell completion` {
  @Test(arguments: [
    ("", "words|book|open|completion|version"), ("b", "words|book"), ("book |", "words|add|lend|list|find"),
    ("book l", "words|lend|list"), ("fa", "words"), ("--s", "words|--shelf"),
    ("book add --t", "words|--title"), ("book add --title x --t", "words"),
    ("book add --author x --au", "words|--author"),
    ("book add --genre |", "words|novel|poetry|technical"),
    ("book add --genre p", "words|poetry"), ("book add --genre=p", "words|--genre=poetry"),
    ("book add --cover |", "files"), ("book add --title |", "words"),
    ("completion |", "words|bash|zsh|fish"),
    ("book add du", "words|dune|dubliners"), ("book add e", "words|emma"),
    ("book add dune d", "words"),
    ("book add -- d", "words|dune|dubliners"), ("zebra |", "words"),
  ])
  func `completion offers the words that fit`(typed: String, expected: String) async {
    let words = typed.split(separator: " ", omittingEmptySubsequences: false)
      .map { $0 == "|" ? "" : String($0) }
    let shown: String =
      switch await Library.program.complete(words, Environment([:])) {
      case .files: "files"
      case .folders: "folders"
      case .words(let candidates): (["words"] + candidates.map(\.word)).joined(separator: "|")
      }
    #expect(shown == expected, "\(typed)")
  }

  @Test func `completion uses the values of earlier options`() async {
    let answer = await library("__complete -- --shelf b2 book add dun")
    #expect(answer.output == "words\ndune\ton b2\n")
    let fromVariable = await library(
      "__complete -- book add dun", environment: ["LIBRARY_PLACE": "v"])
    #expect(fromVariable.output == "words\ndune\ton v\n")
  }

  @Test func `completion offers no word that a shell would execute and escapes control characters`()
    async
  {
    let answer = await library(words: ["__complete", "--", "book", "add", "e"])
    #expect(answer.output == "words\nemma\t\\e]0;x\\u{7}\n")
  }

  @Test(arguments: Shell.allCases)
  func `the completion script works in each shell`(shell: Shell) throws {
    try withTemporaryFolder { folder in
      // Answers like `__complete`, and records its arguments.
      let program = """
        #!/bin/sh
        printf '%s\\n' "$*" >> \(folder)/asked
        case "$*" in
          "__complete -- book add --genre=p") printf 'words\\n--genre=poetry\\t\\n' ;;
          "__complete -- book a"*) printf 'words\\nadd\\tadd a book\\n' ;;
          *) printf 'words\\n' ;;
        esac
        """
      try writeFile("\(folder)/library", program.utf8, mode: 0o700)
      let script = Library.program.completionScript(for: shell)
      try writeFile("\(folder)/script", script.utf8)
      let checked = try run(shell.rawValue, ["-n", "\(folder)/script"])
      #expect(checked.status == 0, "\(checked.errorText)")
      try writeFile("\(folder)/driver", driver(shell, folder).utf8)
      let answer = try run(
        shell.rawValue, shell == .zsh ? ["-f", "\(folder)/driver"] : ["\(folder)/driver"],
        environment: ["PATH": "\(folder):/usr/bin:/bin", "HOME": folder, "TERM": "dumb"])
      #expect(answer.outputText.contains("first: add"), "\(answer.outputText) \(answer.errorText)")
      #expect(
        answer.outputText.contains("second: poetry")
          || answer.outputText.contains("second: --genre=poetry"))
      let asked = String(decoding: try readFile("\(folder)/asked"), as: UTF8.self)
      #expect(asked == "__complete -- book a\n__complete -- book add --genre=p\n")
    }
  }

  /// Presses Tab after `library book a` and `library book add --genre=p`, as far as the shell lets a script do so.
  private func driver(_ shell: Shell, _ folder: String) -> String {
    switch shell {
    case .bash:
      """
      compopt() { :; }
      source \(folder)/script
      COMP_LINE='library book a'; COMP_POINT=${#COMP_LINE}; _library; echo "first: ${COMPREPLY[*]}"
      COMP_LINE='library book add --genre=p'; COMP_POINT=${#COMP_LINE}; _library; echo "second: ${COMPREPLY[*]}"
      """
    case .zsh:
      """
      compdef() { :; }
      _describe() { local name=$3; print -r -- "$label: ${(P)name}"; }
      source \(folder)/script
      label=first; words=(library book a); CURRENT=3; _library
      label=second; words=(library book add --genre=p); CURRENT=4; _library
      """
    case .fish:
      """
      source \(folder)/script
      echo "first: "(complete -C 'library book a')
      echo "second: "(complete -C 'library book add --genre=p')
      """
    }
  }
}
