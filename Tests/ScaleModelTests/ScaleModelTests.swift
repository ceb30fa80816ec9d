import ScaleModel
import Testing

@Suite("The model of a cluster")
struct ScaleModelTests {
  /// Round numbers, so that the expected results can be computed by hand.
  private static func costs(_ change: (inout Costs) -> Void = { _ in }) -> Costs {
    var costs = Costs(
      idle: Spend(nodes: 10_000, database: 5_000), idleWrites: 0,
      poll: Act(Spend(nodes: 40), signedCalls: 1, calls: 1),
      signIn: Act(Spend(nodes: 1_000, database: 2_000), writes: 3, signedCalls: 2, calls: 3),
      signInElsewhere: Act(Spend(nodes: 1_500, database: 3_000), writes: 3, signedCalls: 2, calls: 3),
      hold: Act(Spend(nodes: 60), signedCalls: 1, calls: 1),
      comeBack: Act(Spend(nodes: 100, database: 200), signedCalls: 1, calls: 1),
      code: BatchCost(
        transaction: Spend(nodes: 256, database: 512), each: Spend(nodes: 50, database: 100), seconds: 0.001,
        secondsEach: 0.0001),
      telling: Telling(batch: Spend(), nonce: Spend(), span: 0.004), busySpan: 0.004,
      hearing: Hearing(curve: [], nonce: Spend()), transport: Transport(light: 0, many: 0, client: 0), waiter: 1,
      connection: 1)
    change(&costs)
    return costs
  }

  private static func load(_ change: (inout Load) -> Void) -> Load {
    var load = Load()
    change(&load)
    return load
  }

  @Test func `an idle cluster uses what its idle nodes use`() {
    let steady = Model(Self.costs()).steady(Load(), nodes: 3)
    #expect(steady.node == 0.01 && steady.database == 0.015 && steady.writes == 0 && steady.told == 0)
  }

  @Test func `more nodes divide the work of the nodes but not that of the database`() {
    let load = Self.load { $0.polls = 1_000 }
    let model = Model(Self.costs { $0.idle = Spend() })
    #expect(model.steady(load, nodes: 1).node == 0.04)
    #expect(model.steady(load, nodes: 2).node == 0.02)
    let signIns = Self.load { ($0.codes, $0.approvals) = (10, 10) }
    let database = [2, 4].map { model.steady(signIns, nodes: $0).database }
    #expect(database[0] == database[1] && abs(database[0] - 0.03) < 1e-9)
  }

  @Test func `the model charges an approval at another node the measured cost of one`() {
    let load = Self.load { ($0.codes, $0.approvals) = (10, 10) }
    let model = Model(Self.costs { $0.idle = Spend() })
    #expect(abs(model.steady(load, nodes: 1).node - 0.010) < 1e-9)
    #expect(abs(model.steady(load, nodes: 2).node - 0.0075) < 1e-9)
    #expect(model.steady(load, nodes: 2).writes == 30)
  }

  @Test func `the model adds the cost of the socket to every call over a socket`() {
    let load = Self.load { $0.approvals = 10 }
    let model = Model(
      Self.costs {
        $0.idle = Spend()
        $0.transport.light = 100
      })
    #expect(abs(model.steady(load, nodes: 1).node - 0.013) < 1e-9)
  }

  @Test func `the model derives the number of nonce batches from their collection time, and the time from it`() {
    let telling = Telling(batch: Spend(nodes: 10), nonce: Spend(nodes: 1), span: 0.004)
    #expect(telling.batches(of: 250, nodes: 2) == 125)
    #expect(telling.spend(calls: 250, nodes: 2) == Spend(nodes: 1_500))
    // A single node sends three batches a second.
    #expect(telling.spend(calls: 250, nodes: 1) == Spend(nodes: 280))
    #expect(abs(Telling.span(calls: 250, batches: 125) - 0.004) < 1e-12)
    // As many batches as calls: the span is 0.
    #expect(Telling.span(calls: 100, batches: 100) == 0)
    // Half as many nodes send nearly half as many batches, not the same number.
    let model = Model(Self.costs())
    let load = Self.load { $0.polls = 1_000 }
    let told = [1, 2, 4].map { model.steady(load, nodes: $0).told }
    #expect(told[0] == 3 && abs(told[1] - 2 * 500 / 3) < 1e-9 && told[2] == 500)
  }

