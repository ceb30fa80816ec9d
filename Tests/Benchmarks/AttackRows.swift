internal import Glibc
internal import RegentPairing
internal import TestSupport

// Floods of requests and connections against regentd with its usual limits. Earlier versions ran out of memory or
// refused honest clients under each of them. Measured are the latency of honest polls during a flood, and the memory of
// the service during the floods and after a restart. regentd is pinned to processor 0. The flood runs on processor 1
// with idle priority, so that the honest client, which has its own address, waits only for the service.

func attackRows() -> [Row] {
  let floods: [(name: String, begin: (Battlefield) throws -> Flood)] =
    [
      ("signed headers dated in the future", headersDatedAhead), ("signed headers with the current time", headersOfNow),
      ("replaced codes", replacedCodes), ("reads of records by unauthenticated clients", strangers),
      ("guesses, each from another network", guesses), ("3,000 unfinished bodies", unfinishedBodies),
      ("3,000 clients that never read", neverReading),
    ] + oauthFloods()
  return floods.map { flood in
    Row(name: "attack: p99 of polls during \(flood.name)", unit: "µs", bar: .growth(atMost: 3)) {
      // Where the flood is signed, the honest box uses the same key as the flood.
      try measureFlood(
        flood.begin, isSigned: flood.name.hasPrefix("signed"), leastShare: flood.name.hasPrefix("3,000") ? 0 : 0.5)
    }
  }
}

/// The limit that docs/limits.md promises under each flood.
private let mostMebibytes = 256.0
private let honestDevices = 1000
private let samplesEach = 1500
private let rounds = 3

/// The service and the files that a flood uses.
struct Battlefield {
  let server: PinnedServer
  let folder: String
  let token: String
  let round: Int
}

/// A running flood; it ends on deinit.
final class Flood {
  private let tool: RunningProgram?
  private let sockets: [Int32]

  init(tool: RunningProgram? = nil, sockets: [Int32] = []) {
    self.tool = tool
    self.sockets = sockets
  }

  deinit { sockets.forEach { _ = close($0) } }

  /// Whether its program still runs.
  var isAlive: Bool { tool.map { $0.poll() == nil } ?? true }
}

private func measureFlood(
  _ begin: (Battlefield) throws -> Flood, isSigned: Bool, leastShare: Double
) throws -> Measurement {
  try withTemporaryFolder { folder in
    try raiseDescriptorLimit()
    var regentd = try RegentdUnderTest(folder: folder, codes: honestDevices)
    let token = String(decoding: try readFile("\(regentd.data)/token"), as: UTF8.self)
    var signer = try CallSigner(name: "honest")
    let poll = { (number: Int) throws in
      let proof = isSigned ? signer.header(method: "GET", path: pollPath, key: 0) : "Bearer \(token)"
      return HonestRequest(
        text: "GET \(pollPath)?format=json&deviceId=box-\(number % honestDevices) HTTP/1.1\r\n"
          + "Host: bench\r\nAuthorization: \(proof)\r\n\r\n", status: "404")
    }
    // The first samples warm the service up and are discarded.
    _ = try samples(regentd.port, samplesEach / 4, poll)
    var (quiet, attacked): ([[Double]], [[Double]]) = ([], [])
    var shares: [Double] = []
    // Measured in turn, so that other load on the machine affects both sides.
    for round in 0..<rounds {
      quiet.append(try samples(regentd.port, samplesEach, poll))
      let flood = try begin(
        Battlefield(server: regentd.server, folder: folder, token: token, round: round))
      sleep(1)
      let (start, used) = (monotonicSeconds(), try regentd.server.processorSeconds())
      attacked.append(try samples(regentd.port, samplesEach, poll))
      shares.append((try regentd.server.processorSeconds() - used) / (monotonicSeconds() - start))
      guard flood.isAlive else { throw TestSupportError("the flood ended early") }
    }
    let share = median(shares)
    // A flood that got too little processor time proves nothing.
    guard share >= leastShare else {
      throw TestSupportError("regentd was busy \(text(share * 100)) % of the time only: the machine has too much to do")
    }
    let peak = try regentd.server.peakKiB() / 1024
    try regentd.restart()
    let after = try regentd.server.peakKiB() / 1024
    guard max(peak, after) <= mostMebibytes else {
      throw TestSupportError("it took \(text(peak)) MiB, and \(text(after)) after a restart")
    }
    let middle = { (runs: [[Double]], percent: Int) in median(runs.map { percentile($0, percent) })
    }
    return Measurement(
      ours: middle(attacked, 99), reference: middle(quiet, 99),
      note: "median \(text(middle(attacked, 50))) against \(text(middle(quiet, 50))) µs; "
        + "busy \(text(share * 100)) % of the time; at most \(text(peak)) MiB resident, \(text(after)) after a restart")
  }
}

private let pollPath = "/api/v1/tokens/authn"

// MARK: - Floods of requests

