internal import Glibc
internal import RegentPlatform
internal import Synchronization
internal import TestSupport

// Loads, the same for nodes with and without sockets: so much a second, or so many at once.

/// Something that many threads change, and closures keep.
final class Kept<Value: Sendable>: Sendable {
  private let value: Locked<Value>

  init(_ value: Value) { self.value = Locked(value) }

  func withLock<Result: Sendable>(_ body: (inout Value) throws -> Result) rethrows -> Result {
    try value.withLock { value in try body(&value) }
  }
}

/// What happened in a window of a load.
struct Usage {
  var seconds = 0.0
  /// Seconds of the processor.
  var nodes = 0.0
  var database = 0.0
  /// Transactions of the lanes, and batches of nonces.
  var writes = 0.0
  var told = 0.0
  /// Acts that were done.
  var acts = 0.0
}

/// Reads all counters at both ends of a window.
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

/// Does things when they come, one independently of the other, on a grid of milliseconds: what waits for sockets cannot
/// be woken more precisely.
func pace(
  _ cluster: any Cluster, for span: Double, _ streams: [(rate: Double, act: () throws -> Void)],
  between: () throws -> Void = {}
) throws {
  let start = seconds()
  // Boxes know nothing of each other: their calls come close together as often as chance has it.
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
    // Late is late: what was missed is caught up with, as boxes do not wait for each other.
    try cluster.turn(until: start + tick)
  }
}

/// Counts answers, and keeps the first one that is wrong.
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

  /// Waits until there are so many.
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

/// Calls that are taken one after the other by whoever is free.
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

/// So many askers, each of which asks again when it was answered.
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

  /// Whether there is nothing left to ask.
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
