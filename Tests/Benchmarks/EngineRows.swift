internal import Glibc
internal import TestSupport

// The HTTP engine compared with nginx. Both are pinned to processor 0 and measured in turn; wrk loads them from
// processor 1. The figure is processor time per request and not throughput, because wrk reaches its limit before the
// servers do.

let pendingBody = #"{"status":403,"message":"Forbidden","details":null}"#

func engineRows() -> [Row] {
  [
    Row(
      name: "engine: GET, static reply", unit: "µs cpu/request",
      bar: .referenceOverOurs(atLeast: 0.9)
    ) {
      try compareProcessorTime(script: nil)
    },
    Row(
      name: "engine: POST, 130-byte form", unit: "µs cpu/request",
      bar: .referenceOverOurs(atLeast: 0.9)
    ) {
      try compareProcessorTime(script: postScript)
    },
    Row(
      name: "engine: one connection a request", unit: "µs cpu/request",
      bar: .referenceOverOurs(atLeast: 0.9)
    ) {
      try compareProcessorTime(script: closeScript)
    },
    Row(name: "engine: memory of an idle connection", unit: "KiB", bar: .ours(atMost: 6)) {
      try compareIdleMemory()
    },
  ]
}

private let postScript = """
  wrk.method = "POST"
  wrk.headers["Content-Type"] = "application/x-www-form-urlencoded"
  wrk.body = string.rep("a", 129) .. "="

  """

private let closeScript = #"wrk.headers["Connection"] = "close""#

private func compareProcessorTime(script: String?) throws -> Measurement {
  try withTemporaryFolder { folder in
    var arguments = ["-t1", "-c64", "-d3s"]
    if let script {
      try writeFile("\(folder)/script.lua", script.utf8)
      arguments += ["-s", "\(folder)/script.lua"]
    }
    let servers = [
      try startStaticServer(folder: folder, body: pendingBody),
      try startNginx(folder: folder, body: nginxQuoted(pendingBody)),
    ]
    var costs: [[Double]] = [[], []]
    var rates: [[Double]] = [[], []]
    // The first pair warms up and is discarded.
    for round in 0..<6 {
      for (index, server) in servers.enumerated() {
        let before = try server.processorSeconds()
        let load = try Load(port: server.port, arguments)
        let used = try server.processorSeconds() - before
        guard round > 0 else { continue }
        costs[index].append(used / load.requests * 1e6)
        rates[index].append(load.requestsPerSecond)
      }
    }
    return Measurement(
      ours: median(costs[0]), reference: median(costs[1]),
      note: "\(text(median(rates[0]))) requests/s against \(text(median(rates[1])))")
  }
}

/// The result of a run of wrk.
struct Load {
  let requests: Double
  let requestsPerSecond: Double

  /// With `expectsRefusals` every reply must be a 404, as that of a pending poll is.
  init(
    port: UInt16, _ arguments: [String], path: String = "/bench", expectsRefusals: Bool = false
  ) throws {
    let finished = try run(
      "taskset", ["-c", "1", "wrk"] + arguments + ["http://127.0.0.1:\(port)\(path)"])
    guard finished.status == 0 else { throw TestSupportError("wrk: \(finished.errorText)") }
    let lines = finished.outputText.split(separator: "\n")
    let rate = lines.first { $0.hasPrefix("Requests/sec:") }?.split(separator: " ").last
    let total = lines.first { $0.contains(" requests in ") }?.split(separator: " ").first
    guard let rate = rate.flatMap({ Double($0) }), let total = total.flatMap({ Double($0) }) else {
      throw TestSupportError("wrk printed: \(finished.outputText)")
    }
    // A server that fails fast would otherwise look fast.
    if let bad = lines.first(where: { $0.contains("Socket errors") }) {
      throw TestSupportError("wrk saw \(bad)")
    }
    let refused = lines.first { $0.contains("Non-2xx") }?.split(separator: " ").last
    guard refused.flatMap({ Double($0) }) ?? 0 == (expectsRefusals ? total : 0) else {
      throw TestSupportError("wrk saw \(refused ?? "no") refusals of \(total) requests")
    }
    requests = total
    requestsPerSecond = rate
  }
}

/// The resident memory that each idle connection adds; each has had one request before.
private func compareIdleMemory() throws -> Measurement {
  try withTemporaryFolder { folder in
    try raiseDescriptorLimit()
    let ours = try idleKiB(try startStaticServer(folder: folder, body: pendingBody))
    let nginx = try idleKiB(try startNginx(folder: folder, body: nginxQuoted(pendingBody)))
    return Measurement(ours: ours, reference: nginx, note: "\(idleConnections) connections")
  }
}

private let idleConnections = 10_000

private func idleKiB(_ server: PinnedServer) throws -> Double {
  let before = try server.residentKiB()
  var descriptors: [Int32] = []
  defer { descriptors.forEach { _ = close($0) } }
  let request = Array("GET /bench HTTP/1.1\r\nHost: localhost\r\n\r\n".utf8)
  var reply = [UInt8](repeating: 0, count: 4096)
  for _ in 0..<idleConnections {
    guard let descriptor = connectLoopback(server.port) else {
      throw TestSupportError("no connection \(descriptors.count) to \(server.name): errno \(errno)")
    }
    descriptors.append(descriptor)
    let answered = unsafe request.withUnsafeBytes { bytes in
      unsafe send(descriptor, bytes.baseAddress, bytes.count, 0) == bytes.count
    }
    let count = unsafe reply.withUnsafeMutableBytes { bytes in
      unsafe recv(descriptor, bytes.baseAddress, bytes.count, 0)
    }
    guard answered, count > 0 else { throw TestSupportError("\(server.name) did not answer") }
  }
  return (try server.residentKiB() - before) / Double(idleConnections)
}

/// Raises the limit of open files, because twenty thousand sockets exceed the usual soft limit.
func raiseDescriptorLimit() throws {
  var limit = rlimit()
  guard unsafe getrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0 else {
    return
  }
  limit.rlim_cur = min(limit.rlim_max, 30_000)
  guard unsafe setrlimit(__rlimit_resource_t(UInt32(RLIMIT_NOFILE.rawValue)), &limit) == 0 else {
    throw TestSupportError("cannot raise the limit of open files to \(limit.rlim_cur)")
  }
}

func nginxQuoted(_ text: String) -> String {
  text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
}
