internal import PairingStore
internal import PairingStorePostgreSQL
internal import RegentPairing
internal import RegentPlatform
internal import ScaleModel
internal import TestSupport

// Measures the costs of single acts, without sockets, on the real store with its waiters. Acts that only occur beside
// others are measured beside them, and the others' cost is subtracted.

struct Laboratory {
  private let ground: Ground
  private let engine: Engine
  private let simulated: Simulated

  init(_ ground: Ground, _ engine: Engine, _ simulated: Simulated) {
    self.ground = ground
    self.engine = engine
    self.simulated = simulated
  }

  func costs() throws -> Costs {
    note("… sending nonces without a receiver")
    let place = try ground.place("alone")
    let quiet = try tellings(place, hearer: nil)
    let middle = quiet[1]
    var telling = Telling(batch: Spend(), nonce: Spend(), span: 0)
    telling.nonce = ((quiet[3].perBatch - middle.perBatch) / Double(Self.manyNonces - Self.fewNonces)).atLeastNothing
    telling.batch = (middle.perBatch - telling.nonce * Double(Self.fewNonces)).atLeastNothing

    note("… an idle node, and receiving nonces")
    let node = try wait { try await InProcessNode("lab", on: place.store("lab")) }
    let cluster = InProcessCluster([node])
    let meter = try Meter(cluster, place)
    cluster.turn(until: seconds() + 1)
    try meter.begin()
    cluster.turn(until: seconds() + 4)
    let still = try meter.end()
    let idle = still.spend / still.seconds
    let hearing = try hearing(place, quiet, idle: idle)

    // The driver in this process wakes up a thousand times a second.
    try meter.begin()
    try pace(cluster, for: 2, [])
    let awake = try meter.end()
    let pacing = max(0, awake.spend.nodes / awake.seconds - idle.nodes)
    let idleWrites = still.writes / still.seconds
    /// The cost of each act, without what the node and the driver use anyway and without sending nonces.
    func acts(_ usage: Usage, idle count: Double = 1, pacing: Double, signed: Double) -> Spend {
      let second = idle * count + Spend(nodes: pacing)
      let tellings = telling.batch * usage.told + telling.nonce * (signed * usage.acts)
      return ((usage.spend - second * usage.seconds - tellings) / usage.acts).atLeastNothing
    }
    func act(_ usage: Usage, _ idle: Double = 1, signed: Double, calls: Double) -> Act {
      Act(
        acts(usage, idle: idle, pacing: pacing, signed: signed),
        writes: max(0, (usage.writes - idleWrites * idle * usage.seconds) / usage.acts), signedCalls: signed,
        calls: calls)
    }

    note("… sockets, without a service")
    let (light, client, connection) = (try engine.light(), try engine.client(), try engine.connection())

    note("… polls, held polls, and sign-ins beside polls")
    let polls = try polls(cluster, meter)
    let poll = act(polls, signed: 1, calls: 1)
    let hold = act(try holds(cluster, meter), signed: 1, calls: 1)
    /// The rest of the measured cost, which belongs to the sign-ins.
    func signIn(_ found: (usage: Usage, polls: Double), _ count: Double, heard: Spend = Spend()) -> Act {
      var act = act(found.usage, count, signed: 2, calls: 3)
      let beside = (poll.spend + telling.nonce) * found.polls + heard * found.usage.seconds
      act.spend = (act.spend - beside / found.usage.acts).atLeastNothing
      return act
    }
    let here = signIn(try signIns(cluster, meter), 1)

    note("… many codes at once")
    let beside = try BesideSockets(cluster, engine, client: client)
    let besideMeter = try Meter(beside, place)
    let before = try beside.engineUse()
    let many = try rush(Pace.askers, at: beside, besideMeter)
    let after = try beside.engineUse()
    let crowded = (after.seconds - before.seconds) / Double(after.calls - before.calls) * 1e6
    let some = try rush(Pace.askers / 8, at: beside, besideMeter)
    func batch(_ usage: Usage) -> (size: Double, spend: Spend, seconds: Double) {
      (usage.acts / usage.writes, acts(usage, pacing: 0, signed: 1), usage.seconds / usage.acts)
    }
    note("  \(text(many.acts / many.seconds)) codes/s")
    try wait { await node.end() }

    var costs = Costs(
      idle: idle, idleWrites: idleWrites, poll: poll, signIn: here, signInElsewhere: here, hold: hold,
      comeBack: simulated.comeBack, code: BatchCost(batch(some), batch(many)), telling: telling,
      busySpan: 0, hearing: hearing,
      transport: Transport(light: light, many: crowded, client: client), waiter: simulated.kibibytes,
      connection: connection)
    note("… sign-ins approved at another node")
    let (elsewhere, together) = try self.elsewhere(client)
    costs.fullness = (
      alone: many.acts / many.writes / Model.batch(ofAskers: Double(Pace.askers)),
      beside: together.acts / together.writes / Model.batch(ofAskers: Double(Pace.askers / 2))
    )
    // A single node sends no nonces, so the collection time is measured at two nodes.
    func span(_ usage: Usage, signed: Double) -> Double {
      Telling.span(calls: signed / 2 / usage.seconds, batches: usage.told / 2 / usage.seconds)
    }
    costs.telling.span = span(elsewhere.usage, signed: 2 * elsewhere.usage.acts + elsewhere.polls)
    costs.busySpan = span(together, signed: together.acts)
    // Two nodes receive each other's changes; that cost is known and does not belong to the sign-ins.
    let seconds = elsewhere.usage.seconds
    let heard = Model(costs).heard(
      told: elsewhere.usage.told / seconds, writes: elsewhere.usage.writes / seconds,
      nonces: (2 * elsewhere.usage.acts + elsewhere.polls) / seconds, nodes: 2)
    costs.signInElsewhere = signIn(elsewhere, 2, heard: heard)
    return costs
  }

