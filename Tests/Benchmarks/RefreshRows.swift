internal import Glibc
internal import TestSupport

// Refreshes compared with their two main parts: a durable row and a signature.

func refreshRows() -> [Row] {
  [
    // The reference is the same as for new codes (design.md): the same rows, 64 a transaction, synchronous=FULL.
    Row(name: "oauth: refresh, ES256", unit: "refreshes/s", bar: .oursOverReference(atLeast: 0.5)) {
      try measureRefreshes(BenchGrants(count: 20_000, client: BenchClients.public, scope: oneSignature)) {
        database, copy in
        let script = "\(packageFolder())/Tests/Benchmarks/reference/same_rows.py"
        let python = try run("python3", [script, database, copy, "oauth_grant"], deadline: 120)
        guard let rate = Double(python.outputText.filter({ !$0.isWhitespace })) else {
          throw TestSupportError("python3 said: \(python.errorText)")
        }
        return rate
      }
    },
    // On one core, as `openssl speed` runs, and with one signature for each refresh.
    Row(name: "oauth: refresh, RS256", unit: "refreshes/s", bar: .oursOverReference(atLeast: 0.8)) {
      try measureRefreshes(
        BenchGrants(count: 20_000, client: BenchClients.rsa, scope: oneSignature), pinned: true
      ) { _, _ in try opensslSignatures() }
    },
    Row(name: "oauth: refresh at a million grants against 1,000", unit: "µs cpu/refresh", bar: .growth(atMost: 1.2)) {
      try compareManyGrants(\.cost)
    },
    Row(name: "oauth: memory at a million grants against 1,000", unit: "MiB", bar: .growth(atMost: 1.1)) {
      try compareManyGrants(\.memory)
    },
  ]
}

/// Without `openid` a refresh makes an access token and no ID token.
private let oneSignature = "offline_access entitlements"

/// Lets 64 programs refresh one after another, each with its last token.
private func measureRefreshes(
  _ grants: BenchGrants, pinned: Bool = false, beside reference: (_ database: String, _ copy: String) throws -> Double
) throws -> Measurement {
  try withTemporaryFolder { folder in
    let server = try startPairing(folder: folder, codes: 10, grants: grants, pinned: pinned)
    let tokens = try RefreshTokensOfFile(folder, codes: 10)
    var (rates, costs, references): ([Double], [Double], [Double]) = ([], [], [])
    for round in 0..<5 {
      let before = try server.processorSeconds()
      let load = try tokens.load(server, grants.client, round: round)
      let used = try server.processorSeconds() - before
      let beside = try reference("\(folder)/10/bench.db", "\(folder)/copy-\(round).db")
      guard round > 0 else { continue }
      rates.append(load.requestsPerSecond)
      costs.append(used / load.requests * 1e6)
      references.append(beside)
    }
    return Measurement(
      ours: median(rates), reference: median(references),
      note: "64 programs, one writer, one signature each; \(text(median(costs))) µs of processor time")
  }
}

/// The refresh tokens that `fill-pairing` wrote; each program uses another one in each round.
private struct RefreshTokensOfFile {
  static let programs = 64
  private let texts: [Substring]
  private let folder: String

  init(_ folder: String, codes: Int) throws {
    self.folder = folder
    texts = String(decoding: try readFile("\(folder)/\(codes)/refresh-tokens"), as: UTF8.self).split(separator: "\n")
  }

  func load(_ server: PinnedServer, _ client: String, round: Int) throws -> RefreshLoad {
    let count = Self.programs
    // Spread over the table. A round does not use tokens of another round, whose last responses were lost.
    let rounds = texts.count / count
    let own = (0..<count).map { texts[$0 * rounds + round] }
    let file = "\(folder)/tokens-\(round)"
    try writeFile(file, own.joined(separator: "\n").utf8)
    return try RefreshLoad(port: server.port, client, tokens: file)
  }
}

/// The number of signatures a second of `openssl speed` with RSA of 2,048 bits on one core.
private func opensslSignatures() throws -> Double {
  let done = try run("openssl", ["speed", "-seconds", "2", "-mr", "rsa2048"], deadline: 60)
  // +F2:NUMBER:BITS:SIGNATURES A SECOND:CHECKS A SECOND
  let fields = done.outputText.split(separator: "\n").first { $0.hasPrefix("+F2:") }?.split(separator: ":")
  guard let fields, fields.count >= 4, let signatures = Double(fields[3]), signatures > 1 else {
    throw TestSupportError("openssl speed printed: \(done.outputText)")
  }
  return signatures
}

private struct ManyGrants {
  /// Processor time of a refresh in microseconds.
  var cost = 0.0
  /// Resident memory after the load in MiB.
  var memory = 0.0
}

/// Measured once for both rows, because filling in a million grants takes minutes.
private let fewAndMany = Result { try measureManyGrants() }

private func measureManyGrants() throws -> [ManyGrants] {
  var found: [ManyGrants] = []
  for count in [1_000, 1_000_000] {
    let one = try withTemporaryFolder { folder in
      let server = try startPairing(
        folder: folder, codes: 10,
        grants: BenchGrants(count: count, client: BenchClients.public, scope: oneSignature))
      let tokens = try RefreshTokensOfFile(folder, codes: 10)
      var costs: [Double] = []
      for round in 0..<6 {
        let before = try server.processorSeconds()
        let load = try tokens.load(server, BenchClients.public, round: round)
        let used = try server.processorSeconds() - before
        if round > 0 { costs.append(used / load.requests * 1e6) }
      }
      return ManyGrants(cost: median(costs), memory: try server.residentKiB() / 1024)
    }
    found.append(one)
  }
  return found
}

private func compareManyGrants(_ figure: KeyPath<ManyGrants, Double>) throws -> Measurement {
  let found = try fewAndMany.get()
  return Measurement(
    ours: found[1][keyPath: figure], reference: found[0][keyPath: figure],
    note: "\(text(found[0].cost)) and \(text(found[1].cost)) µs, \(text(found[0].memory)) and "
      + "\(text(found[1].memory)) MiB")
}
