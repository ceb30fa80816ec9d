internal import Glibc
internal import RegentPairing
internal import TestSupport

// Floods of the kinds that once filled the memory or shut others out, against regentd itself with its usual limits:
// what honest polls notice, and how large the service gets, during the floods and when it has been restarted after
// them. It is pinned to processor 0; the flood runs on processor 1 when nobody else wants it, so that the client that
// polls, which has an address of its own, waits for the service and not for the flood's program.

func attackRows() -> [Row] {
  let floods: [(name: String, begin: (Battlefield) throws -> Flood)] =
    [
      ("signed headers dated ahead", headersDatedAhead), ("signed headers of now", headersOfNow),
      ("replaced codes", replacedCodes), ("strangers who read records", strangers),
      ("guesses from ever new networks", guesses), ("3,000 unfinished bodies", unfinishedBodies),
      ("3,000 readers who never read", neverReading),
    ] + oauthFloods()
  return floods.map { flood in
    Row(name: "attack: p99 of polls beside \(flood.name)", unit: "µs", bar: .growth(atMost: 3)) {
      // Where the flood is signed, the honest box is one of the same app: it has the same key.
      try measureFlood(
        flood.begin, isSigned: flood.name.hasPrefix("signed"), leastShare: flood.name.hasPrefix("3,000") ? 0 : 0.5)
    }
  }
}

/// The memory that docs/limits.md promises under each of these.
private let mostMebibytes = 256.0
private let honestDevices = 1000
private let samplesEach = 1500
private let rounds = 3

/// Where a flood goes.
struct Battlefield {
  let server: PinnedServer
  let folder: String
  let token: String
  let round: Int
}

/// A flood under way; it ends when it goes away.
final class Flood {
  private let tool: RunningProgram?
  private let sockets: [Int32]

  init(tool: RunningProgram? = nil, sockets: [Int32] = []) {
    self.tool = tool
    self.sockets = sockets
  }

  deinit { sockets.forEach { _ = close($0) } }

  /// Whether it goes on.
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
    // The first samples warm the service up and are thrown away.
    _ = try samples(regentd.port, samplesEach / 4, poll)
    var (quiet, attacked): ([[Double]], [[Double]]) = ([], [])
    var shares: [Double] = []
    // Quiet and attacked in turn: what else the machine does must not fall on one side only.
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
    // A flood that others keep from its processor shows nothing.
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

/// wrk with a script, from the proxy's address: the script may say whom it speaks for.
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

/// Each nonce is taken for five minutes and more: what one key has for times ahead is to be full.
private func headersDatedAhead(_ field: Battlefield) throws -> Flood {
  try signedHeaders(field, "ahead", ahead: .seconds(297))
}

/// The whole window of one key, with its real 262,144, is to be full.
private func headersOfNow(_ field: Battlefield) throws -> Flood { try signedHeaders(field, "now", ahead: .zero) }

private func signedHeaders(_ field: Battlefield, _ name: String, ahead: Duration) throws -> Flood {
  try load(
    field,
    writeSignedCalls(
      400_000, method: "GET", path: pollPath, folder: field.folder, name: "\(name)-\(field.round)", ahead: ahead,
      key: 0, endless: true
    ) { "\(pollPath)?deviceId=made-up-\($0)&format=json" })
}

/// Five hundred made-up devices, each of which takes its code back by asking for another.
private func replacedCodes(_ field: Battlefield) throws -> Flood {
  try load(
    field,
    lua: #"""
      return wrk.format("POST", "/reggie/v1/BENCH/regcode.json?ttl=36000&deviceId=made-up-" .. n % 500)
      """#)
}

/// Whoever has glimpsed codes on screens asks for their records.
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

/// A wrong code each, and each from a network of its own.
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

/// Connections of one address that each had one good answer, and then send `rest`.
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
    // As much as the service takes: it may have turned this connection away already.
    _ = unsafe rest.withUnsafeBytes {
      unsafe send(socket, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT))
    }
  }
  return Flood(sockets: sockets)
}

/// Bodies of 256 KiB, of which the last kilobyte does not come.
private func unfinishedBodies(_ field: Battlefield) throws -> Flood {
  try held(
    field,
    "POST \(pollPath) HTTP/1.1\r\nHost: bench\r\nContent-Length: 262144\r\n\r\n"
      + String(repeating: "a", count: 255 * 1024))
}

/// Requests one behind the other, whose replies nobody reads.
private func neverReading(_ field: Battlefield) throws -> Flood {
  try held(
    field, receiving: 4096,
    String(repeating: "GET \(pollPath) HTTP/1.1\r\nHost: bench\r\n\r\n", count: 2000))
}
