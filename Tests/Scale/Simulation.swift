internal import Glibc
internal import PairingService
internal import PairingStore
internal import PairingStorePostgreSQL
internal import PairingStoreSQLite
internal import RegentCryptography
internal import RegentPairing
internal import RegentPlatform
internal import ScaleModel
internal import TestSupport

// The load of ten million boxes, scaled to what one machine carries: the real store and its waiters, without sockets.
// Each simulation has its own process, so that its memory and processor time are those of the node alone.

/// A store into which rows can be inserted in bulk, signed and sealed as in its other operations.
///
/// The caller must make sure that the ids are unused and that the requestor and the row key exist.
protocol FillableStore: Store {
  func fill(_ codes: [RegistrationRecord], _ signIns: [AuthenticationRecord]) async throws
  func close()
}

/// The load: at most a tenth of the boxes of issue 21, but all of its codes and approvals a second.
enum Simulation {
  static let codes = 1_700.0
  static let approvals = 500.0
  static let span = 5.0
}

/// The results of a simulation.
struct Simulated {
  var numbers: [String: Double] = [:]

  subscript(_ name: String) -> Double { numbers[name] ?? .nan }

  /// The cost of a box that comes back, including sending the nonce to other nodes.
  var comeBack: Act {
    Act(Spend(nodes: self["back-node"], database: self["back-database"]), signedCalls: 1, calls: 1)
  }
  /// The memory of a waiting box without its connection.
  var kibibytes: Double { self["waiter-kib"] }

  /// Runs a simulation in its own process.
  static func run(_ words: [String]) throws -> Simulated {
    let done = try TestSupport.run(try ownProgram(), ["simulate"] + words, deadline: 240)
    guard done.status == 0 else {
      throw TestSupportError("the simulation ended with \(done.status): \(done.errorText)")
    }
    var simulated = Simulated()
    for line in done.outputText.split(separator: "\n") {
      let words = line.split(separator: " ")
      if words.count == 2, let value = Double(words[1]) { simulated.numbers[String(words[0])] = value }
    }
    return simulated
  }
}

/// `simulate sqlite FILE WAITING BOXES` and `simulate server URL PID WAITING BOXES`.
func simulate(_ arguments: [String]) -> Int32 {
  do {
    let clock = { @Sendable in Instant(milliseconds: Clocks.wallMilliseconds()) }
    switch (arguments.first, arguments.count) {
    case ("sqlite", 4):
      let store = try SQLiteStore(
        SQLiteStoreOptions(
          path: arguments[1], masterKey: Secret(copying: Place.masterKey), wallClock: clock))
      try wait { try await provision(store) }
      try Simulator(store, server: nil, Int(arguments[2]) ?? 0, Int(arguments[3]) ?? 0).run()
    case ("server", 5):
      let place = Place(url: arguments[1], server: Int32(arguments[2]) ?? 0, folder: "")
      try Simulator(try place.store("simulated"), server: place, Int(arguments[3]) ?? 0, Int(arguments[4]) ?? 0).run()
    default: return usage()
    }
    return 0
  } catch {
    note("\(error)")
    return 1
  }
}

private struct Simulator {
  private let store: any FillableStore
  private let place: Place?
  private let waiting: Int
  private let boxes: Int

  init(_ store: any FillableStore, server place: Place?, _ waiting: Int, _ boxes: Int) {
    (self.store, self.place, self.waiting, self.boxes) = (store, place, waiting, boxes)
  }

  private static func say(_ name: String, _ value: Double) { print(name, value) }

  private func database() -> Double {
    place.map { serverProcessors($0.server).values.reduce(0, +) } ?? 0
  }

  func run() throws {
    let filling = seconds()
    try wait { [self] in try await fill() }
    Self.say("fill-seconds", seconds() - filling)
    if let place {
      let counter = try place.counter()
      Self.say("code-bytes", try counter.size(of: "registration") / Double(waiting))
      Self.say("box-bytes", try counter.size(of: "authentication") / Double(boxes))
    }
    let starting = seconds()
    let node = try wait { [store] in try await InProcessNode("simulated", on: store) }
    Self.say("start-seconds", seconds() - starting)
    let cluster = InProcessCluster([node])
    let boxes = Crowded(waiting)
    try comeBack(node, cluster, boxes)
    try work(node, cluster, boxes)
    try wait { await node.end() }
    store.close()
  }

  /// All boxes come back at the same time, to a node that, with PostgreSQL, knows no code yet.
  private func comeBack(_ node: InProcessNode, _ cluster: InProcessCluster, _ boxes: Crowded) throws {
    var signer = try Signer()
    let calls = try (0..<waiting).map { try signer.hold(deviceName($0)) }
    let line = cluster.line(to: 0)
    func hold(_ number: Int) { line.send(calls[number]) { boxes.note(number, $0) } }
    // The first boxes are not measured: they also pay for what a node sets up once.
    let first = min(500, waiting / 10)
    for number in 0..<first { hold(number) }
    try boxes.await("boxes that wait") { node.core.waiters.count >= first }
    let memory = try anonymousKiB(getpid())
    let (time, nodes, used) = (seconds(), try cluster.processors(), database())
    for number in first..<waiting {
      hold(number)
      while number % 64 == 0, number - node.core.waiters.count > 512 { usleep(200) }
    }
    try boxes.await("boxes that wait") { node.core.waiters.count + boxes.ended >= waiting }
    let count = Double(waiting - first)
    Self.say("back-rate", count / (seconds() - time))
    Self.say("back-node", (try cluster.processors() - nodes) / count * 1e6)
    Self.say("back-database", (database() - used) / count * 1e6)
    Self.say("waiter-kib", (try anonymousKiB(getpid()) - memory) / count)
  }

