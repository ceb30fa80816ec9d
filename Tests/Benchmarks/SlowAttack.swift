internal import Glibc
internal import RegentHTTPCodec
internal import HTTPServer
internal import TestSupport

// The latency of an honest client while slowhttptest holds 2,000 connections from one address. The server is pinned to
// processor 0. The attack (at the lowest priority) and the measuring client share processor 1; the client has its own
// address.

func slowAttackRows() -> [Row] {
  let attacks: [(name: String, arguments: [String])] = [
    ("headers", ["-H", "-i", "2", "-x", "24"]),
    ("bodies", ["-B", "-i", "2", "-x", "24", "-s", "8192"]),
    ("reads", ["-X", "-k", "3", "-n", "1", "-w", "10", "-y", "200", "-z", "32"]),
  ]
  return attacks.map { attack in
    Row(
      name: "engine: p99 during 2,000 slow \(attack.name)", unit: "µs", bar: .growth(atMost: 3)
    ) {
      try measureAttack(attack.arguments)
    }
  }
}

private let connections = 2000
private let samplesEach = 2000

private func measureAttack(_ arguments: [String]) throws -> Measurement {
  try withTemporaryFolder { folder in
    guard let tool = installedProgram("slowhttptest") else {
      throw TestSupportError("slowhttptest is not installed: run deploy/bootstrap --bench")
    }
    let port = try freePort()
    let server = try PinnedServer(
      "ours", port: port, folder: folder, [try ownProgram(), "serve-attacked", "\(port)"])
    let small = { (_: Int) in
      HonestRequest(text: "GET /small HTTP/1.1\r\nHost: localhost\r\n\r\n", status: "200")
    }
    // The first samples warm the server up and are discarded.
    _ = try samples(port, samplesEach / 4, small)
    var quiet: [[Double]] = []
    var attacked: [[Double]] = []
    var held = 0
    // Measured in turn, so that other load on the machine affects both sides.
    for _ in 0..<3 {
      quiet.append(try samples(port, samplesEach, small))
      let command =
        ["-n", "19", "taskset", "-c", "1", tool, "-c", "\(connections)", "-r", "1000", "-l", "60"]
        + arguments + ["-u", "http://127.0.0.1:\(port)/large"]
      let attack = try RunningProgram(
        "nice", command, standardOutput: "\(folder)/attack.out",
        standardError: "\(folder)/attack.err")
      // The tool opens 1,000 connections a second. At most four seconds, because deadlines end the attack after ten.
      var open = 0
      for _ in 0..<4 where open < connections {
        sleep(1)
        open = try openConnections(port)
      }
      attacked.append(try samples(port, samplesEach, small))
      guard attack.poll() == nil else {
        let said = String(decoding: try readFile("\(folder)/attack.out"), as: UTF8.self)
        throw TestSupportError("slowhttptest ended early: \(said.suffix(400))")
      }
      attack.signal(SIGKILL)
      _ = try attack.wait()
      held = max(held, open)
      sleep(1)
    }
    let middle = { (runs: [[Double]], percent: Int) in median(runs.map { percentile($0, percent) })
    }
    return Measurement(
      ours: middle(attacked, 99), reference: middle(quiet, 99),
      note: "\(held) connections held; median \(text(middle(attacked, 50))) "
        + "against \(text(middle(quiet, 50))) µs; server \(text(try server.residentKiB())) KiB")
  }
}

/// `serve-attacked PORT` serves a large reply for slow readers at /large, and a small one elsewhere.
func serveAttacked(_ arguments: [String]) -> Int32 {
  guard arguments.count == 1, let port = UInt16(arguments[0]) else {
    note("usage: Benchmarks serve-attacked PORT\n")
    return 2
  }
  let small = PreparedResponse(.text(.ok, "small"))
  let large = PreparedResponse(
    Response(.ok, type: "text/plain", body: [UInt8](repeating: 0x61, count: 1 << 20)))
  var configuration = ServerConfiguration()
  configuration.loops = 1
  let largePath = Array("/large".utf8)
  let handler = ClosureHandler { request in
    .now(Response(request.path == largePath ? large : small))
  }
  do {
    let server = try Server(
      [Listener(.network(.loopback, port: port), handler: handler)], configuration: configuration)
    note("listening on \(server.addresses[0])\n")
    while true { pause() }
  } catch {
    note("\(error)\n")
    return 1
  }
}

/// The number of established connections of the server's port, from the kernel's table.
private func openConnections(_ port: UInt16) throws -> Int {
  let hex = String(port, radix: 16, uppercase: true)
  let local = ":" + String(repeating: "0", count: 4 - hex.count) + hex
  let table = String(decoding: try readFile("/proc/net/tcp"), as: UTF8.self)
  return table.split(separator: "\n").count { line in
    let words = line.split(separator: " ")
    return words.count > 3 && words[1].hasSuffix(local) && words[3] == "01"
  }
}
