import CommandKit
import RegentJSON

// The program under test: a library that lends books. It uses every feature of CommandKit once.

enum Genre: String, CaseIterable { case novel, poetry, technical }

enum Books {
  static let id = Input.argument("ID", .text, "the book's id")
    .completed { request in
      let shelf = request[Library.shelf] ?? "none"
      return [
        Candidate("dune", "on \(shelf)"), Candidate("dubliners", "on \(shelf)"),
        Candidate("evil $(reboot)", "needs quoting"), Candidate("emma", "\u{1b}]0;x\u{7}"),
      ]
    }
  static let title = Input.option("title", .text, "the title")
  static let authors = Input.repeated("author", .text("NAME"), "who wrote it")
  static let genre = Input.option("genre", ValueKind<Genre>.cases, default: .novel, "what it is")
  static let lent = Input.option("lent", .onOff, "whether it may be lent")
  static let period = Input.option(
    "period", .duration(.seconds(1)...(.seconds(86_400 * 365))), default: .seconds(86_400 * 28),
    "how long it may be kept")
  static let cover = Input.option("cover", .file, "a picture of the cover")
  static let member = Input.option("member", .text, "who borrows it")
  static let guest = Input.option("guest", .text, "the name of a guest")
  static let force = Input.flag("force", "also when it is reserved")
  static let words = Input.arguments("WORD", .text, "words to look for")

  static let add = Command(
    "add", "add a book", details: "A book that is there already stays as it is.",
    inputs: [id, title, authors, genre, lent, period, cover],
    example: "library book add dune --title Dune --author \"Frank Herbert\""
  ) { call in
    call.console.print(
      "\(call[id]) \(call[title] ?? "-") \(call[authors]) \(call[genre].rawValue) "
        + "\(call[lent].map { "\($0)" } ?? "-") \(shownDuration(call[period]))")
  }

  static let lend = Command(
    "lend", "lend a book", inputs: [id, member, guest, force], rules: [.oneOf([member, guest])],
    example: "library book lend dune --member anna"
  ) { call in
    await Task {}.value
    if call[id] == "lost" {
      throw CommandError(
        "there is no book \(call[id])", hint: "library book list shows all", code: "not-found")
    }
    call.console.print("lent \(call[id]) to \(call[member] ?? call[guest] ?? "") \(call[force])")
  }

  static let list = Command("list", "list the books", example: "library book list") { call in
    var table = Table([.init("ID", .name), .init("TITLE"), .init("COPIES", .number)])
    table.add(["dune", "Dune", "2"])
    table.add(["nim", "구운몽\u{202e}\u{1b}[2J", "11"])
    call.show([["id": "dune", "copies": 2], ["id": "nim", "title": "\u{202e}"]], as: table)
  }

  static let find = Command(
    "find", "find books by words", inputs: [words], example: "library book find sand worm"
  ) { call in call.console.print(call[words].joined(separator: "+")) }

  static let all = Command("book", "the books", commands: [add, lend, list, find])
}

enum Library {
  static let shelf = Input.option("shelf", .text, "where to look").environment("LIBRARY_PLACE")
  static let port = Input.option("port", .integer(1...65_535), default: 80, "where to listen")
  static let listen = Input.repeated(
    "listen-on", .text("ADDRESS"), default: ["localhost"], "addresses to listen on")
  static let allow = Input.repeated("allow", .network, "who may come in")
  static let certificate = Input.option("certificate", .file, "for TLS")
  static let key = Input.option("key", .file, "for TLS")
  static let upload = Input.option(
    "upload", .bytes(1...(1 << 30)), default: 65_536, "largest upload")
  static let quiet = Input.flag("quiet", "say nothing")

  static let open = Command(
    "open", "open the doors", inputs: [port, listen, certificate, key, quiet],
    sections: [InputSection("limits", [upload, allow])], rules: [.together([certificate, key])],
    environmentPrefix: "LIBRARY_", example: "library open --port 8080"
  ) { call in
    call.console.print(
      "\(call[port]) \(call[listen]) \(call[upload]) \(call[allow]) \(call[quiet]) "
        + "\(call.source(of: port) ?? "default")")
  }

  static let fail = Command(
    "fail", "fail in an unexpected way", example: "library fail", isHidden: true
  ) { _ in throw Surprise() }

  static let program = Program(
    name: "library", version: "1.2", summary: "lend books",
    details: "The library of the village.\n\nOpen on Tuesdays.", options: [shelf], offersJSON: true,
    commands: [.made(Books.all), .made(open), .made(fail)],
    exitCodes: ExitCode.standardMeanings + [(ExitCode(rawValue: 3), "the book is out")],
    seeAlso: ["man(1)"], explain: { ($0 as? Surprise).map { _ in CommandError("a surprise") } })
}

struct Surprise: Error {}

/// The output and exit code of a call of the library program.
struct Answer: Equatable {
  var output = ""
  var errors = ""
  var code: Int32 = 0
}

func library(
  _ line: String, environment: [String: String] = [:], columns: Int? = nil
) async -> Answer {
  await library(words: line.split(separator: " ").map(String.init), environment, columns)
}

func library(
  words: [String], _ environment: [String: String] = [:], _ columns: Int? = nil
) async -> Answer {
  let (output, errors) = (CapturedText(), CapturedText())
  let console = Console(
    output: output.stream(columns: columns), errors: errors.stream(columns: columns))
  let code = await Library.program.run(
    words, environment: Environment(environment), console: console)
  return Answer(output: output.text, errors: errors.text, code: code.rawValue)
}
