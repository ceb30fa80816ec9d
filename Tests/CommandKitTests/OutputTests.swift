import CommandKit
import TestSupport
import Testing

@Suite struct `Untrusted text on a terminal` {
  @Test(arguments: [
    ("plain text, ~ and all", "plain text, ~ and all"),
    ("거실 TV è ñ 日本", "거실 TV è ñ 日本"),
    ("\u{1b}[2J", "\\e[2J"), ("\u{1b}]0;title\u{7}", "\\e]0;title\\u{7}"),
    ("\u{9b}2J", "\\u{9b}2J"), ("\u{9d}0;x\u{9c}", "\\u{9d}0;x\\u{9c}"), ("a\rb", "a\\rb"),
    ("one\ntwo", "one\\ntwo"), ("tab\there", "tab\\there"), ("nul\0", "nul\\0"),
    ("\u{7f}", "\\u{7f}"),
    ("\u{202e}gnp.exe", "\\u{202e}gnp.exe"), ("\u{2066}x\u{2069}", "\\u{2066}x\\u{2069}"),
    ("a\u{200b}b\u{200d}c\u{feff}", "a\\u{200b}b\\u{200d}c\\u{feff}"), ("\u{2028}", "\\u{2028}"),
    ("\u{61c}\u{200e}\u{200f}", "\\u{61c}\\u{200e}\\u{200f}"),
    ("soft\u{ad}hyphen", "soft\\u{ad}hyphen"),
    ("\u{3164}\u{115f}\u{2800}", "\\u{3164}\\u{115f}\\u{2800}"), ("\u{e0041}", "\\u{e0041}"),
    ("Anna's TV ❤\u{fe0f}", "Anna's TV ❤\u{fe0f}"), ("a\u{fe0f}", "a\\u{fe0f}"),
    ("e\u{301}", "e\u{301}"), ("\u{301}x", "\\u{301}x"),
    ("\u{ffff}\u{10ffff}", "\\u{ffff}\\u{10ffff}"),
  ])
  func `control and invisible characters are escaped`(text: String, shown: String) {
    #expect(harmless(text) == shown)
    #expect(harmless(bytes: text.utf8) == shown)
  }

  @Test func `at most four combining marks per character are shown`() {
    let tower = "a" + String(repeating: "\u{301}", count: 100)
    #expect(harmless(tower).unicodeScalars.count { $0 == "\u{301}" } == 4)
  }

  @Test(
    arguments: [
      ([0x61, 0xff, 0x62], "a\\xffb"), ([0xc0, 0x80], "\\xc0\\x80"),
      ([0xed, 0xa0, 0x80], "\\xed\\xa0\\x80"),
      ([0xe2, 0x82], "\\xe2\\x82"), ([0xe2, 0x82, 0xac], "€"),
      ([0xf4, 0x90, 0x80, 0x80], "\\xf4\\x90\\x80\\x80"),
      ([0xe2, 0x82, 0x41], "\\xe2\\x82A"), ([0xf0, 0x9f, 0x93, 0xba], "📺"), ([], ""),
      ([0xc3, 0x1b], "\\xc3\\e"),
    ] as [([UInt8], String)])
  func `bytes that are not UTF-8 are escaped`(bytes: [UInt8], shown: String) {
    #expect(harmless(bytes: bytes) == shown)
  }

  @Test func `any bytes are shown without control characters`() {
    var random = SystemRandomNumberGenerator()
    for _ in 0..<2_000 {
      let bytes = (0..<12).map { _ in UInt8.random(in: 0...255, using: &random) }
      let shown = harmless(bytes: bytes)
      #expect(
        !shown.unicodeScalars.contains { $0.value < 0x20 || (0x7f..<0xa0).contains($0.value) })
      #expect(harmless(shown) == shown, "\(bytes)")
    }
  }
}

@Suite struct `Display width` {
  @Test(arguments: [
    ("", 0), ("abc", 3), ("거실", 4), ("\u{1112}\u{1161}\u{11ab}", 2), ("e\u{301}", 1), ("日本", 4),
    ("ﾃﾚﾋﾞ", 4), ("Ａ", 2), ("📺", 2), ("é", 1), ("…", 1), ("█▀", 2), ("a\u{200b}", 1),
  ])
  func `the width of a text is counted in columns`(text: String, width: Int) {
    #expect(displayWidth(text) == width)
  }