/// Runs wrk with a script.
///
/// It connects from the trusted proxy's address, so the script sets the source address.
func load(_ field: Battlefield, _ script: String) throws -> Flood {
  Flood(
    tool: try RunningProgram(
      "chrt",
      ["--idle", "0", "taskset", "-c", "1", "wrk", "-t1", "-c16", "-d20s", "-s", script]
        + ["http://127.0.0.1:\(field.server.port)/"], standardError: "\(field.folder)/wrk.err"))
}

func load(_ field: Battlefield, beforehand: String = "", lua request: String) throws -> Flood {
  let script = "\(field.folder)/flood.lua"
  try writeFile(
    script,
    """
    \(beforehand)
    wrk.headers["Authorization"] = "Bearer \(field.token)"
    local n = \(field.round * 10_000_000)
    function request()
      n = n + 1
      wrk.headers["X-Forwarded-For"] = string.format("2001:db8:%x:%x::1", math.floor(n / 65536), n % 65536)
      \(request)
    end

    """.utf8)
  return try load(field, script)
}

/// Fills the nonces with future times that one key may have: each of them is kept for more than five minutes.
private func headersDatedAhead(_ field: Battlefield) throws -> Flood {
  try signedHeaders(field, "ahead", ahead: .seconds(297))
}

/// Fills the nonce window of one key, which holds 262,144 nonces.
private func headersOfNow(_ field: Battlefield) throws -> Flood { try signedHeaders(field, "now", ahead: .zero) }

private func signedHeaders(_ field: Battlefield, _ name: String, ahead: Duration) throws -> Flood {
  try load(
    field,
    writeSignedCalls(
      400_000, method: "GET", path: pollPath, folder: field.folder, name: "\(name)-\(field.round)", ahead: ahead,
      key: 0, endless: true
    ) { "\(pollPath)?deviceId=made-up-\($0)&format=json" })
}

/// Five hundred invented devices ask for codes in turn; each new code replaces the device's earlier one.
private func replacedCodes(_ field: Battlefield) throws -> Flood {
  try load(
    field,
    lua: #"""
      return wrk.format("POST", "/reggie/v1/BENCH/regcode.json?ttl=36000&deviceId=made-up-" .. n % 500)
      """#)
}

/// An attacker who has seen codes on screens reads their records.
private func strangers(_ field: Battlefield) throws -> Flood {
  let codes = (0..<UInt64(honestDevices)).compactMap { RegistrationCode(ordinal: $0)?.wire }
  let list = codes.map { "\"\($0)\"" }.joined(separator: ",")
  return try load(
    field,
    lua: """
      codes = codes or {\(list)}
      return wrk.format("GET", "/reggie/v1/BENCH/regcode/" .. codes[n % #codes + 1] .. ".json")
      """)
}

/// Guesses a new wrong code with each request, each from another network.
private func guesses(_ field: Battlefield) throws -> Flood {
  try load(
    field,
    lua: #"""
      local letters, code, left = "BCDFGHJKLMNPQRSTVWXZ", "Z", n
      for _ = 1, 7 do
        code = code .. letters:sub(left % 20 + 1, left % 20 + 1)
        left = math.floor(left / 20)
      end
      return wrk.format("GET", "/reggie/v1/BENCH/regcode/" .. code .. ".json")
      """#)
}

// MARK: - Floods of connections

private let heldConnections = 3000

/// Opens connections from one address that each get one reply and then send `rest`.
private func held(
  _ field: Battlefield, receiving room: Int32? = nil, _ rest: String
) throws -> Flood {
  let first = Array("GET \(pollPath) HTTP/1.1\r\nHost: bench\r\n\r\n".utf8)
  let rest = Array(rest.utf8)
  var reply = [UInt8](repeating: 0, count: 4096)
  var sockets: [Int32] = []
  for _ in 0..<heldConnections {
    let socket = try connection(from: 0x7F00_0003, to: field.server.port, receiving: room)
    sockets.append(socket)
    _ = unsafe first.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
    _ = unsafe reply.withUnsafeMutableBytes { unsafe recv(socket, $0.baseAddress, $0.count, 0) }
    // Without waiting: the service may have closed this connection already.
    _ = unsafe rest.withUnsafeBytes {
      unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
  }
  return Flood(sockets: sockets)
}

/// Sends bodies of 256 KiB without their last kilobyte.
private func unfinishedBodies(_ field: Battlefield) throws -> Flood {
  try held(
    field,
    "POST \(pollPath) HTTP/1.1\r\nHost: bench\r\nContent-Length: 262144\r\n\r\n"
      + String(repeating: "a", count: 255 * 1024))
}

/// Sends pipelined requests and never reads their replies.
private func neverReading(_ field: Battlefield) throws -> Flood {
  try held(
    field, receiving: 4096,
    String(repeating: "GET \(pollPath) HTTP/1.1\r\nHost: bench\r\n\r\n", count: 2000))
}