  // MARK: - Telling and hearing

  private static let fewNonces = 3
  private static let manyNonces = 30
  private static let tellings: [(rate: Double, nonces: Int)] = [
    (60, fewNonces), (180, fewNonces), (400, fewNonces), (180, manyNonces), (1_000, fewNonces),
  ]

  /// What sending nonces at one rate costs, beyond the cost without it.
  private struct Told {
    var batches: Double
    var second: Spend
    var perBatch: Spend { second / batches }
  }

  private func tellings(_ place: Place, hearer: InProcessNode?) throws -> [Told] {
    // A store sends at most two notifications in five milliseconds, so the highest rate needs three stores.
    let stores = try (0..<3).map { try place.store("teller-\($0)") }
    defer { for store in stores { store.close() } }
    let cluster = InProcessCluster(hearer.map { [$0] } ?? [])
    let meter = try Meter(cluster, place)
    let key: PublicKey = try name(Sample.publicKey)
    try meter.begin()
    try pace(cluster, for: 2, [])
    let without = try meter.end()
    return try Self.tellings.map { rate, count in
      var turn = 0
      let failures = Kept(0)
      func tell() {
        turn += 1
        let second = Clocks.wallMilliseconds() / 1_000
        let nonces = (0..<count).map {
          UsedNonce(key: key, second: second, mark: UInt64(turn * 64 + $0) &* 0x9E37_79B9)
        }
        let store = stores[rate > 400 ? turn % 3 : 0]
        Task {
          do {
            try await store.share(nonces)
          } catch {
            failures.withLock { $0 += 1 }
          }
        }
      }
      try pace(cluster, for: 0.3, [(rate, tell)])
      try meter.begin()
      try pace(cluster, for: 1.5, [(rate, tell)])
      let usage = try meter.end()
      guard failures.withLock({ $0 }) == 0 else { throw TestSupportError("nonces could not be sent") }
      let second = usage.spend / usage.seconds - without.spend / without.seconds
      return Told(batches: usage.told / usage.seconds, second: second.atLeastNothing)
    }
  }

  private func hearing(_ place: Place, _ quiet: [Told], idle: Spend) throws -> Hearing {
    let loud = try wait { try await InProcessNode("hearer", on: place.store("hearer")) }
    defer { try? wait { await loud.end() } }
    let heard = try tellings(place, hearer: loud)
    // The node "lab" of `costs` receives them, too, so each of the two has half of the cost.
    let second = zip(heard, quiet).map { ($0.second - $1.second) / 2 }
    let nonce =
      ((second[3] - second[1])
      / (heard[3].batches * Double(Self.manyNonces) - heard[1].batches * Double(Self.fewNonces)))
      .atLeastNothing
    let curve = [0, 1, 2, 4].map { place in
      (
        heard[place].batches,
        (second[place] - nonce * (heard[place].batches * Double(Self.fewNonces))).atLeastNothing
      )
    }
    return Hearing(curve: curve, nonce: nonce)
  }

