internal import Glibc
internal import TestSupport

// Ten thousand devices wait in long polls; codes are approved one after another, as by an operator.

func waitingRows() -> [Row] {
  [
    Row(
      name: "waiting: approve to device, p50", unit: "ms", bar: .ours(atMost: 10)
    ) { try measureWaiting { $0.quantile(0.5) } },
    Row(
      name: "waiting: approve to device, p99", unit: "ms", bar: .ours(atMost: 50)
    ) { try measureWaiting { $0.quantile(0.99) } },
    Row(
      name: "waiting: memory of a waiting device", unit: "KiB", bar: .ours(atMost: 1.9)
    ) { try measureWaiting(devices: 18_500) { $0.kibibytes } },
  ]
}

private let approvals = 500

/// The result of a run with many waiting devices.
private struct Waiting {
  var milliseconds: [Double] = []
  var kibibytes = 0.0

  func quantile(_ part: Double) -> Double {
    let sorted = milliseconds.sorted()
    return sorted.isEmpty ? .nan : sorted[min(sorted.count - 1, Int(part * Double(sorted.count)))]
  }
}

private func measureWaiting(devices: Int = 10_000, _ figure: (Waiting) -> Double) throws -> Measurement {
  try withTemporaryFolder { folder in
    try raiseDescriptorLimit()
    let server = try startPairing(folder: folder, codes: devices)
    let token = String(decoding: try readFile("\(folder)/\(devices)/token"), as: UTF8.self)
    let before = try server.anonymousKiB()
    var sockets: [Int32] = []
    defer { sockets.forEach { _ = close($0) } }
    for number in 0..<devices {
      guard let socket = connectLoopback(server.port) else {
        throw TestSupportError("no connection \(number)")
      }
      sockets.append(socket)
      try sendText(
        "GET /api/v1/tokens/authn?format=json&deviceId=box-\(number) HTTP/1.1\r\nHost: b\r\n"
          + "Authorization: Bearer \(token)\r\nPrefer: wait=55\r\n\r\n", to: socket)
    }
    try eventually("all wait") { try server.isQuiet() ? true : nil }
    var waiting = Waiting()
    waiting.kibibytes = (try server.anonymousKiB() - before) / Double(devices)
    guard let phone = connectLoopback(server.port) else { throw TestSupportError("no phone") }
    defer { close(phone) }
    for number in stride(from: 0, to: devices, by: devices / approvals) {
      let start = monotonicSeconds()
      try sendText(
        "POST /bench/approve/\(number) HTTP/1.1\r\nHost: b\r\nContent-Length: 0\r\n\r\n", to: phone)
      let answer = try receiveText(from: sockets[number])
      waiting.milliseconds.append((monotonicSeconds() - start) * 1000)
      guard answer.hasPrefix("HTTP/1.1 200") else { throw TestSupportError(answer) }
      let approved = try receiveText(from: phone)
      guard approved.hasPrefix("HTTP/1.1 204") else { throw TestSupportError(approved) }
    }
    return Measurement(
      ours: figure(waiting), reference: nil,
      note: "\(devices) wait, \(waiting.milliseconds.count) approvals: p50 "
        + "\(text(waiting.quantile(0.5))) ms, p99 \(text(waiting.quantile(0.99))) ms, "
        + "\(text(waiting.kibibytes)) KiB each")
  }
}

extension PinnedServer {
  /// Whether it used no processor time for 0.3 seconds, so that everything that was sent has been read.
  func isQuiet() throws -> Bool {
    let before = try processorSeconds()
    usleep(300_000)
    return try processorSeconds() - before < 0.02
  }
}

func sendText(_ text: String, to socket: Int32) throws {
  let bytes = Array(text.utf8)
  let count = unsafe bytes.withUnsafeBytes { unsafe send(socket, $0.baseAddress, $0.count, 0) }
  guard count == bytes.count else { throw TestSupportError("send: errno \(errno)") }
}

func receiveText(from socket: Int32) throws -> String {
  var bytes = [UInt8](repeating: 0, count: 8192)
  let count = unsafe bytes.withUnsafeMutableBytes { bytes in
    unsafe recv(socket, bytes.baseAddress, bytes.count, 0)
  }
  guard count > 0 else { throw TestSupportError("recv: errno \(errno)") }
  return String(decoding: bytes[..<count], as: UTF8.self)
}

func monotonicSeconds() -> Double {
  var time = timespec()
  unsafe clock_gettime(CLOCK_MONOTONIC, &time)
  return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
