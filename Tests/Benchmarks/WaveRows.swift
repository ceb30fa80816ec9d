internal import Glibc
internal import RegentPlatform
internal import TestSupport

// Many waits that began together and therefore end together. An approval in the middle of that wave must reach its box
// as fast as any other.

func waveRows() -> [Row] {
  [
    Row(name: "waiting: approve to device in a wave, p99", unit: "ms", bar: .ours(atMost: 15)) { try measureWave() }
  ]
}

private let devices = 18_500
/// Long enough that all waits have begun before the first one ends.
private let seconds = 16
private let approvalsEach = 400

private func measureWave() throws -> Measurement {
  try withTemporaryFolder { folder in
    try raiseDescriptorLimit()
    let server = try startPairing(folder: folder, codes: devices)
    let token = String(decoding: try readFile("\(folder)/\(devices)/token"), as: UTF8.self)
    let crowd = try Crowd(server.port, token: token)
    try crowd.beginAll()
    // From the end of the first wait until nine of ten waits have ended.
    var times: [Double] = []
    var number = 0
    let patience = monotonicSeconds() + Double(4 * seconds)
    while crowd.ended < devices * 9 / 10 {
      guard number < devices, monotonicSeconds() < patience else {
        throw TestSupportError("\(crowd.ended) of \(devices) waits ended")
      }
      if crowd.ended > 0 {
        times.append(try crowd.approve(number))
        number += 7
      }
      try crowd.serve(forMilliseconds: 1000 / approvalsEach)
    }
    guard times.count >= 100 else { throw TestSupportError("the wave was over after \(times.count) approvals") }
    return Measurement(
      ours: percentile(times, 99), reference: nil,
      note: "\(devices) wait, \(times.count) approvals while \(crowd.ended) waits ended within "
        + "\(text(crowd.span)) s: p50 \(text(percentile(times, 50))) ms, p99 \(text(percentile(times, 99))) ms")
  }
}

/// Boxes that each wait, and ask again when a wait has ended.
private final class Crowd {
  private let sockets: [Int32]
  /// Connected when needed, because the service closes idle connections.
  private var phone: Int32 = -1
  /// Returns only the sockets with a response: looking at all of them takes longer than the pause between approvals.
  private let poller: Poller
  private let port: UInt16
  private let token: String
  private var isSignedIn = Set<Int>()
  private(set) var ended = 0
  private var firstEnd = 0.0
  private var lastEnd = 0.0

  init(_ port: UInt16, token: String) throws {
    (self.port, self.token) = (port, token)
    sockets = try (0..<devices).map { number in
      guard let socket = connectLoopback(port) else { throw TestSupportError("no connection \(number)") }
      return socket
    }
    poller = try Poller(capacity: 64)
    for (number, socket) in sockets.enumerated() { try poller.add(socket, .readable, token: UInt64(number)) }
  }

  deinit { (sockets + [phone]).forEach { if $0 >= 0 { close($0) } } }

  /// The seconds from the first wait that ended to the last one.
  var span: Double { lastEnd - firstEnd }

  func beginAll() throws {
    for number in 0..<devices { try wait(number) }
  }

  private func wait(_ number: Int) throws {
    try sendText(
      "GET /api/v1/tokens/authn?format=json&deviceId=box-\(number) HTTP/1.1\r\nHost: b\r\n"
        + "Authorization: Bearer \(token)\r\nPrefer: wait=\(seconds)\r\n\r\n", to: sockets[number])
  }

  /// Approves the code of a box.
  ///
  /// - Returns: the milliseconds until the box knows it.
  func approve(_ number: Int) throws -> Double {
    if phone < 0 {
      guard let socket = connectLoopback(port) else { throw TestSupportError("no phone") }
      phone = socket
    }
    let start = monotonicSeconds()
    isSignedIn.insert(number)
    try sendText("POST /bench/approve/\(number) HTTP/1.1\r\nHost: b\r\nContent-Length: 0\r\n\r\n", to: phone)
    while true {
      let answer = try receiveText(from: sockets[number])
      if answer.hasPrefix("HTTP/1.1 200") { break }
      // Its wait ended just before; the next poll gets the result.
      try noteEnd(answer)
      try wait(number)
    }
    let taken = (monotonicSeconds() - start) * 1000
    let approved = try receiveText(from: phone)
    guard approved.hasPrefix("HTTP/1.1 204") else { throw TestSupportError(approved) }
    return taken
  }

  /// Lets boxes whose waits have ended ask again, for about this time.
  func serve(forMilliseconds milliseconds: Int) throws {
    let end = monotonicSeconds() + Double(milliseconds) / 1000
    repeat {
      for index in 0..<poller.wait(milliseconds: 1) {
        // The other events are handled after the next approval.
        if monotonicSeconds() >= end { return }
        let number = Int(poller.event(index).token)
        try noteEnd(try receiveText(from: sockets[number]))
        if !isSignedIn.contains(number) { try wait(number) }
      }
    } while monotonicSeconds() < end
  }

  private func noteEnd(_ answer: String) throws {
    guard answer.hasPrefix("HTTP/1.1 404") else { throw TestSupportError(answer) }
    ended += 1
    lastEnd = monotonicSeconds()
    if firstEnd == 0 { firstEnd = lastEnd }
  }
}
