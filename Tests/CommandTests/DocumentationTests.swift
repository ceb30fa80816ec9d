import TestSupport
import Testing

@Suite struct `Examples of the protocol page` {
  @Test func `the examples of docs/protocol.md run as they are printed`() throws {
    let text = String(decoding: try readFile(packageFolder() + "/docs/protocol.md"), as: UTF8.self)
    let script = shellExamples(in: text)
    #expect(script.contains("regentctl code approve"))
    try withService { service in
      let finished = try run(
        "bash", ["-euo", "pipefail", "-c", script],
        environment: [
          "HOME": service.folder, "PATH": "\(try productsFolder()):/usr/bin:/bin",
          "LC_ALL": "C.UTF-8", "REGENT_URL": service.url,
          "REGENT_SOCKET": "\(service.folder)/.local/state/regent/admin.sock",
        ])
      #expect(finished.status == 0, "\(finished.outputText)\n\(finished.errorText)")
      #expect(finished.outputText.contains("\"mvpd\":\"local\""))
      #expect(finished.outputText.contains("<shortAuthorizationToken>"))
    }
  }

  /// The lines between ```sh and ```.
  private func shellExamples(in text: String) -> String {
    var isExample = false
    var lines: [Substring] = []
    for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
      if line.hasPrefix("```") {
        isExample = line == "```sh"
      } else if isExample {
        lines.append(line)
      }
    }
    return lines.joined(separator: "\n")
  }
}

@Suite struct `Command lines in the documentation` {
  @Test func `the documentation names only commands and options that the programs have`() throws {
    let programs = ["regentd", "regentctl", "regent"]
    var manuals: [String: String] = [:]
    for program in programs {
      let page = try run("\(try productsFolder())/\(program)", ["manual"]).outputText
      manuals[program] = page.replacing("\\-", with: "-")
    }
    var seen = 0
    for document in try documents() {
      for snippet in snippets(of: String(decoding: try readFile(document), as: UTF8.self)) {
        let words = snippet.split { " ()'\"`;".contains($0) }.map(String.init)
        for (place, word) in words.enumerated() {
          // A variable's value may end like the path of a program.
          let program = word.contains("=") ? "" : word.split(separator: "/").last.map(String.init) ?? ""
          // After `-u` or `-o`, `regentd` is a user; `from regent import` names the Python module.
          let before = place == 0 ? "" : words[place - 1]
          guard let manual = manuals[program], !before.hasPrefix("-"), before != "from" else { continue }
          // In `docker compose exec regentd /usr/bin/regentctl …` the first name is a container, and the options
          // belong to the second.
          let rest = words[(place + 1)...].prefix { word in
            let name = word.split(separator: "/").last.map(String.init) ?? ""
            return !["|", "&&", "&", ">", "#"].contains(word) && !(word.contains("/") && programs.contains(name))
          }
          for option in rest where option.hasPrefix("--") && option.count > 2 {
            let name = option.prefix { $0 != "=" }
            let isThere = manual.contains("\(name)")
            #expect(isThere, "\(document): \(program) has no \(name)")
            seen += 1
          }
          guard let verb = rest.first, verb.allSatisfy({ $0.isLowercase || $0 == "-" }), !verb.hasPrefix("-"),
            !programs.contains(verb)
          else { continue }
          let isThere = manual.contains("\(program) \(verb)")
          #expect(isThere, "\(document): there is no \(program) \(verb)")
          seen += 1
        }
      }
    }
    #expect(seen > 100, "only \(seen) commands and options were found")
  }

  private func documents() throws -> [String] {
    let found = try run("/usr/bin/find", ["\(packageFolder())/docs", "-name", "*.md"]).outputText
    return found.split(separator: "\n").map(String.init).sorted() + ["\(packageFolder())/README.md"]
  }

  /// The lines of code blocks, and the text between back quotes elsewhere.
  private func snippets(of page: String) -> [Substring] {
    var isExample = false
    var found: [Substring] = []
    for line in page.split(separator: "\n") {
      if line.hasPrefix("```") {
        isExample.toggle()
      } else if isExample {
        found.append(line)
      } else {
        let pieces = line.split(separator: "`", omittingEmptySubsequences: false)
        found += pieces.enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
      }
    }
    return found
  }
}