  /// New codes and approvals while all other boxes wait.
  private func work(_ node: InProcessNode, _ cluster: InProcessCluster, _ boxes: Crowded) throws {
    var signer = try Signer()
    // Random arrivals may exceed the rate.
    let codes = try (0..<Int(Simulation.codes * Simulation.span * 1.2)).map { try signer.code("fresh-\($0)") }
    let approvals = try (0..<min(waiting, Int(Simulation.approvals * Simulation.span * 1.2))).map { number in
      try Signer.approval(try known(RegistrationCode(ordinal: UInt64(number))).wire)
    }
    let (line, operators) = (cluster.line(to: 0), cluster.operatorLine(to: 0))
    let (made, approved) = (OutcomeCounts(), OutcomeCounts())
    var (code, approval) = (0, 0)
    let (time, nodes, used) = (seconds(), try cluster.processors(), database())
    try pace(
      cluster, for: Simulation.span,
      [
        (
          Simulation.codes,
          {
            guard code < codes.count else { return }
            line.send(codes[code]) { _ = made.take($0, 201) }
            code += 1
          }
        ),
        (
          Simulation.approvals,
          {
            guard approval < approvals.count else { return }
            boxes.approve(approval)
            operators.send(approvals[approval]) { _ = approved.take($0, 200) }
            approval += 1
          }
        ),
      ])
    let span = seconds() - time
    Self.say("work-codes", Double(made.count) / span)
    Self.say("work-approvals", Double(approved.count) / span)
    Self.say("work-node", (try cluster.processors() - nodes) / span)
    Self.say("work-database", (database() - used) / span)
    try made.await(code, "new codes", cluster)
    try approved.await(approval, "approvals", cluster)
    try boxes.await("the boxes that were approved") { boxes.delays.count >= approval }
    let delays = boxes.delays.sorted()
    Self.say("told-p50", delays[delays.count / 2])
    Self.say("told-p99", delays[delays.count * 99 / 100])
  }

  // MARK: - The initial data

  private func deviceName(_ number: Int) -> String { "box-\(number)" }

  private func fill() async throws {
    let now = Instant(milliseconds: Clocks.wallMilliseconds())
    let hasher = try await KeyedHasher(store)
    let (requestor, rowKey): (RequestorID, PublicKey) = (try name(Sample.requestor), try name(Sample.rowKey))
    let viewer = Viewer(provider: try name(Sample.provider), account: try name(Sample.account))
    let step = 1_000
    for first in stride(from: 0, to: waiting, by: step) {
      let codes = try (first..<min(first + step, waiting)).map { number in
        let device: DeviceID = try name(deviceName(number))
        return RegistrationRecord(
          id: try name(uuid(number, 1)), code: hasher.code(try known(RegistrationCode(ordinal: UInt64(number)))),
          requestor: requestor, device: device, deviceHash: hasher.device(device), rowKey: rowKey,
          flow: PairingFlow(issued: now, lifetime: .longest))
      }
      try await store.fill(codes, [])
    }
    for first in stride(from: 0, to: boxes, by: step) {
      let signIns = try (first..<min(first + step, boxes)).map { number in
        let device: DeviceID = try name("signed-in-\(number)")
        return AuthenticationRecord(
          authentication: Authentication(
            id: try name(uuid(number, 2)), requestor: requestor, viewer: viewer, household: nil, profile: nil,
            source: .regular, issued: now, expires: now + .seconds(365 * 86_400)),
          device: device, deviceHash: hasher.device(device), rowKey: rowKey)
      }
      try await store.fill([], signIns)
    }
  }

  private func uuid(_ number: Int, _ kind: Int) -> String {
    let digits = String(number)
    return "0000000\(kind)-0000-4000-8000-\(String(repeating: "0", count: 12 - digits.count))\(digits)"
  }
}

/// Waiting boxes, and when each of them got its result.
private final class Crowded: Sendable {
  private struct State {
    var said: [Double]
    var delays: [Double] = []
    var ended = 0
    var wrong: String?
  }

  private let state: Kept<State>

  init(_ count: Int) { state = Kept(State(said: [Double](repeating: 0, count: count))) }

  /// Milliseconds from the approval to the box.
  var delays: [Double] { state.withLock { $0.delays } }
  /// The number of waits that ended by their timeout.
  var ended: Int { state.withLock { $0.ended } }

  func approve(_ number: Int) { state.withLock { $0.said[number] = seconds() } }

  func note(_ number: Int, _ reply: Reply) {
    let now = seconds()
    state.withLock { state in
      switch reply.status {
      case 200: state.delays.append((now - state.said[number]) * 1_000)
      case 404: state.ended += 1
      // Also the replies when the node stops.
      default: state.wrong = state.wrong ?? "\(reply.status) \(String(decoding: reply.body, as: UTF8.self))"
      }
    }
  }

  func await(_ what: String, _ condition: () -> Bool) throws {
    let end = seconds() + 100
    while !condition() {
      if let wrong = state.withLock({ $0.wrong }) { throw TestSupportError("\(what): \(wrong)") }
      guard seconds() < end else { throw TestSupportError("\(what): not in time") }
      usleep(2_000)
    }
  }
}
