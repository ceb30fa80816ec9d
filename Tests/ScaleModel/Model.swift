/// What boxes and phones do in a second, at all nodes together.
public struct Load: Equatable, Sendable {
  /// New codes; the box of each waits in a long poll.
  public var codes = 0.0
  /// The codes among them that are approved and whose box gets the result.
  public var approvals = 0.0
  /// Polls that are answered "not yet" without waiting.
  public var polls = 0.0
  /// Boxes that wait in a long poll.
  public var waiting = 0.0
  /// The seconds that a long poll lasts.
  public var heldFor = 50.0

  public init() {}

  /// The load of issue 21 for ten million boxes, scaled to `boxes`.
  public init(boxes: Double) {
    let share = boxes / 10_000_000
    (codes, approvals, waiting) = (1_700 * share, 500 * share, 1_000_000 * share)
  }

  /// Long polls that end by their timeout.
  public var holds: Double { waiting / heldFor }
}

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

/// The cost of a code while many boxes ask for codes at the same time, each again after its response.
public struct Rush: Equatable, Sendable {
  /// Microseconds of the nodes and of the database.
  public var spend: Spend
  public var codesInTransaction: Double
  /// Codes a second when the callers run on the same machine.
  public var rate: Double
}

/// The number of nodes for a number of boxes, and what they use.
public struct Plan: Equatable, Sendable {
  /// The resource that is used up first when there are more boxes.
  public enum Limit: String, Sendable {
    case processors = "processors of the nodes"
    case memory = "memory of the nodes"
    case connections = "connections of the nodes"
    case comingBack = "all coming back at once"
  }

  public var boxes: Double
  public var nodes: Int
  /// Why fewer nodes do not suffice; nil for one node.
  public var limit: Limit?
  public var steady: Steady
  /// The cores of the database while all boxes come back, including the usual load.
  public var databaseInRush: Double
  /// The lowest share of its time for which the cluster's only writer is busy; at 1 it is saturated.
  public var writer: Double
  /// GiB of memory for each node.
  public var memory: Double
}

/// Computes what a cluster uses.
public struct Model: Sendable {
  /// The most requests in one transaction of the writer.
  public static let batch = 256.0
  /// The shortest time between two notifications of a node, in seconds.
  static let bellPause = 0.002
  public var costs: Costs

  public init(_ costs: Costs) { self.costs = costs }

  /// Computes the use of a load, when boxes always come to the same node and their phones to the next one.
  public func steady(_ load: Load, nodes: Int) -> Steady {
    let count = Double(nodes)
    let signIn = nodes == 1 ? costs.signIn : costs.signInElsewhere
    // A code without approval is a sign-in without its second half. The cost of that half was not measured separately,
    // so the code counts as a code in its own transaction.
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
    // The writer may not manage so many transactions; then batches grow while they wait.
    writes = min(writes, writesAtMost(requests: writes))
    let each = signed / count
    spend = spend + costs.telling.spend(calls: each, nodes: nodes) * count
    let told = costs.telling.batches(of: each, nodes: nodes) * count
    spend = spend + heard(told: told, writes: writes, nonces: signed, nodes: count)
    return Steady(node: spend.nodes / count / 1e6, database: spend.database / 1e6, writes: writes, told: told)
  }

  /// The cost of receiving each other's changes, for all nodes in a second.
  public func heard(told: Double, writes: Double, nonces: Double, nodes: Double) -> Spend {
    guard nodes > 1 else { return Spend() }
    let bells = min((told + writes) / nodes, 1 / Self.bellPause)
    return costs.hearing.spend(bells: bells * (nodes - 1), nonces: nonces / nodes * (nodes - 1)) * nodes
  }

  private func writesAtMost(requests: Double) -> Double {
    // Then the writer is always busy, with as few transactions as carry the requests.
    let left = 1 - requests * costs.code.secondsEach
    guard costs.code.seconds > 0 else { return .infinity }
    return max(requests / Self.batch, left / costs.code.seconds)
  }

  /// The largest transaction when `askers` boxes ask one node again and again.
  ///
  /// Requests that arrive during a transaction form the next one, so the boxes form two halves that take turns.
  public static func batch(ofAskers askers: Double) -> Double { max(1, min(Self.batch, askers / 2)) }

  /// Boxes ask for code after code, spread over the nodes, on a machine with `cores` for everything.
  public func rush(askers: Double, nodes: Int, cores: Double) -> Rush {
    let count = Double(nodes)
    let fullness = nodes == 1 ? costs.fullness.alone : costs.fullness.beside
    let size = max(1, Self.batch(ofAskers: askers / count) * fullness)
    var code = costs.code.spend(inBatchesOf: size) + costs.telling.nonce
    code.nodes += costs.transport.many
    let writer = costs.code.writer(inBatchesOf: size)
    var telling = costs.telling
    telling.span = costs.busySpan
    // The cost per second of sending and receiving nonces is shared by the codes, whose rate in turn depends on it.
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

  /// KiB of memory for each waiting box.
  public var waitingBox: Double { costs.waiter + costs.connection }
}