  @Test func `the cost of notifications is interpolated, and extrapolated beyond the last measurement`() {
    let hearing = Hearing(
      curve: [(100, Spend(nodes: 100)), (200, Spend(nodes: 300)), (400, Spend(nodes: 400))], nonce: Spend(nodes: 2))
    for (bells, expected) in [(0.0, 0.0), (50, 50), (100, 100), (150, 200), (300, 350), (600, 500)] {
      #expect(hearing.spend(bells: bells, nonces: 0).nodes == expected, "\(bells)")
    }
    #expect(hearing.spend(bells: 100, nonces: 10).nodes == 120)
    #expect(Hearing(curve: [], nonce: Spend(nodes: 2)).spend(bells: 100, nonces: 10).nodes == 20)
  }

  @Test func `a single node receives no notifications, and each of several nodes those of all others`() {
    let model = Model(
      Self.costs {
        $0.idle = Spend()
        $0.poll.spend = Spend()
        $0.telling.span = 0
        $0.hearing = Hearing(curve: [(1_000, Spend(nodes: 1_000_000))], nonce: Spend())
      })
    let load = Self.load { $0.polls = 300 }
    #expect(model.steady(load, nodes: 1).node == 0)
    // At two nodes 150 notifications of the other one; at three nodes 100 of each of the two others.
    #expect(abs(model.steady(load, nodes: 2).node - 0.15) < 1e-9)
    #expect(abs(model.steady(load, nodes: 3).node - 0.2) < 1e-9)
  }

  @Test func `two measurements give the cost of a transaction and of each item in it`() {
    let exact = BatchCost(
      transaction: Spend(nodes: 256, database: 512), each: Spend(nodes: 50, database: 100), seconds: 0.001,
      secondsEach: 0.0001)
    func measured(_ size: Double) -> (size: Double, spend: Spend, seconds: Double) {
      (size, exact.spend(inBatchesOf: size), exact.writer(inBatchesOf: size))
    }
    let found = BatchCost(measured(32), measured(256))
    #expect(abs(found.transaction.nodes - 256) < 1e-6 && abs(found.transaction.database - 512) < 1e-6)
    #expect(abs(found.each.nodes - 50) < 1e-6 && abs(found.each.database - 100) < 1e-6)
    #expect(abs(found.seconds - 0.001) < 1e-9 && abs(found.secondsEach - 0.0001) < 1e-9)
    // Two measurements of the same size define no line: the whole cost is that of the items.
    let level = BatchCost(measured(64), measured(64))
    #expect(level.transaction == Spend() && level.each == exact.spend(inBatchesOf: 64))
    // Noise does not give a transaction a negative cost.
    #expect(BatchCost((32, Spend(nodes: 10), 1), (256, Spend(nodes: 20), 2)).transaction == Spend())
  }

  @Test func `a batch has half of the callers, up to the limit of the writer`() {
    #expect([512, 256, 128, 1, 4_000].map(Model.batch(ofAskers:)) == [256, 128, 64, 1, 256])
  }

  @Test func `the rate of codes is limited by the writer or by the machine`() {
    let model = Model(Self.costs { $0.idle = Spend() })
    let free = model.rush(askers: 512, nodes: 1, cores: 1_000)
    #expect(free.codesInTransaction == 256)
    #expect(abs(free.rate - 1 / (0.0001 + 0.001 / 256)) < 1)
    #expect(abs(free.spend.nodes - 51) < 1e-6 && abs(free.spend.database - 102) < 1e-6)
    let tight = model.rush(askers: 512, nodes: 1, cores: 0.5)
    #expect(abs(tight.rate - 0.5e6 / 153) < 1)
    // Each node has fewer callers, so its transactions are smaller and each code pays a larger part of one.
    let three = model.rush(askers: 384, nodes: 3, cores: 1_000)
    #expect(three.codesInTransaction == 64 && abs(three.spend.nodes - 54) < 1e-6)
  }

