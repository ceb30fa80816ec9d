internal import Glibc
internal import TestSupport

// OAuth clients: their polls and introspections compared with nginx, and the costs of refreshes and waiting polls.

func oauthRows() -> [Row] {
  [
    Row(name: "oauth: pending poll", unit: "µs cpu/request", bar: .referenceOverOurs(atLeast: 0.6)) {
      try compareWithNginx(expectsRefusals: true) { pair throws in
        let codes = try (0..<1000).map { _ in "\"\(try pair.begin().device)\"" }
        return """
          local codes = {\(codes.joined(separator: ","))}
          local n = 0
          function request()
            n = n % #codes + 1
            return wrk.format("POST", "/oauth/token", nil,
              "client_id=\(BenchClients.public)&grant_type=\(BenchClients.grant)&device_code=" .. codes[n])
          end
          """
      }
    },
    Row(name: "oauth: introspection", unit: "µs cpu/request", bar: .referenceOverOurs(atLeast: 0.4)) {
      try compareWithNginx(expectsRefusals: false) { pair throws in
        """
        wrk.method, wrk.path = "POST", "/oauth/introspect"
        wrk.body = "client_id=\(BenchClients.api)&client_secret=\(BenchClients.secret)&token=\(try pair.tokens().access)"
        """
      }
    },
    Row(name: "oauth: approve to token, p99", unit: "ms", bar: .ours(atMost: 50)) {
      try measureHeld { $0.milliseconds }
    },
    Row(name: "oauth: memory of a held question", unit: "KiB", bar: .ours(atMost: 6)) {
      try measureHeld { $0.kibibytes }
    },
  ] + refreshRows() + [glewlwydRow()]
}

/// The clients that `fill-pairing` adds.
enum BenchClients {
  static let `public` = "benchPublic"
  static let rsa = "benchRSA"
  static let api = "benchAPI"
  /// A client that authenticates with a key (private_key_jwt); the private key is discarded.
  static let keyed = "benchKeyed"
  static let secret = "0123456789012345678901234567890123456789012"
  static let grant = "urn:ietf:params:oauth:grant-type:device_code"
}

/// An OAuth client with one connection.
struct PairingClient {
  let socket: Int32
  var id = BenchClients.public

  init(_ server: PinnedServer) throws {
    guard let socket = connectLoopback(server.port) else { throw TestSupportError("no connection") }
    self.socket = socket
  }

  func begin() throws -> (device: String, user: String) {
    let answer = try post("/oauth/device_authorization", "client_id=\(id)")
    return (try field("device_code", of: answer), try field("user_code", of: answer))
  }

  func approve(_ user: String) throws {
    let answer = try post("/bench/approve/\(user)", "")
    guard answer.hasPrefix("HTTP/1.1 204") else { throw TestSupportError(answer) }
  }

  func tokens() throws -> (access: String, refresh: String) {
    let code = try begin()
    try approve(code.user)
    let answer = try post("/oauth/token", question(code.device))
    return (try field("access_token", of: answer), try field("refresh_token", of: answer))
  }

  func question(_ device: String) -> String {
    "client_id=\(id)&grant_type=\(BenchClients.grant)&device_code=\(device)"
  }

  func post(_ path: String, _ form: String) throws -> String {
    try send(path, form)
    return try receiveText(from: socket)
  }

  func send(_ path: String, _ form: String, prefer: String = "") throws {
    try sendText(
      "POST \(path) HTTP/1.1\r\nHost: b\r\nContent-Type: application/x-www-form-urlencoded\r\n\(prefer)"
        + "Content-Length: \(form.utf8.count)\r\n\r\n\(form)", to: socket)
  }
}

/// The value of a member of the JSON object in a response.
func field(_ name: String, of answer: String) throws -> String {
  guard let start = answer.firstRange(of: "\"\(name)\":\"")?.upperBound,
    let end = answer[start...].firstIndex(of: "\"")
  else { throw TestSupportError("no \(name) in \(answer)") }
  return String(answer[start..<end])
}

private func compareWithNginx(
  expectsRefusals: Bool, _ script: (PairingClient) throws -> String
) throws -> Measurement {
  try withTemporaryFolder { folder in
    let ours = try startPairing(folder: folder, codes: 10)
    let nginx = try startNginx(folder: folder, body: nginxQuoted(pendingBody))
    let client = try PairingClient(ours)
    defer { close(client.socket) }
    let path = "\(folder)/load.lua"
    try writeFile(
      path, "wrk.headers[\"Content-Type\"] = \"application/x-www-form-urlencoded\"\n\(try script(client))\n".utf8)
    var costs: [[Double]] = [[], []]
    for round in 0..<6 {
      let before = try ours.processorSeconds()
      let load = try Load(port: ours.port, ["-t1", "-c64", "-d2s", "-s", path], expectsRefusals: expectsRefusals)
      let used = try ours.processorSeconds() - before
      let nginxBefore = try nginx.processorSeconds()
      let nginxLoad = try Load(port: nginx.port, ["-t1", "-c64", "-d2s"])
      let nginxUsed = try nginx.processorSeconds() - nginxBefore
      guard round > 0 else { continue }
      costs[0].append(used / load.requests * 1e6)
      costs[1].append(nginxUsed / nginxLoad.requests * 1e6)
    }
    return Measurement(ours: median(costs[0]), reference: median(costs[1]))
  }
}

private struct Held {
  var milliseconds = 0.0
  var kibibytes = 0.0
}

/// Ten thousand polls wait; five hundred of them are approved, one after another.
private func measureHeld(_ figure: (Held) -> Double) throws -> Measurement {
  try withTemporaryFolder { folder in
    try raiseDescriptorLimit()
    let server = try startPairing(folder: folder, codes: 10)
    let phone = try PairingClient(server)
    // The first token makes the service generate its signing key.
    _ = try phone.tokens()
    let codes = try (0..<10_000).map { _ in try phone.begin() }
    let before = try server.anonymousKiB()
    var programs: [PairingClient] = []
    defer { (programs + [phone]).forEach { _ = close($0.socket) } }
    for code in codes {
      let program = try PairingClient(server)
      programs.append(program)
      try program.send("/oauth/token", program.question(code.device), prefer: "Prefer: wait=55\r\n")
    }
    try eventually("all wait") { try server.isQuiet() ? true : nil }
    var held = Held(kibibytes: (try server.anonymousKiB() - before) / Double(codes.count))
    var spans: [Double] = []
    for number in stride(from: 0, to: codes.count, by: codes.count / 500) {
      let start = monotonicSeconds()
      try phone.send("/bench/approve/\(codes[number].user)", "")
      let answer = try receiveText(from: programs[number].socket)
      spans.append((monotonicSeconds() - start) * 1000)
      guard answer.hasPrefix("HTTP/1.1 200") else { throw TestSupportError(answer) }
      _ = try receiveText(from: phone.socket)
    }
    spans.sort()
    held.milliseconds = spans[spans.count * 99 / 100]
    return Measurement(
      ours: figure(held), reference: nil,
      note: "\(codes.count) wait, \(spans.count) approvals: p50 \(text(spans[spans.count / 2])) ms, "
        + "p99 \(text(held.milliseconds)) ms, \(text(held.kibibytes)) KiB each")
  }
}
