import CommandKit
import TestSupport
import Testing

@Suite struct `Help` {
  @Test func `help lists every command`() async {
    let expected = """
      library: lend books

      usage: library COMMAND …

      The library of the village.

      Open on Tuesdays.

      commands:
        book          the books
        open          open the doors
        completion    print a shell completion script
        version       print the version

      options:
        --shelf TEXT  where to look (environment: LIBRARY_PLACE)
        --json        print one JSON document instead of text
        --help        show this help (also -h)
        --version     print the version

      Run "library COMMAND --help" for more about a command.

      examples:
        library book add dune --title Dune --author "Frank Herbert"
        library open --port 8080
        library completion bash > ~/.local/share/bash-completion/completions/library

      """
    for line in ["--help", "-h", "help", "--help --zebra"] {
      #expect(await library(line) == Answer(output: expected))
    }
  }

  @Test func `help of a verb shows its inputs, defaults and an example`() async {
    let expected = """
      library book add: add a book

      usage: library book add ID [options]

      A book that is there already stays as it is.

      arguments:
        ID                              the book's id

      options:
        --title TEXT                    the title
        --author NAME                   who wrote it (may be repeated)
        --genre novel|poetry|technical  what it is (default: novel)
        --lent on|off                   whether it may be lent
        --period DURATION               how long it may be kept (default: 28d)
        --cover FILE                    a picture of the cover

      Common options: --shelf, --json, --help; see "library --help".

      example:
        library book add dune --title Dune --author "Frank Herbert"

      """
    for line in ["book add --help", "help book add", "book add x --titel y -h"] {
      #expect(await library(line).output == expected)
    }
  }

  @Test func `help has section headings and a note on the environment, and fits the terminal`() async {
    let answer = await library("open --help", columns: 50)
    #expect(answer.output.contains("\nlimits:\n  --upload SIZE        largest upload (default:\n"))
    #expect(answer.output.contains("\nvariable, for example --port by LIBRARY_PORT;\n"))
    #expect(answer.output.split(separator: "\n").allSatisfy { displayWidth(String($0)) <= 50 })
  }

  @Test func `--version prints the version`() async {
    #expect(await library("--version") == Answer(output: "library 1.2\n"))
  }

  @Test func `the test program has no declaration mistakes`() {
    #expect(Library.program.declarationProblems == [])
  }

  @Test func `mistakes in a program's declaration are named`() {
    let many = Input.arguments("X", .text, "some words")
    let option = Input.flag("Loud", "loud.")
    let other = Input.flag("json", "clashes")
    let command = Command(
      "do", "", inputs: [many, Input.argument("Y", .text, "never reached"), option, other],
      rules: [.together([Books.title])], example: "other"
    ) { _ in }
    let program = Program(
      name: "bad", version: "0", summary: "bad", offersJSON: true,
      commands: [
        .made(command), .made(command), CommandOffer("full", Command("empty", "has nothing", commands: [])),
      ])
    #expect(
      program.declarationProblems == [
        "bad has do twice", "bad offers empty as full", "bad do is not explained",
        "the example of bad do does not begin with it",
        "bad do has --json twice", "bad do --Loud: help ends without a full stop",
        "bad do --Loud is not lower case with dashes", "bad do has words behind X …",
        "a rule of bad do names --title, which it does not have",
        "bad do is not explained", "the example of bad do does not begin with it",
        "bad do has --json twice", "bad do --Loud: help ends without a full stop",
        "bad do --Loud is not lower case with dashes", "bad do has words behind X …",
        "a rule of bad do names --title, which it does not have", "bad empty does nothing",
      ])
  }
}

@Suite struct `The manual page` {
  @Test func `the manual page is roff without a warning`() throws {
    try withTemporaryFolder { folder in
      try writeFile("\(folder)/library.1", Library.program.manualPage().utf8)
      let checked = try run("groff", ["-man", "-Tutf8", "-ww", "-z", "\(folder)/library.1"])
      #expect(checked.status == 0)
      #expect(checked.errorText == "")
      let shown = try run("groff", ["-man", "-Tascii", "-P-c", "\(folder)/library.1"]).outputText
      let text = shown.replacing(#/.\x08/#, with: "")
      for part in [
        "library - lend books", "library book lend", "--period DURATION", "Default: 28d.",
        "library book add dune --title Dune --author \"Frank Herbert\"", "LIBRARY_PLACE",
        "the book is out", "man(1)", "The library of the village.",
      ] { #expect(text.contains(part), "\(part)") }
      #expect(!text.contains("library fail"))
    }
  }
}
