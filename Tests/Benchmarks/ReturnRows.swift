internal import Glibc
internal import TestSupport

// A restart of regentd while 18,000 boxes wait. Each comes back as the SDK does, after a random pause. The SDK does not
// report failures (connection refused, 503) to its app for the first six seconds.

func returnRows() -> [Row] {
  [
    Row(name: "waiting: last failure of 18,000 boxes over a restart", unit: "s", bar: .ours(atMost: 6)) {
      try measureReturn()
    }
  ]
}

/// Together with the service's own files, the most that a process may have open here.
private let boxes = 18_000

private func measureReturn() throws -> Measurement {
  try withTemporaryFolder { folder in
    try raiseDescriptorLimit()
    var regentd = try RegentdUnderTest(folder: folder, codes: boxes)
    let token = String(decoding: try readFile("\(regentd.data)/token"), as: UTF8.self)
    let crowd = ReturningCrowd(regentd.port, token: token)
    crowd.connectAll()
    try eventually("all wait", within: 60) { crowd.serve() == 0 ? true : nil }
    let start = monotonicSeconds()
    try regentd.restart { _ = crowd.serve() }
    let span = monotonicSeconds() - start
    try eventually("all wait again", within: 60) { crowd.serve() == 0 ? true : nil }
    let (refused, statuses) = (crowd.refused, crowd.statuses)
    guard statuses.allSatisfy({ ["404", "503"].contains($0.key) }) else {
      throw TestSupportError("boxes saw \(statuses)")
    }
    return Measurement(
      ours: crowd.lastFailure, reference: nil,
      note: "restarted in \(text(span)) s; refused \(refused) times, 503 \(statuses["503", default: 0]) times; "
        + "at most \(crowd.mostTries) tries of one box; at most \(text(try regentd.server.peakKiB() / 1024)) MiB")
  }
}

private final class ReturningCrowd {
  private struct One {
    var socket: Int32 = -1
    var tries = 0
    var lostAt: Double?
    var nextTry = 0.0
    var sentAt = 0.0
  }

  private let port: UInt16
  private let token: String
  private var all = [One](repeating: One(), count: boxes)
  private(set) var refused = 0
  private(set) var statuses: [String: Int] = [:]
  /// In seconds since the box lost the service.
  private(set) var lastFailure = 0.0
  private(set) var mostTries = 0

  init(_ port: UInt16, token: String) {
    (self.port, self.token) = (port, token)
  }

  deinit { for one in all where one.socket >= 0 { close(one.socket) } }

  func connectAll() {
    for number in all.indices { ask(number) }
  }

  /// Reads responses and lets the boxes whose pause is over connect again.
  ///
  /// - Returns: the number of boxes that do not wait yet.
  func serve() -> Int {
    let now = monotonicSeconds()
    var watched = all.map { pollfd(fd: $0.socket, events: Int16(POLLIN), revents: 0) }
    if unsafe poll(&watched, nfds_t(watched.count), 1) > 0 {
      for number in watched.indices where watched[number].revents != 0 { read(number) }
    }
    for number in all.indices where all[number].socket < 0 && all[number].nextTry <= now { ask(number) }
    var away = 0
    for number in all.indices {
      let one = all[number]
      // A request that is not answered within a quarter of a second is parked: the box waits again.
      guard one.socket >= 0, monotonicSeconds() - one.sentAt > 0.25 else {
        away += 1
        continue
      }
      if one.lostAt != nil {
        mostTries = max(mostTries, one.tries)
        all[number].lostAt = nil
        all[number].tries = 0
      }
    }
    return away
  }

  private func ask(_ number: Int) {
    all[number].tries += 1
    guard let socket = connectLoopback(port) else {
      refused += 1
      return lose(number)
    }
    all[number].socket = socket
    all[number].sentAt = monotonicSeconds()
    do {
      try sendText(
        "GET /api/v1/tokens/authn?format=json&deviceId=box-\(number) HTTP/1.1\r\nHost: b\r\n"
          + "Authorization: Bearer \(token)\r\nPrefer: wait=55\r\n\r\n", to: socket)
    } catch {
      lose(number)
    }
  }

  private func read(_ number: Int) {
    if let answer = try? receiveText(from: all[number].socket) {
      statuses[String(answer.dropFirst("HTTP/1.1 ".count).prefix(3)), default: 0] += 1
    }
    lose(number)
  }

  /// Closes the connection and draws the pause before the next try: as in the SDK one, two or four seconds, times a
  /// factor of up to 2.25.
  private func lose(_ number: Int) {
    if all[number].socket >= 0 { close(all[number].socket) }
    all[number].socket = -1
    let now = monotonicSeconds()
    let lostAt = all[number].lostAt ?? now
    lastFailure = max(lastFailure, now - lostAt)
    all[number].lostAt = lostAt
    let pause = Double(1 << min(all[number].tries, 3)) / 2
    all[number].nextTry = now + pause * Double.random(in: 1...2.25)
  }
}
