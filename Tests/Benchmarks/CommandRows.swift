internal import Glibc
internal import TestSupport

// How long an operator waits for a command: regentctl from start to exit, against a running service with data.

func commandRows() -> [Row] {
  [
    Row(name: "regentctl: slowest reading command", unit: "ms", bar: .ours(atMost: 15)) {
      try measureCommands()
    }
  ]
}

private let rounds = 41
private let requestors = 10
private let accounts = 200
private let boxes = 40

private func measureCommands() throws -> Measurement {
  try withTemporaryFolder { folder in
    let programs = try ownProgram().split(separator: "/", omittingEmptySubsequences: false)
      .dropLast().joined(separator: "/")
    let shell = Shell(folder: folder, path: "\(programs):/usr/bin:/bin")
    let service = try RegentdProcess(
      "\(programs)/regentd", in: folder, ["--web", "\(packageFolder())/web"], environment: shell.environment)
    defer { service.program.signal(SIGKILL) }
    try fill(shell, url: service.url)

    var slowest = 0.0
    var notes: [String] = []
    for words in try readingCommands(shell) {
      let taken = median(
        try (0..<rounds).map { _ in try milliseconds("\(programs)/regentctl", words, shell) })
      slowest = max(slowest, taken)
      notes.append(
        "\(words.prefix(2).filter { !$0.hasPrefix("/") }.joined(separator: " ")) \(text(taken))")
    }
    return Measurement(
      ours: slowest, reference: nil,
      note: "ms, median of \(rounds) from start to exit: " + notes.joined(separator: ", "))
  }
}

private func readingCommands(_ shell: Shell) throws -> [[String]] {
  let code = try shell.get("regentctl code list --json | grep -o '\"id\":\"[^\"]*' | head -n 1")
  let device = try shell.get("regentctl device list | awk 'NR == 2 { print $1 }'")
  return [
    ["requestor", "list"], ["requestor", "show", "acme-1"], ["key", "list", "acme-1"],
    ["statement", "list"], ["provider", "list"], ["provider", "show", "cable"],
    ["integrate", "list", "acme-1"], ["account", "list", "cable"],
    ["account", "show", "cable", "viewer-1"], ["entitle", "list", "cable"], ["code", "list"],
    ["code", "show", String(code.dropFirst(6))], ["device", "list"], ["device", "show", device],
    ["session", "list", "viewer-1"], ["token", "list"], ["signing-key", "list"],
    ["audit", "tail"], ["audit", "export"], ["stats"], ["doctor"], ["export"],
    ["apply", "\(shell.folder)/all.json", "--dry-run"],
    ["__complete", "--", "requestor", "show", ""],
    ["--help"],
  ]
}

/// Fills a service as of a small operator: requestors, accounts, rules, and boxes of which half are signed in.
private func fill(_ shell: Shell, url: String) throws {
  let parts = [
    list("requestors", requestors) { #"{"id":"acme-\#($0)","domains":["tv.example.org"]}"# },
    #""providers":[{"id":"cable","name":"Cable","kind":"local"}]"#,
    list("integrations", requestors) { #"{"requestor":"acme-\#($0)","provider":"cable"}"# },
    list("accounts", accounts) { #"{"provider":"cable","name":"viewer-\#($0)"}"# },
    list("entitlements", 50) { #"{"provider":"cable","allow":"channel-\#($0)"}"# },
  ]
  try writeFile("\(shell.folder)/all.json", ("{" + parts.joined(separator: ",") + "}").utf8)
  try shell.get("regentctl apply all.json")
  try shell.get("regentctl key issue acme-1 --json > key.json")
  try shell.get(
    #"""
    K=$(cut -d '"' -f 4 key.json) S=$(cut -d '"' -f 8 key.json) P=/reggie/v1/acme-1/regcode.json
    for N in $(seq \#(boxes)); do
      T="POST requestor_id=acme-1, nonce=n-$N, signature_method=HMAC-SHA256, request_time=$(date +%s%3N), request_uri=$P"
      H=$(printf %s "$T" | openssl dgst -sha256 -hmac $S -binary | openssl base64 -A)
      C=$(curl -sf -X POST -H "Authorization: $T, public_key=$K, signature=$H" "\#(url)$P?deviceId=box-$N" |
        sed 's/.*"code":"\([A-Z]*\)".*/\1/')
      [ $((N % 2)) = 0 ] || regentctl code approve $C --provider cable --account viewer-$N >/dev/null
    done
    """#)
}

private func list(_ name: String, _ count: Int, _ entry: (Int) -> String) -> String {
  "\"\(name)\":[" + (1...count).map(entry).joined(separator: ",") + "]"
}

private struct Shell {
  let folder: String
  let path: String

  var environment: [String: String] { ["HOME": folder, "PATH": path, "LC_ALL": "C.UTF-8"] }

  @discardableResult
  func get(_ command: String) throws -> String {
    let ended = try run(
      "sh", ["-c", "cd \"$HOME\" && \(command)"], environment: environment, deadline: 120)
    guard ended.status == 0 else { throw TestSupportError("\(command): \(ended.errorText)") }
    return ended.outputText.split(separator: "\n").joined(separator: "\n")
  }
}

/// The time from start to exit of a program.
///
/// `waitid` blocks until the exit, so no polling adds to it.
private func milliseconds(_ program: String, _ words: [String], _ shell: Shell) throws -> Double {
  let start = monotonicSeconds()
  let running = try RunningProgram(
    program, words, environment: shell.environment,
    standardOutput: "/dev/null", standardError: "\(shell.folder)/said")
  var info = unsafe siginfo_t()
  // WNOWAIT leaves the zombie for `RunningProgram.wait`.
  _ = unsafe waitid(P_PID, id_t(running.pid), &info, WEXITED | WNOWAIT)
  let taken = (monotonicSeconds() - start) * 1000
  let status = try running.wait()
  guard status == 0 else {
    let said = String(decoding: try readFile("\(shell.folder)/said"), as: UTF8.self)
    throw TestSupportError("regentctl \(words): \(status) \(said)")
  }
  return taken
}