  @Test(arguments: [
    ("abcdef", 6, "abcdef"), ("abcdef", 5, "abcd…"), ("거실에서", 8, "거실에서"), ("거실에서", 7, "거실에…"),
    ("거실에서", 6, "거실…"), ("abc", 1, "…"), ("abc", 0, ""),
  ])
  func `a text is cut between characters`(text: String, columns: Int, cut: String) {
    #expect(truncated(text, to: columns) == cut)
    #expect(displayWidth(truncated(text, to: columns)) <= columns)
  }
}

@Suite struct `Tables` {
  static var sample: Table {
    var table = Table([.init("ID", .name), .init("NAME"), .init("AGE", .number)])
    table.add(["a1", "거실 텔레비전", "5"])
    table.add(["b22", "Kitchen\u{1b}[2J with a long name indeed", "120"])
    table.add(["c"])
    return table
  }

  @Test func `columns are aligned by display width`() {
    #expect(
      Self.sample.lines(width: nil) == [
        "ID   NAME                                  AGE",
        "a1   거실 텔레비전                           5",
        "b22  Kitchen\\e[2J with a long name indeed  120",
        "c",
      ])
  }

  @Test func `a table is cut at the terminal's width, and names shrink last`() {
    let lines = Self.sample.lines(width: 24)
    #expect(
      lines == [
        "ID   NAME            AGE",
        "a1   거실 텔레비전     5",
        "b22  Kitchen\\e[2J …  120",
        "c",
      ])
    #expect(
      Self.sample.lines(width: 14) == [
        "ID   NAME  AGE", "a1   거…     5", "b22  Kit…  120", "c",
      ])
    for width in 0...50 {
      #expect(Self.sample.lines(width: width).allSatisfy { displayWidth($0) <= width })
    }
  }

  static func signIns(_ ids: String...) -> Table {
    var table = Table([.init("ID", .id(shortest: 8)), .init("WHO"), .init("SINCE", .time)])
    for id in ids { table.add([id, "somebody", "2026-11-20T12:34:56Z"]) }
    return table
  }

  @Test func `a table shortens ids first, then times, and text last`() {
    let table = Self.signIns("4f2a9c11-0000-4000-8000-000000000001", "-")
    #expect(
      table.lines(width: 68) == [
        "ID                                    WHO       SINCE",
        "4f2a9c11-0000-4000-8000-000000000001  somebody  2026-11-20T12:34:56Z",
        "-                                     somebody  2026-11-20T12:34:56Z",
      ])
    let short = [
      "ID        WHO       SINCE",
      "4f2a9c11  somebody  2026-11-20T12:34:56Z",
      "-         somebody  2026-11-20T12:34:56Z",
    ]
    #expect(table.lines(width: 67) == short)
    #expect(table.lines(width: 40) == short)
    #expect(
      table.lines(width: 37).dropFirst() == [
        "4f2a9c11  somebody  2026-11-20T12:34Z", "-         somebody  2026-11-20T12:34Z",
      ])
    #expect(table.lines(width: 35)[1] == "4f2a9c11  someb…  2026-11-20T12:34Z")
    #expect(table.lines(width: nil)[1].contains("-8000-000000000001  "))
  }

  @Test func `shortened ids stay long enough to be distinct`() {
    let alike = Self.signIns("4f2a9c1100001", "4f2a9c1100002", "4f2a9c1100002", "77")
    #expect(
      alike.lines(width: 40).dropFirst().map { $0.prefix { $0 != " " } } == [
        "4f2a9c1100001", "4f2a9c1100002", "4f2a9c1100002", "77",
      ])
    let beginning = Self.signIns("4f2a9c1199999", "4f2a9c11", "5f2a9c1100001")
    #expect(
      beginning.lines(width: 40).dropFirst().map { $0.prefix { $0 != " " } } == [
        "4f2a9c119", "4f2a9c11", "5f2a9c110",
      ])
  }

  @Test func `list lines wrap at the terminal's width`() {
    let text = CapturedText()
    let console = Console(output: text.stream(columns: 20), errors: text.stream())
    console.print("done: 4f2a9c11-0000", short: "not needed")
    console.print("done: 4f2a9c11-0000-4000", short: "done: 4f2a9c11")
    console.print("done: 4f2a9c11-0000-4000", short: "\u{1b}[2J 거실 텔레비전 of anna")
    console.print("", short: "not needed")
    let long = "done  by anna: 4f2a9c11-0000-4000-8000-000000000001"
    console.print(long, short: long)
    console.flush()
    #expect(
      text.text == """
        done: 4f2a9c11-0000
        done: 4f2a9c11
        \\e[2J 거실 텔레비전
          of anna

        done  by anna:
          4f2a9c11-0000-4000
          -8000-000000000001

        """)
    let tiny = CapturedText()
    let small = Console(output: tiny.stream(columns: 4), errors: tiny.stream())
    small.print("거실 텔 x", short: "거실 텔 x")
    small.flush()
    #expect(tiny.text == "거실\n  텔\n  x\n")
    let pipe = CapturedText()
    let piped = Console(output: pipe.stream(), errors: pipe.stream())
    piped.print("done: 4f2a9c11-0000-4000", short: "done: 4f2a9c11")
    piped.flush()
    #expect(pipe.text == "done: 4f2a9c11-0000-4000\n")
  }

  @Test func `a table is cut on a terminal and complete in a pipe`() async {
    let wide = await library("book list")
    #expect(wide.output.contains("구운몽\\u{202e}\\e[2J"))
    let narrow = await library("book list", columns: 24)
    #expect(narrow.output.split(separator: "\n").allSatisfy { displayWidth(String($0)) <= 24 })
  }
}

