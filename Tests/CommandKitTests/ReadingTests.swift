import CommandKit
import RegentPlatform
import Testing

@Suite struct `Command lines` {
  @Test func `a very long command line gets a short error`() async {
    let answer = await library("book add x --period " + String(repeating: "9", count: 70_000))
    #expect(answer.code == 2 && answer.errors.utf8.count < 2000)
    #expect(
      answer.errors.hasPrefix("library: --period \"999") && answer.errors.contains("is not a"))
  }

  @Test(arguments: [
    ("book add dune", "dune - [] novel - 28d\n"),
    ("book add dune --title Dune --author A --author=B", "dune Dune [\"A\", \"B\"] novel - 28d\n"),
    ("book add --genre poetry --lent on --period 1h30m x", "x - [] poetry true 90m\n"),
    ("--shelf b2 book add --lent=off x", "x - [] novel false 28d\n"),
    ("book --shelf=b2 add x --title=--force", "x --force [] novel - 28d\n"),
    ("book add -- --title", "--title - [] novel - 28d\n"),
    ("book add --title -", nil),
    ("book add - --title a=b", "- a=b [] novel - 28d\n"),
    ("book find a b c", "a+b+c\n"),
    ("book lend dune --guest bob --force", "lent dune to bob true\n"),
  ])
  func `a valid command line is parsed`(line: String, output: String?) async {
    let answer = await library(line)
    guard let output else {
      #expect(answer.code == 2)
      return
    }
    #expect(answer == Answer(output: output))
  }

  @Test(arguments: ["", "book"])
  func `a program or noun without a command shows its help`(line: String) async {
    let (bare, help) = (await library(line), await library(line + " --help"))
    #expect(bare == help && bare.code == 0)
    let json = await library(line + " --json")
    #expect(json.output.isEmpty && json.errors.contains("needs a command"))
  }

  @Test func `the opposite of a mistyped option is not suggested`() async {
    #expect(!(await library("book add x --no-title")).errors.contains("did you mean"))
  }

  @Test(arguments: [
    ("bok list", "library has no command \"bok\"", "did you mean \"library book\"?"),
    ("zebra", "library has no command \"zebra\"", "list the commands: library --help"),
    ("book lsit", "library book has no command \"lsit\"", "did you mean \"library book list\"?"),
    ("book add x --titel y", "library book add has no option --titel", "did you mean --title?"),
    (
      "book add x --zebra", "library book add has no option --zebra",
      "list the options: library book add --help"
    ),
    (
      "book add x -v", "library book add has no option -v",
      "list the options: library book add --help"
    ),
    (
      "--title y book add x", "--title is an option of a command",
      "put it after the command: library … --title"
    ),
    ("book add", "ID is missing", "run library book add ID [options]"),
    ("book add a b", "unexpected argument: \"b\"", "run library book add ID [options]"),
    ("book add a --title", "--title needs a value", "use --title TEXT"),
    (
      "book add a --title --lent", "--title needs a value",
      "for a value that begins with a dash, use --title=--lent"
    ),
    ("book add a --title x --title y", "--title is given twice", "remove one of the two"),
    ("book add a --title=", "--title \"\" is empty", nil),
    (
      "book add a --genre poerty", "--genre \"poerty\" is not one of novel, poetry, technical",
      "did you mean poetry?"
    ),
    ("book add a --lent maybe", "--lent \"maybe\" is neither on nor off", nil),
    (
      "book add a --period 5", "--period \"5\" is not a duration",
      "use a form such as 250ms, 90s, 10m, 24h or 30d"
    ),
    ("book add a --period 500d", "--period \"500d\" is not between 1s and 365d", nil),
    (
      "book lend a", "one of --member or --guest is missing",
      "run library book lend ID (--member TEXT | --guest TEXT) [options]"
    ),
    (
      "book lend a --member x --guest y", "--member and --guest cannot be combined",
      "use one of --member or --guest"
    ),
    ("book lend a --guest x --force=yes", "--force takes no value", "use --force without a value"),
    ("open --key k", "--key needs --certificate", "use both or none"),
    ("open --port 0", "--port \"0\" is not between 1 and 65535", nil),
    (
      "open --port +5", "--port \"+5\" is not a whole number", "use a number from 1 to 65535"
    ),
    (
      "open --port 99999999999999999999", "--port \"99999999999999999999\" is not a whole number",
      "use a number from 1 to 65535"
    ),
    ("open --upload 5T", "--upload \"5T\" is not a size", "use a form such as 512, 64k, 10M or 1G"),
    (
      "open --allow 10.0.0.0/8 --allow x", "--allow \"x\" is not a network",
      "use a form such as 10.0.0.0/8, fd00::/8 or 192.0.2.7"
    ),
    ("book find", "WORD is missing", "run library book find WORD …"),
  ])
  func `a wrong command line is refused with a hint`(line: String, sentence: String, hint: String?)
    async
  {
    let expected = "library: \(sentence)\n" + (hint.map { "  hint: \($0)\n" } ?? "")
    #expect(await library(line) == Answer(errors: expected, code: 2))
  }

  @Test func `options that are not given are read from the environment`() async {
    let environment = [
      "LIBRARY_PORT": "81", "LIBRARY_LISTEN_ON": "a b", "LIBRARY_UPLOAD": "10k",
      "LIBRARY_QUIET": "on",
    ]
    #expect(
      await library("open", environment: environment).output
        == "81 [\"a\", \"b\"] 10240 [] true LIBRARY_PORT\n")
    #expect(
      await library("open --port 82 --listen-on c", environment: environment).output
        == "82 [\"c\"] 10240 [] true --port\n")
    // An empty variable counts as not set.
    #expect(
      await library("open", environment: ["LIBRARY_PORT": ""]).output
        == "80 [\"localhost\"] 65536 [] false default\n")
  }

  @Test func `an invalid variable is named in the error`() async {
    #expect(
      await library("open", environment: ["LIBRARY_PORT": "many"]).errors
        == "library: LIBRARY_PORT \"many\" is not a whole number\n"
        + "  hint: use a number from 1 to 65535\n")
    #expect(
      await library("open --key k", environment: ["LIBRARY_QUIET": "perhaps"]).errors
        == "library: LIBRARY_QUIET \"perhaps\" is neither on nor off\n")
  }

  @Test func `a variable that is not UTF-8 is refused`() async {
    #expect(
      await library(
        "open --port 1", environment: ["LIBRARY_CERTIFICATE": "a\u{fffd}.pem", "LIBRARY_KEY": "k"])
        == Answer(
          errors: "library: LIBRARY_CERTIFICATE is not valid UTF-8\n"
            + "  hint: type it in a terminal that is set to UTF-8\n", code: 2))
  }

  @Test func `a program's rules between options apply to every command`() async {
    let (one, other) = (Input.flag("one", "this"), Input.flag("other", "that"))
    let program = Program(
      name: "p", version: "0", summary: "p", options: [one, other],
      rules: [.atMostOne([one, other])],
      commands: [CommandOffer("go", Command("go", "go", example: "p go") { _ in })])
    let text = CapturedText()
    let console = Console(output: text.stream(), errors: text.stream())
    #expect(await program.run(["go", "--one"], console: console) == .done)
    #expect(await program.run(["--other", "go", "--one"], console: console) == .usage)
    #expect(
      text.text
        == "p: --one and --other cannot be combined\n  hint: use one of --one or --other\n")
    #expect(program.declarationProblems == [])
  }

  @Test func `only the command that was typed is constructed`() async {
    let made = Made()
    let program = Program(
      name: "p", version: "0", summary: "p",
      commands: ["go", "stay"].map { word in
        CommandOffer(word, made.note(Command(word, word, example: "p \(word)") { $0.console.print(word) }))
      })
    let text = CapturedText()
    let console = Console(output: text.stream(), errors: text.stream())
    #expect(await program.run(["stay"], console: console) == .done)
    #expect(made.names == ["stay"] && text.text == "stay\n")
    #expect(await program.run(["--version"], console: console) == .done)
    #expect(made.names == ["stay"])
    // A mistyped command constructs all of them to find the nearest.
    #expect(await program.run(["sty"], console: console) == .usage)
    #expect(made.names.contains("go") && text.text.contains("did you mean \"p stay\"?"))
  }

  @Test func `any random command line gets an answer and never crashes`() async {
    let words = [
      "book", "add", "lend", "open", "--title", "--title=", "--", "-", "-h", "--help", "--json",
      "=", "--=",
      "--period=1d", "\u{1b}", "", "--port", "65535", "--force", "help", "--version", "dune", "-x",
      "---",
    ]
    var random = SystemRandomNumberGenerator()
    for _ in 0..<3_000 {
      let line = (0..<Int.random(in: 0...7, using: &random)).map { _ in
        words.randomElement(using: &random) ?? ""
      }
      let answer = await library(words: line)
      #expect([0, 2].contains(answer.code), "\(line)")
      #expect((answer.code == 0) == answer.errors.isEmpty, "\(line) \(answer)")
      #expect(answer.code == 0 || answer.output.isEmpty, "\(line)")
    }
  }

  @Test func `hostile bytes on the command line cannot control the terminal`() async {
    let answer = await library(words: ["book", "\u{1b}]0;pwned\u{7}\n\u{202e}"])
    #expect(
      answer.errors.hasPrefix(
        "library: library book has no command \"\\e]0;pwned\\u{7}\\n\\u{202e}\"\n"))
  }
}