  // MARK: - Acts

  private func polls(_ cluster: any Cluster, _ meter: Meter) throws -> Usage {
    let boxes = try StandingBoxes(200, polls: Int(Pace.polls * 8), at: cluster)
    return try measured(cluster, meter, boxes.tally, [(Pace.polls, boxes.poll)]) {}
  }

  private func holds(_ cluster: any Cluster, _ meter: Meter) throws -> Usage {
    var signer = try Signer()
    let count = 400
    let names = (0..<count).map { "held-\(signer.prefix)-\($0)" }
    let lines = try (0..<count).map { _ in try cluster.line(to: 0) }
    let (made, tally) = (OutcomeCounts(), OutcomeCounts())
    for (line, name) in zip(lines, names) { line.send(try signer.code(name)) { _ = made.take($0, 201) } }
    try made.await(count, "new codes", cluster)
    let calls = try (0..<2_000).map { try signer.hold(names[$0 % count], 1) }
    var turn = 0
    let usage = try measured(
      cluster, meter, tally,
      [
        (
          250,
          {
            guard turn < calls.count else { return }
            lines[turn % count].send(calls[turn]) { _ = tally.take($0, 404) }
            turn += 1
          }
        )
      ]
    ) {}
    return usage
  }

  private func signIns(_ cluster: any Cluster, _ meter: Meter) throws -> (usage: Usage, polls: Double) {
    let standing = try StandingBoxes(198, polls: Int(Pace.polls * 9), at: cluster)
    let boxes = try SignIns(Int(Pace.signIns * 9), lines: 120, at: cluster)
    var before = 0
    let usage = try measured(
      cluster, meter, boxes.told, warm: 2, [(Pace.polls, standing.poll), (Pace.signIns, boxes.begin)],
      between: boxes.approve, onBegin: { before = standing.tally.count })
    try boxes.check()
    try standing.tally.check("polls")
    // Responses in the pause after the measurement do not count, because the streams had ended.
    return (usage, Double(standing.tally.count - before))
  }

  /// Measures two nodes: sign-ins, and the codes in a transaction while many boxes ask both nodes.
  private func elsewhere(_ client: Double) throws -> (signIns: (usage: Usage, polls: Double), rush: Usage) {
    let place = try ground.place("elsewhere")
    let nodes = try wait {
      [try await InProcessNode("one", on: place.store("one")), try await InProcessNode("two", on: place.store("two"))]
    }
    defer { try? wait { for node in nodes { await node.end() } } }
    let cluster = InProcessCluster(nodes)
    let signIns = try signIns(cluster, Meter(cluster, place))
    let beside = try BesideSockets(cluster, engine, client: client)
    return (signIns, try rush(Pace.askers, at: beside, Meter(beside, place), for: 2))
  }

  private func measured(
    _ cluster: any Cluster, _ meter: Meter, _ tally: OutcomeCounts, warm: Double = 1,
    _ streams: [(rate: Double, act: () throws -> Void)], between: () throws -> Void, onBegin: () -> Void = {}
  ) throws -> Usage {
    try pace(cluster, for: warm, streams, between: between)
    try meter.begin()
    onBegin()
    let before = tally.count
    try pace(cluster, for: 5, streams, between: between)
    let count = tally.count
    var usage = try meter.end()
    usage.acts = Double(count - before)
    // Acts that are under way must not reach into the next measurement.
    try pace(cluster, for: 0.8, [], between: between)
    try tally.check("the load")
    return usage
  }
}

extension Usage {
  /// In microseconds.
  var spend: Spend { Spend(nodes: nodes, database: database) * 1e6 }
}

/// Runs a task and blocks the measuring thread, which is not one of the concurrency pool, until the task ends.
func wait<Value: Sendable>(_ body: @escaping @Sendable () async throws -> Value) throws -> Value {
  let outcome = Monitor<Result<Value, any Error>?>(nil)
  Task {
    let result: Result<Value, any Error>
    do {
      result = .success(try await body())
    } catch {
      result = .failure(error)
    }
    outcome.withLock { $0 = result }
    outcome.wakeAll()
  }
  guard let result = outcome.wait(for: { $0 }) else { throw TestSupportError("the task gave no result") }
  return try result.get()
}