@Suite struct `JSON output` {
  @Test func `--json prints one document without invisible characters`() async {
    #expect(
      await library("book list --json")
        == Answer(output: #"[{"id":"dune","copies":2},{"id":"nim","title":"\u202e"}]"# + "\n"))
  }

  @Test func `--json prints a document also when a command fails`() async {
    #expect(
      await library("book lend lost --member x --json")
        == Answer(
          errors:
            #"{"error":{"code":"not-found","message":"there is no book lost","hint":"library book list shows all"}}"#
            + "\n", code: 1))
    #expect(
      await library("--json bok").errors
        == #"{"error":{"code":"usage","message":"library has no command \"bok\"","hint":"did you mean \"library book\"?"}}"#
        + "\n")
  }

  @Test func `a command may end with an exit code alone`() async {
    let command = Command("exec", "pass on", example: "p exec") { call in
      call.console.print("its output")
      throw QuietExit(ExitCode(rawValue: 42))
    }
    let program = Program(name: "p", version: "0", summary: "p", commands: [.made(command)])
    let text = CapturedText()
    let code = await program.run(
      ["exec"], console: Console(output: text.stream(), errors: text.stream()))
    #expect(code.rawValue == 42)
    #expect(text.text == "its output\n")
  }

  @Test func `an unknown error is shown as the program explains it`() async {
    #expect(await library("fail") == Answer(errors: "library: a surprise\n", code: 1))
  }
}

@Suite struct `The console` {
  @Test func `a full disk is reported once and fails the command`() async {
    let errors = CapturedText()
    let full = OutputStream(isTerminal: false, columns: { nil }, write: { _ in 28 })
    let console = Console(output: full, errors: errors.stream())
    let code = await Library.program.run(["book", "list"], console: console)
    #expect(code == .failed)
    #expect(errors.text == "library: cannot write to standard output: No space left on device\n")
  }

  @Test func `output and messages keep their order`() {
    let both = CapturedText()
    let console = Console(output: both.stream(), errors: both.stream())
    console.print("one")
    console.note("two")
    console.print("three")
    console.flush()
    #expect(both.text == "one\ntwo\nthree\n")
  }

  @Test func `progress is not shown without a terminal`() async throws {
    let errors = CapturedText()
    let console = Console(output: errors.stream(), errors: errors.stream())
    #expect(await console.progress("working") { 5 } == 5)
    #expect(errors.text == "")
  }

  @Test func `a progress line is removed at the end`() async throws {
    let errors = CapturedText()
    let console = Console(output: errors.stream(), errors: errors.stream(columns: 20))
    await console.progress("working\u{1b}[2J for a long time") {
      _ = try? await eventually("the line of progress") { !errors.text.isEmpty }
    }
    // Drawn once a second, so that a slow machine draws it more than once.
    let line = "\r\u{1b}[Kworking\\e[2J for a\u{2026}"
    #expect(errors.text.hasPrefix(line) && errors.text.hasSuffix(line + "\r\u{1b}[K"))
    let quick = await console.progress("quick") { 1 }
    #expect(quick == 1)
    #expect(!errors.text.contains("quick"))
  }
}
