internal import Glibc
internal import TestSupport

// Polls of a waiting device compared with nginx serving the same body: the server's processor time per request.

func pollRows() -> [Row] {
  [
    Row(
      name: "poll: pending, access token", unit: "µs cpu/request",
      bar: .referenceOverOurs(atLeast: 0.6)
    ) { try comparePolls(.accessToken) },
    Row(
      name: "poll: pending, signed header", unit: "µs cpu/request",
      bar: .referenceOverOurs(atLeast: 0.4)
    ) { try comparePolls(.signed) },
    Row(
      name: "poll: a million live codes against 1,000", unit: "µs cpu/request",
      bar: .growth(atMost: 1.2), measure: compareManyCodes),
  ]
}

/// How the device authenticates.
private enum PollKind { case accessToken, signed }

private let path = "/api/v1/tokens/authn"

func startPairing(
  folder: String, codes: Int, grants: BenchGrants? = nil, pinned: Bool = true
) throws -> PinnedServer {
  let port = try freePort()
  let data = try fillPairing(folder: folder, codes: codes, grants)
  return try PinnedServer(
    "pairing-\(codes)", port: port, folder: folder, [try ownProgram(), "serve-pairing", "\(port)", data],
    patience: 600, pinned: pinned)
}

/// Makes a database with pending codes and returns its folder.
func fillPairing(folder: String, codes: Int, _ grants: BenchGrants? = nil) throws -> String {
  let data = "\(folder)/\(codes)"
  guard unsafe mkdir(data, 0o700) == 0 else { throw TestSupportError("mkdir: errno \(errno)") }
  let filled = try run(try ownProgram(), ["fill-pairing", data, "\(codes)"] + (grants?.words ?? []), deadline: 900)
  guard filled.status == 0 else { throw TestSupportError("filling: \(filled.errorText)") }
  return data
}

private func comparePolls(_ kind: PollKind) throws -> Measurement {
  try withTemporaryFolder { folder in
    let ours = try startPairing(folder: folder, codes: 1000)
    let nginx = try startNginx(folder: folder, body: nginxQuoted(pendingBody))
    var costs: [[Double]] = [[], []]
    var rates: [[Double]] = [[], []]
    for round in 0..<6 {
      let arguments = try pollArguments(kind, round, folder: folder)
      let before = try ours.processorSeconds()
      let load = try Load(
        port: ours.port, arguments, path: "\(path)?deviceId=box-7&format=json",
        expectsRefusals: true)
      let used = try ours.processorSeconds() - before
      let nginxBefore = try nginx.processorSeconds()
      let nginxLoad = try Load(port: nginx.port, ["-t1", "-c64", "-d2s"])
      let nginxUsed = try nginx.processorSeconds() - nginxBefore
      guard round > 0 else { continue }
      costs[0].append(used / load.requests * 1e6)
      costs[1].append(nginxUsed / nginxLoad.requests * 1e6)
      rates[0].append(load.requestsPerSecond)
      rates[1].append(nginxLoad.requestsPerSecond)
    }
    return Measurement(
      ours: median(costs[0]), reference: median(costs[1]),
      note: "\(text(median(rates[0]))) requests/s against \(text(median(rates[1])))")
  }
}

private func pollArguments(_ kind: PollKind, _ round: Int, folder: String) throws -> [String] {
  let plain = ["-t1", "-c64", "-d2s"]
  switch kind {
  case .accessToken:
    let token = String(decoding: try readFile("\(folder)/1000/token"), as: UTF8.self)
    return plain + ["-H", "Authorization: Bearer \(token)"]
  case .signed:
    // More than two seconds need, because each can be used only once.
    let script = try writeSignedCalls(
      250_000, method: "GET", path: path, folder: folder, name: "round-\(round)"
    ) { "\(path)?deviceId=box-\($0 % 1000)&format=json" }
    return plain + ["-s", script]
  }
}

private func compareManyCodes() throws -> Measurement {
  try withTemporaryFolder { folder in
    let few = try startPairing(folder: folder, codes: 1000)
    let many = try startPairing(folder: folder, codes: 1_000_000)
    let resident = try many.residentKiB() / 1024
    let start = String(
      decoding: try readFile("\(folder)/1000000/milliseconds-to-start"), as: UTF8.self)
    var costs: [[Double]] = [[], []]
    for round in 0..<6 {
      for (index, (server, codes)) in [(few, 1000), (many, 1_000_000)].enumerated() {
        let token = String(decoding: try readFile("\(folder)/\(codes)/token"), as: UTF8.self)
        // Every request names another device, so that the whole table of codes is used and not one cache line.
        let script = "\(folder)/\(codes).lua"
        try writeFile(
          script,
          """
          wrk.headers["Authorization"] = "Bearer \(token)"
          local n = 0
          function request()
            n = (n + 7919) % \(codes)
            return wrk.format("GET", "\(path)?format=json&deviceId=box-" .. n)
          end

          """.utf8)
        let before = try server.processorSeconds()
        let load = try Load(
          port: server.port, ["-t1", "-c64", "-d2s", "-s", script], expectsRefusals: true)
        let used = try server.processorSeconds() - before
        if round > 0 { costs[index].append(used / load.requests * 1e6) }
      }
    }
    return Measurement(
      ours: median(costs[1]), reference: median(costs[0]),
      note:
        "with a million codes: resident memory \(text(resident)) MiB, loaded in \(start) ms")
  }
}