  @Test func `transactions are as full as measured, at a single node and at one of several`() {
    let model = Model(
      Self.costs {
        $0.idle = Spend()
        $0.fullness = (alone: 0.5, beside: 0.25)
      })
    #expect(model.rush(askers: 512, nodes: 1, cores: 1_000).codesInTransaction == 128)
    #expect(model.rush(askers: 512, nodes: 2, cores: 1_000).codesInTransaction == 32)
    #expect(model.rush(askers: 2, nodes: 2, cores: 1_000).codesInTransaction == 1)
  }

  @Test func `the model divides a cost per second among the codes of that second`() {
    let model = Model(Self.costs { $0.idle = Spend(nodes: 100_000) })
    let rush = model.rush(askers: 512, nodes: 1, cores: 1_000)
    #expect(abs(rush.spend.nodes - (51 + 100_000 / rush.rate)) < 0.1)
  }

  private static let machine = Machine(cores: 2, memory: 4, connections: 20_000)

  @Test func `a plan has the fewest nodes that carry the load and names the limit`() throws {
    let model = Model(Self.costs())
    let few = try #require(model.plan(boxes: 10_000, on: Self.machine))
    #expect(few.nodes == 1 && few.limit == nil)
    let many = try #require(model.plan(boxes: 1_000_000, on: Self.machine))
    // The machine allows 20,000 of the 100,000 connections.
    #expect(many.nodes == 5 && many.limit == .connections)
    let plans = [1e4, 1e5, 1e6, 1e7].compactMap { model.plan(boxes: $0, on: Self.machine)?.nodes }
    #expect(plans.count == 4 && plans == plans.sorted())
    let roomy = Machine(cores: 2, memory: 400, connections: 10_000_000)
    let back = try #require(
      Model(Self.costs { $0.comeBack.spend.nodes = 1_000 }).plan(boxes: 1_000_000, on: roomy, backWithin: 30))
    // 3,333 boxes a second need 3.3 cores while they come back.
    #expect(back.nodes == 2 && back.limit == .comingBack)
    let tight = Machine(cores: 64, memory: 1, connections: 10_000_000)
    #expect(try #require(model.plan(boxes: 10_000_000, on: tight)).limit == .memory)
  }

  @Test func `the model proposes no cluster when an additional node costs the others more than it takes over`() {
    let model = Model(
      Self.costs { $0.hearing = Hearing(curve: [(1, Spend(nodes: 1_000_000))], nonce: Spend(nodes: 10_000)) })
    #expect(model.plan(boxes: 10_000_000, on: Self.machine) == nil)
  }

  @Test func `the busy share of the writer grows with the load`() {
    let model = Model(Self.costs { $0.signInElsewhere.writes = 1 })
    let load = Load(boxes: 1_000_000)
    let steady = model.steady(load, nodes: 2)
    #expect(load.codes == 170 && load.approvals == 50 && load.waiting == 100_000 && load.holds == 2_000)
    // Writes count a transaction for each code while there is time for it; the writer's share counts 270 requests in
    // the fewest transactions that carry them.
    #expect(steady.writes == 170)
    #expect(abs(model.writer(load) - 270 * (0.0001 + 0.001 / 256)) < 1e-9)
    #expect(abs(model.writer(Load(boxes: 10_000_000)) - 10 * model.writer(load)) < 1e-9)
  }

  @Test func `transactions are at most as many as one writer can commit`() {
    let model = Model(Self.costs())
    let load = Self.load { $0.codes = 5_000 }
    // The codes themselves take half of the writer's time; the other half is for transactions.
    #expect(abs(model.steady(load, nodes: 1).writes - 500) < 1e-6)
  }

  @Test(arguments: [(100.0, 100.0, true), (119, 100, true), (81, 100, true), (121, 100, false), (79, 100, false)])
  func `a prediction counts as right within a fifth of the measured figure`(
    predicted: Double, measured: Double, holds: Bool
  ) {
    #expect(Comparison("x", "", predicted: predicted, measured: measured).holds == holds)
  }

  @Test func `a prediction for a measured figure of zero counts as right only if it is zero`() {
    #expect(Comparison("x", "", predicted: 0, measured: 0).holds)
    #expect(!Comparison("x", "", predicted: 1, measured: 0).holds)
  }
}
