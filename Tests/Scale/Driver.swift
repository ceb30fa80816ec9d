internal import Glibc
internal import RegentPlatform
internal import Synchronization
internal import TestSupport

// Loads for nodes with and without sockets: acts at a given rate, or a number of callers at the same time.

/// A value with a lock, as a reference, so that closures on many threads can share it.
final class Kept<Value: Sendable>: Sendable {
  private let value: Locked<Value>

  init(_ value: Value) { self.value = Locked(value) }

  func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try value.withLock { value in try body(&value) }
  }
}

/// What happened during the measured part of a load.
struct Usage {
  var seconds = 0.0
  /// Seconds of processor time.
  var nodes = 0.0
  var database = 0.0
  /// Write transactions, and batches of nonces.
  var writes = 0.0
  var told = 0.0
  /// Completed acts.
  var acts = 0.0
}

/// Reads all counters at the begin and the end of a measurement.
final class Meter {
  private let cluster: any Cluster
  private let server: Int32
  private let counter: Counter
  private var start = (time: 0.0, nodes: 0.0, database: [Int32: Double](), writes: Int64(0), told: Int64(0))

  init(_ cluster: any Cluster, _ place: Place) throws {
    self.cluster = cluster
    server = place.server
    counter = try place.counter()
  }

  func begin() throws {
    let (writes, told) = try counter.now()
    start = (seconds(), try cluster.processors(), serverProcessors(server), writes, told)
  }

  func end() throws -> Usage {
    let (time, nodes, database) = (seconds(), try cluster.processors(), serverProcessors(server))
    let (writes, told) = try counter.now()
    return Usage(
      seconds: time - start.time, nodes: nodes - start.nodes, database: used(start.database, database),
      writes: Double(writes - start.writes), told: Double(told - start.told))
  }
}

/// Performs acts at random times of the given rates, on a grid of milliseconds, because waiting for sockets ends no
/// more precisely than that.
func pace(
  _ cluster: any Cluster, for span: Double, _ streams: [(rate: Double, act: () throws -> Void)],
  between: () throws -> Void = {}
) throws {
  let start = seconds()
  // Boxes act independently of each other, so the pauses between their calls are exponentially distributed.
  func pause(_ rate: Double) -> Double { -log(Double.random(in: 0x1p-53...1)) / rate }
  var next = streams.map { pause($0.rate) }
  var tick = 0.0
  while tick < span {
    for (place, stream) in streams.enumerated() {
      while next[place] < tick {
        try stream.act()
        next[place] += pause(stream.rate)
      }
    }
    try between()
    tick += 0.001
    // When the driver is late it catches up, because boxes do not wait for each other.
    try cluster.turn(until: start + tick)
  }
}

/// Counts responses, and keeps the first one with a wrong status.
final class OutcomeCounts: Sendable {
  private let right = Atomic(0)
  private let wrong = Kept<String?>(nil)

  var count: Int { right.load(ordering: .relaxed) }

  func take(_ reply: Reply, _ statuses: UInt16...) -> Bool {
    guard statuses.contains(reply.status) else {
      let said = "\(reply.status) \(String(decoding: reply.body.prefix(200), as: UTF8.self))"
      wrong.withLock { $0 = $0 ?? said }
      return false
    }
    right.add(1, ordering: .relaxed)
    return true
  }

  func check(_ what: String) throws {
    if let said = wrong.withLock({ $0 }) { throw TestSupportError("\(what) gave \(said)") }
  }

  /// Waits until there were so many responses.
  func await(_ wanted: Int, _ what: String, _ cluster: any Cluster, within patience: Double = 60) throws {
    let end = seconds() + patience
    while count < wanted {
      try check(what)
      guard seconds() < end else { throw TestSupportError("\(what): \(count) of \(wanted)") }
      try cluster.turn(until: seconds() + 0.002)
    }
    try check(what)
  }
}

/// Prepared calls, each of which is taken once, by any thread.
final class Supply: Sendable {
  private let calls: [Call]
  private let taken = Atomic(0)

  init(_ calls: [Call]) { self.calls = calls }

  func next() -> (number: Int, call: Call)? {
    let place = taken.wrappingAdd(1, ordering: .relaxed).oldValue
    return place < calls.count ? (place, calls[place]) : nil
  }

  var isEmpty: Bool { taken.load(ordering: .relaxed) >= calls.count }
}

/// A number of callers, each of which sends the next call when it has its response.
final class Crowd: Sendable {
  let tally = OutcomeCounts()
  private let supply: Supply
  private let status: UInt16
  private let isOver = Atomic(false)
  private let onReply: @Sendable (Int, Reply) -> Void

  init(_ supply: Supply, status: UInt16, onReply: @escaping @Sendable (Int, Reply) -> Void = { _, _ in }) {
    self.supply = supply
    self.status = status
    self.onReply = onReply
  }

  func begin(_ lines: [any Line]) { for line in lines { ask(line) } }

  func end() { isOver.store(true, ordering: .relaxed) }

  /// Whether all calls have been taken.
  var isExhausted: Bool { supply.isEmpty }

  private func ask(_ line: any Line) {
    guard !isOver.load(ordering: .relaxed), let (number, call) = supply.next() else { return }
    line.send(call) { [self] reply in
      guard tally.take(reply, status) else { return }
      onReply(number, reply)
      ask(line)
    }
  }
}
