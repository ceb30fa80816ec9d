/// What boxes and phones do in a second, at all nodes together.
public struct Load: Equatable, Sendable {
  /// Codes that are made; each is held a poll for.
  public var codes = 0.0
  /// Codes among them that are approved, and whose box is told.
  public var approvals = 0.0
  /// Polls that are answered "not yet" at once.
  public var polls = 0.0
  /// Boxes that hold a poll.
  public var waiting = 0.0
  /// The seconds for which one is held.
  public var heldFor = 50.0

  public init() {}

  /// The load that issue 21 names for ten million boxes, for as many as there are.
  public init(boxes: Double) {
    let share = boxes / 10_000_000
    (codes, approvals, waiting) = (1_700 * share, 500 * share, 1_000_000 * share)
  }

  /// Held polls that end with their time.
  public var holds: Double { waiting / heldFor }
}

/// What a cluster uses in a second of a load.
public struct Steady: Equatable, Sendable {
  /// Cores that each node keeps busy.
  public var node: Double
  /// Cores that the database keeps busy.
  public var database: Double
  /// Transactions a second of all writers.
  public var writes: Double
  /// Batches of nonces a second.
  public var told: Double
}

/// What a code costs where many boxes ask at once, each again as soon as it is answered.
public struct Rush: Equatable, Sendable {
  /// Microseconds of the nodes, and of the database.
  public var spend: Spend
  public var codesInTransaction: Double
  /// Codes a second, with the callers on the same machine.
  public var rate: Double
}

/// How many machines a number of boxes takes.
public struct Plan: Equatable, Sendable {
  /// What ends first when there are more boxes.
  public enum Limit: String, Sendable {
    case processors = "processors of the nodes"
    case memory = "memory of the nodes"
    case connections = "connections of the nodes"
    case comingBack = "all coming back at once"
  }

  public var boxes: Double
  public var nodes: Int
  /// Why it is not fewer; nil for one.
  public var limit: Limit?
  public var steady: Steady
  /// The cores of the database while all boxes come back, beside the usual load.
  public var databaseInRush: Double
  /// How much of its time the one writer of the cluster is busy at least; 1 is the end.
  public var writer: Double
  /// GiB of each node.
  public var memory: Double
}

/// Reckons what a cluster uses.
public struct Model: Sendable {
  /// The lane takes so many requests into one transaction at most.
  public static let batch = 256.0
  /// Between two bells of one node.
  static let bellPause = 0.002
  public var costs: Costs

  public init(_ costs: Costs) { self.costs = costs }

  /// A load at so many nodes, whose boxes come to the same node each time and whose phones to the next one.
  public func steady(_ load: Load, nodes: Int) -> Steady {
    let count = Double(nodes)
    let signIn = nodes == 1 ? costs.signIn : costs.signInElsewhere
    // A code that nobody approves is a sign-in without its second half; what it is short of is not known apart, so it
    // counts as one code in a transaction of its own.
    let alone = Act(costs.code.spend(inBatchesOf: 1), writes: 1, signedCalls: 1, calls: 1)
    let acts = [
      (signIn, load.approvals), (alone, max(0, load.codes - load.approvals)), (costs.poll, load.polls),
      (costs.hold, load.holds),
    ]
    var spend = costs.idle * count
    var (writes, signed) = (costs.idleWrites * count, 0.0)
    for (act, rate) in acts {
      spend = spend + act.spend * rate
      spend.nodes += act.calls * rate * costs.transport.light
      writes += act.writes * rate
      signed += act.signedCalls * rate
    }
    // More than there can be when each has all it can take: batches that wait for the writer grow.
    writes = min(writes, writesAtMost(requests: writes))
    let each = signed / count
    spend = spend + costs.telling.spend(calls: each, nodes: nodes) * count
    let told = costs.telling.batches(of: each, nodes: nodes) * count
    spend = spend + heard(told: told, writes: writes, nonces: signed, nodes: count)
    return Steady(node: spend.nodes / count / 1e6, database: spend.database / 1e6, writes: writes, told: told)
  }

  /// What hearing each other costs all nodes in a second.
  public func heard(told: Double, writes: Double, nonces: Double, nodes: Double) -> Spend {
    guard nodes > 1 else { return Spend() }
    let bells = min((told + writes) / nodes, 1 / Self.bellPause)
    return costs.hearing.spend(bells: bells * (nodes - 1), nonces: nonces / nodes * (nodes - 1)) * nodes
  }

  private func writesAtMost(requests: Double) -> Double {
    // The writer is busy all the time then, with as few transactions as carry the requests.
    let left = 1 - requests * costs.code.secondsEach
    guard costs.code.seconds > 0 else { return .infinity }
    return max(requests / Self.batch, left / costs.code.seconds)
  }

  /// The size of a transaction at most where so many ask one node again and again: those who came during one make the
  /// next, so two halves take turns; fewer when many are on their way.
  public static func batch(ofAskers askers: Double) -> Double { max(1, min(Self.batch, askers / 2)) }

  /// So many boxes that ask for code after code, spread over the nodes, on a machine with so many cores for it all.
  public func rush(askers: Double, nodes: Int, cores: Double) -> Rush {
    let count = Double(nodes)
    let fullness = nodes == 1 ? costs.fullness.alone : costs.fullness.beside
    let size = max(1, Self.batch(ofAskers: askers / count) * fullness)
    var code = costs.code.spend(inBatchesOf: size) + costs.telling.nonce
    code.nodes += costs.transport.many
    let writer = costs.code.writer(inBatchesOf: size)
    var telling = costs.telling
    telling.span = costs.busySpan
    // What is told and heard by the second is shared by as many codes as there are, which are fewer for it.
    var (rate, spend) = (1 / writer, code)
    for _ in 0..<50 {
      let told = telling.batches(of: rate / count, nodes: nodes) * count
      let each =
        telling.batch * told + costs.idle * count
        + heard(told: told, writes: rate / size, nonces: rate, nodes: count)
      spend = code + each / rate
      let busy = (spend.nodes + spend.database + costs.transport.client) / 1e6
      rate = (rate + min(1 / writer, cores / busy)) / 2
    }
    return Rush(spend: spend, codesInTransaction: size, rate: rate)
  }

  /// KiB of each box that waits.
  public var waitingBox: Double { costs.waiter + costs.connection }
}