@Suite struct `Option values` {
  @Test(arguments: [
    ("10.0.0.0/8", true), ("10.1.2.3", true), ("10.1.2.3/32", true), ("0.0.0.0/0", true),
    ("fd00::/8", true), ("::1", true), ("2001:db8::/32", true), ("10.0.0.0/33", false),
    ("10.1.2.3/8", false), ("10.0.0/8", false), ("010.0.0.0/8", false), ("10.0.0.0/", false),
    ("10.0.0.0/8/8", false), ("fd00::/129", false), ("fd00::1/8", false), ("", false),
    ("fe80::1%eth0", false), ("10.0.0.0/+8", false), ("10.0.0.0\0/8", false),
  ])
  func `a network is accepted only in its exact form`(text: String, isNetwork: Bool) async {
    #expect((await library(words: ["open", "--allow", text]).code == 0) == isNetwork, "\(text)")
  }

  @Test func `a network with host bits set is refused with the network that was probably meant`() async {
    #expect(
      await library("open --allow 10.1.2.3/8").errors == """
        library: --allow "10.1.2.3/8" is an address inside a network, not a network
          hint: did you mean 10.0.0.0/8?

        """)
  }

  @Test(arguments: [
    ("250ms", "250ms"), ("90s", "90s"), ("60s", "1m"), ("10m", "10m"), ("24h", "1d"),
    ("30d", "30d"),
    ("1h30m", "90m"), ("1d2h3m4s5ms", "93784005ms"), ("0s", "0s"), ("5", nil), ("", nil),
    ("m", nil),
    ("1m1h", nil), ("1m1m", nil), ("1.5h", nil), ("-5s", nil), ("5 s", nil), ("５s", nil),
    ("9223372036854775807d", nil), ("106751991167d106751991167h", nil),
  ])
  func `a duration is parsed or refused`(text: String, shown: String?) throws {
    let kind = ValueKind.duration(.zero ... .seconds(Int64.max))
    let input = Input.required("x", kind, "x")
    guard let shown else {
      #expect(throws: ValueProblem.self) { try input.value(of: [text]) }
      return
    }
    let value = try Mirror(reflecting: input.value(of: [text])).descendant("value") as? Duration
    #expect(value.map(shownDuration) == shown)
  }

  @Test(arguments: [
    ("0", 0), ("512", 512), ("64k", 65_536), ("64K", 65_536), ("10M", 10 << 20), ("1G", 1 << 30),
    ("1g", 1 << 30), ("", nil), ("k", nil), ("1kB", nil), ("-1", nil), ("1.5k", nil),
    ("9223372036854775807G", nil),
  ])
  func `a size is parsed or refused`(text: String, bytes: Int?) throws {
    let input = Input.required("x", .bytes(0...Int.max), "x")
    let value = try? Mirror(reflecting: input.value(of: [text])).descendant("value") as? Int
    #expect(value == bytes)
  }
}

