internal import Glibc
internal import TestSupport

// A restart of regentd while 18,000 boxes wait: each comes back as the SDK does, after a pause that is drawn. What
// fails within six seconds (refused, 503) the SDK tells nobody.

func returnRows() -> [Row] {
  [
    Row(name: "waiting: last failure of 18,000 boxes over a restart", unit: "s", bar: .ours(atMost: 6)) {
      try measureReturn()
    }
  ]
}

/// With the service's own this is what a process may have open here.
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
  /// Seconds after the box lost the service.
  private(set) var lastFailure = 0.0
  private(set) var mostTries = 0

  init(_ port: UInt16, token: String) {
    (self.port, self.token) = (port, token)
  }

  deinit { for one in all where one.socket >= 0 { close(one.socket) } }

  func connectAll() {
    for number in all.indices { ask(number) }
  }

  /// Has those come back whose time has come.
  ///
  /// - Returns: how many are not back yet.
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
      // Held for a quarter of a second: it waits again.
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

  /// Closes and draws when to come back: as the SDK does, a second, two, four, each up to two and a quarter times as
  /// long.
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
