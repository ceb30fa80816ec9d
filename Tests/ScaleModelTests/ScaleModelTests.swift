import ScaleModel
import Testing

@Suite("What a cluster uses, reckoned from what single acts cost")
struct ScaleModelTests {
  /// Round numbers, so that what comes out can be reckoned by hand.
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

  @Test func `work is divided between nodes, and not for the database`() {
    let load = Self.load { $0.polls = 1_000 }
    let model = Model(Self.costs { $0.idle = Spend() })
    #expect(model.steady(load, nodes: 1).node == 0.04)
    #expect(model.steady(load, nodes: 2).node == 0.02)
    let signIns = Self.load { ($0.codes, $0.approvals) = (10, 10) }
    let database = [2, 4].map { model.steady(signIns, nodes: $0).database }
    #expect(database[0] == database[1] && abs(database[0] - 0.03) < 1e-9)
  }

  @Test func `a yes at another node costs what it was measured to cost there`() {
    let load = Self.load { ($0.codes, $0.approvals) = (10, 10) }
    let model = Model(Self.costs { $0.idle = Spend() })
    #expect(abs(model.steady(load, nodes: 1).node - 0.010) < 1e-9)
    #expect(abs(model.steady(load, nodes: 2).node - 0.0075) < 1e-9)
    #expect(model.steady(load, nodes: 2).writes == 30)
  }

  @Test func `what comes over sockets costs more, call by call`() {
    let load = Self.load { $0.approvals = 10 }
    let model = Model(
      Self.costs {
        $0.idle = Spend()
        $0.transport.light = 100
      })
    #expect(abs(model.steady(load, nodes: 1).node - 0.013) < 1e-9)
  }

  @Test func `nonces go along with the first one, and how many batches there were says how long it waits`() {
    let telling = Telling(batch: Spend(nodes: 10), nonce: Spend(nodes: 1), span: 0.004)
    #expect(telling.batches(of: 250, nodes: 2) == 125)
    #expect(telling.spend(calls: 250, nodes: 2) == Spend(nodes: 1_500))
    // Who is alone tells three times a second.
    #expect(telling.spend(calls: 250, nodes: 1) == Spend(nodes: 280))
    #expect(abs(Telling.span(calls: 250, batches: 125) - 0.004) < 1e-12)
    // Every call told apart: there is no span to see.
    #expect(Telling.span(calls: 100, batches: 100) == 0)
    // Half as many nodes tell nearly half as many batches, not the same number.
    let model = Model(Self.costs())
    let load = Self.load { $0.polls = 1_000 }
    let told = [1, 2, 4].map { model.steady(load, nodes: $0).told }
    #expect(told[0] == 3 && abs(told[1] - 2 * 500 / 3) < 1e-9 && told[2] == 500)
  }

  @Test func `hearing is read off between what was measured, and beyond it along the last line`() {
    let hearing = Hearing(
      curve: [(100, Spend(nodes: 100)), (200, Spend(nodes: 300)), (400, Spend(nodes: 400))], nonce: Spend(nodes: 2))
    for (bells, expected) in [(0.0, 0.0), (50, 50), (100, 100), (150, 200), (300, 350), (600, 500)] {
      #expect(hearing.spend(bells: bells, nonces: 0).nodes == expected, "\(bells)")
    }
    #expect(hearing.spend(bells: 100, nonces: 10).nodes == 120)
    #expect(Hearing(curve: [], nonce: Spend(nodes: 2)).spend(bells: 100, nonces: 10).nodes == 20)
  }

  @Test func `one node hears nobody, and each of several all others`() {
    let model = Model(
      Self.costs {
        $0.idle = Spend()
        $0.poll.spend = Spend()
        $0.telling.span = 0
        $0.hearing = Hearing(curve: [(1_000, Spend(nodes: 1_000_000))], nonce: Spend())
      })
    let load = Self.load { $0.polls = 300 }
    #expect(model.steady(load, nodes: 1).node == 0)
    // 150 bells of the other one; then 100 of each of the two others.
    #expect(abs(model.steady(load, nodes: 2).node - 0.15) < 1e-9)
    #expect(abs(model.steady(load, nodes: 3).node - 0.2) < 1e-9)
  }

  @Test func `two measurements give what a transaction costs and what each part of it does`() {
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
    // Of one size there is no line: all of it is each one's.
    let level = BatchCost(measured(64), measured(64))
    #expect(level.transaction == Spend() && level.each == exact.spend(inBatchesOf: 64))
    // Noise does not make a transaction cheaper than nothing.
    #expect(BatchCost((32, Spend(nodes: 10), 1), (256, Spend(nodes: 20), 2)).transaction == Spend())
  }

  @Test func `a batch is half of those who ask, up to what the lane takes`() {
    #expect([512, 256, 128, 1, 4_000].map(Model.batch(ofAskers:)) == [256, 128, 64, 1, 256])
  }