/// The names of the commands that were constructed, in order.
private final class Made: Sendable {
  private let list = Locked<[String]>([])
  var names: [String] { list.withLock { $0 } }

  func note(_ command: Command) -> Command {
    list.withLock { $0.append(command.name) }
    return command
  }
}

@Suite struct `Words after two dashes` {
  private static let file = Input.optionalArgument("FILE", .text, "where it is written")
  private static let words = Input.arguments("PROGRAM", .text, orNone: true, "what is run")

  @Test(arguments: [
    ("show", "- []"), ("show out.png", "out.png []"), ("show out.png -- run it", "out.png [\"run\", \"it\"]"),
    ("show -- run --it", "- [\"run\", \"--it\"]"), ("show out.png run it", "out.png [\"run\", \"it\"]"),
  ])
  func `words after two dashes belong to the argument that takes many`(line: String, shown: String) async {
    let (output, errors) = (CapturedText(), CapturedText())
    let show = Command("show", "show it", inputs: [Self.file, Self.words], example: "screen show") { call in
      call.console.print("\(call[Self.file] ?? "-") \(call[Self.words])")
    }
    let program = Program(name: "screen", version: "1", summary: "show it", commands: [.made(show)])
    let code = await program.run(
      line.split(separator: " ").map(String.init), environment: Environment([:]),
      console: Console(output: output.stream(columns: nil), errors: errors.stream(columns: nil)))
    #expect(code == .done && output.text == "\(shown)\n", "\(errors.text)")
  }
}
