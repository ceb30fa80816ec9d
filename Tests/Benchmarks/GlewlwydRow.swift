internal import Glibc
internal import TestSupport

// A pending poll compared with that of glewlwyd from Debian, another OAuth server, which reads its SQLite database for
// each poll.

func glewlwydRow() -> Row {
  Row(name: "oauth: pending poll against glewlwyd", unit: "µs cpu/request", bar: .referenceOverOurs(atLeast: 10)) {
    try withTemporaryFolder { folder in
      let ours = try startPairing(folder: folder, codes: 10)
      let client = try PairingClient(ours)
      defer { close(client.socket) }
      let other = try Glewlwyd(folder: folder, codes: 100)
      defer { other.end() }
      let scripts = [
        try writeQuestions((0..<100).map { _ in try client.begin().device }, of: BenchClients.public, folder, "ours"),
        try writeQuestions(other.codes, of: other.client, folder, "other"),
      ]
      var costs: [[Double]] = [[], []]
      for round in 0..<4 {
        let sides = [(ours.port, "/oauth/token", ours.pid), (other.port, "/api/oidc/token", other.pid)]
        for (place, (port, path, pid)) in sides.enumerated() {
          let before = try processorSeconds(of: pid)
          let load = try Load(
            port: port, ["-t1", "-c64", "-d2s", "-s", scripts[place]], path: path, expectsRefusals: true)
          let used = try processorSeconds(of: pid) - before
          if round > 0 { costs[place].append(used / load.requests * 1e6) }
        }
      }
      return Measurement(ours: median(costs[0]), reference: median(costs[1]), note: "both without TLS")
    }
  }
}

private func writeQuestions(
  _ codes: [String], of client: String, _ folder: String, _ name: String
) throws -> String {
  let path = "\(folder)/\(name).lua"
  try writeFile(
    path,
    """
    wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
    local codes = {\(codes.map { "\"\($0)\"" }.joined(separator: ","))}
    local n = 0
    function request()
      n = n % #codes + 1
      return wrk.format("POST", nil, nil,
        "client_id=\(client)&grant_type=\(BenchClients.grant)&device_code=" .. codes[n])
    end

    """.utf8)
  return path
}

/// A glewlwyd with pending codes, set up as in the acceptance tests.
private final class Glewlwyd {
  let pid: Int32
  let port: UInt16
  let client: String
  let codes: [String]
  private let script: RunningProgram

  init(folder: String, codes: Int) throws {
    let said = "\(folder)/glewlwyd"
    script = try RunningProgram(
      "taskset", ["-c", "0", "python3", "\(packageFolder())/Tests/acceptance/oauth/glewlwyd.py", "\(codes)"],
      standardOutput: said, standardError: said + ".err")
    let running = script
    let line = try eventually("glewlwyd has its codes", within: 60) { () -> String? in
      let text = String(decoding: (try? readFile(said)) ?? [], as: UTF8.self)
      guard running.poll() == nil else {
        throw TestSupportError(String(decoding: try readFile(said + ".err"), as: UTF8.self))
      }
      return text.hasSuffix("\n") ? text : nil
    }
    let words = line.split { $0 == " " || $0 == "\n" }.map(String.init)
    guard words.count == codes + 3, let pid = Int32(words[0]), let port = UInt16(words[1]) else {
      throw TestSupportError("glewlwyd.py printed: \(line)")
    }
    (self.pid, self.port, client, self.codes) = (pid, port, words[2], Array(words[3...]))
  }

  /// Ends the script, which ends the server.
  func end() {
    script.signal(SIGTERM)
    _ = try? eventually("glewlwyd has ended") { script.poll() }
  }
}