  @Test func `many at once: the writer or the machine is the end`() {
    let model = Model(Self.costs { $0.idle = Spend() })
    let free = model.rush(askers: 512, nodes: 1, cores: 1_000)
    #expect(free.codesInTransaction == 256)
    #expect(abs(free.rate - 1 / (0.0001 + 0.001 / 256)) < 1)
    #expect(abs(free.spend.nodes - 51) < 1e-6 && abs(free.spend.database - 102) < 1e-6)
    let tight = model.rush(askers: 512, nodes: 1, cores: 0.5)
    #expect(abs(tight.rate - 0.5e6 / 153) < 1)
    // The askers of each node are fewer, so its transactions are smaller and each code pays more for its one.
    let three = model.rush(askers: 384, nodes: 3, cores: 1_000)
    #expect(three.codesInTransaction == 64 && abs(three.spend.nodes - 54) < 1e-6)
  }

  @Test func `transactions are as full as they were measured to be, alone and beside others`() {
    let model = Model(
      Self.costs {
        $0.idle = Spend()
        $0.fullness = (alone: 0.5, beside: 0.25)
      })
    #expect(model.rush(askers: 512, nodes: 1, cores: 1_000).codesInTransaction == 128)
    #expect(model.rush(askers: 512, nodes: 2, cores: 1_000).codesInTransaction == 32)
    #expect(model.rush(askers: 2, nodes: 2, cores: 1_000).codesInTransaction == 1)
  }

  @Test func `what is spent by the second weighs on fewer codes`() {
    let model = Model(Self.costs { $0.idle = Spend(nodes: 100_000) })
    let rush = model.rush(askers: 512, nodes: 1, cores: 1_000)
    #expect(abs(rush.spend.nodes - (51 + 100_000 / rush.rate)) < 0.1)
  }

  private static let machine = Machine(cores: 2, memory: 4, connections: 20_000)

  @Test func `a plan has as many nodes as the load needs, and says why`() throws {
    let model = Model(Self.costs())
    let few = try #require(model.plan(boxes: 10_000, on: Self.machine))
    #expect(few.nodes == 1 && few.limit == nil)
    let many = try #require(model.plan(boxes: 1_000_000, on: Self.machine))
    // 100,000 connections.
    #expect(many.nodes == 5 && many.limit == .connections)
    let plans = [1e4, 1e5, 1e6, 1e7].compactMap { model.plan(boxes: $0, on: Self.machine)?.nodes }
    #expect(plans.count == 4 && plans == plans.sorted())
    let roomy = Machine(cores: 2, memory: 400, connections: 10_000_000)
    let back = try #require(
      Model(Self.costs { $0.comeBack.spend.nodes = 1_000 }).plan(boxes: 1_000_000, on: roomy, backWithin: 30))
    // 3,333 boxes a second take 3.3 cores for as long as they come.
    #expect(back.nodes == 2 && back.limit == .comingBack)
    let tight = Machine(cores: 64, memory: 1, connections: 10_000_000)
    #expect(try #require(model.plan(boxes: 10_000_000, on: tight)).limit == .memory)
  }

  @Test func `where each node that is added has more to hear than it takes, there is no plan`() {
    let model = Model(
      Self.costs { $0.hearing = Hearing(curve: [(1, Spend(nodes: 1_000_000))], nonce: Spend(nodes: 10_000)) })
    #expect(model.plan(boxes: 10_000_000, on: Self.machine) == nil)
  }

  @Test func `the writer's share grows with the load`() {
    let model = Model(Self.costs { $0.signInElsewhere.writes = 1 })
    let load = Load(boxes: 1_000_000)
    let steady = model.steady(load, nodes: 2)
    #expect(load.codes == 170 && load.approvals == 50 && load.waiting == 100_000 && load.holds == 2_000)
    // A transaction for each code while there is time for that, and 270 requests in as few as carry them at least.
    #expect(steady.writes == 170)
    #expect(abs(model.writer(load) - 270 * (0.0001 + 0.001 / 256)) < 1e-9)
    #expect(abs(model.writer(Load(boxes: 10_000_000)) - 10 * model.writer(load)) < 1e-9)
  }

  @Test func `transactions are no more than one writer can make: they carry more then`() {
    let model = Model(Self.costs())
    let load = Self.load { $0.codes = 5_000 }
    // Half of its time goes to the codes themselves; the rest is for transactions.
    #expect(abs(model.steady(load, nodes: 1).writes - 500) < 1e-6)
  }

  @Test(arguments: [(100.0, 100.0, true), (119, 100, true), (81, 100, true), (121, 100, false), (79, 100, false)])
  func `a prediction holds within a fifth of what was measured`(predicted: Double, measured: Double, holds: Bool) {
    #expect(Comparison("x", "", predicted: predicted, measured: measured).holds == holds)
  }

  @Test func `of nothing only nothing is predicted well`() {
    #expect(Comparison("x", "", predicted: 0, measured: 0).holds)
    #expect(!Comparison("x", "", predicted: 1, measured: 0).holds)
  }
}
