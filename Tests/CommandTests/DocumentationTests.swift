import TestSupport
import Testing

@Suite struct `docs/protocol.md` {
  @Test func `its examples run as they stand there`() throws {
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

  /// What stands between ```sh and ```.
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
