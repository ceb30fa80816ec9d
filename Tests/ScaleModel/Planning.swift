/// A machine for a node, and how much of it may be used.
public struct Machine: Equatable, Sendable {
  public var cores: Double
  /// GiB.
  public var memory: Double
  /// As `--connections` says.
  public var connections: Double
  /// Beyond it answers wait for a core.
  public var share = 0.5

  public init(cores: Double, memory: Double, connections: Double) {
    self.cores = cores
    self.memory = memory
    self.connections = connections
  }
}

extension Model {
  /// Whether so many nodes carry a load, and all boxes that come back within so many seconds; else what they lack.
  func lack(_ load: Load, nodes: Int, of machine: Machine, backWithin seconds: Double) -> Plan.Limit? {
    let count = Double(nodes)
    let usable = machine.cores * machine.share
    if load.waiting / count > machine.connections { return .connections }
    if load.waiting / count * waitingBox > machine.memory * machine.share * 1_048_576 { return .memory }
    let steady = steady(load, nodes: nodes)
    if steady.node > usable { return .processors }
    // For half a minute all of it may be used.
    let rush = comingBack(load, within: seconds, nodes: nodes)
    if steady.node + rush.nodes / count > machine.cores { return .comingBack }
    return nil
  }

  /// Cores that coming back takes for as long as it lasts, in all.
  func comingBack(_ load: Load, within seconds: Double, nodes: Int) -> Spend {
    let (rate, count) = (load.waiting / seconds, Double(nodes))
    var spend = costs.comeBack.spend * rate
    spend.nodes += costs.comeBack.calls * rate * costs.transport.many
    if nodes > 1 { spend = spend + costs.hearing.nonce * rate * (count - 1) }
    return spend / 1e6
  }

  /// The smallest number of nodes that carries as many boxes; `nil` when no number does, because each one that is
  /// added has more to hear than it takes from the others.
  public func plan(boxes: Double, on machine: Machine, backWithin seconds: Double = 30, most: Int = 256) -> Plan? {
    let load = Load(boxes: boxes)
    var limit: Plan.Limit?
    for nodes in 1...most {
      if let lack = lack(load, nodes: nodes, of: machine, backWithin: seconds) {
        limit = lack
        continue
      }
      let steady = steady(load, nodes: nodes)
      return Plan(
        boxes: boxes, nodes: nodes, limit: limit, steady: steady,
        databaseInRush: steady.database + comingBack(load, within: seconds, nodes: nodes).database,
        writer: writer(load), memory: load.waiting / Double(nodes) * waitingBox / 1_048_576)
    }
    return nil
  }

  /// How much of the cluster's one writer a load takes at least: with full batches, to which they grow before it ends.
  public func writer(_ load: Load) -> Double {
    // A code, a yes, and that it was told.
    (load.codes + 2 * load.approvals) * costs.code.writer(inBatchesOf: Self.batch)
  }
}

/// A figure that was predicted, and what came of it.
public struct Comparison: Equatable, Sendable {
  public var name: String
  public var unit: String
  public var predicted: Double
  public var measured: Double
  /// How far a prediction may be from what is measured.
  public static let most = 0.2

  public init(_ name: String, _ unit: String, predicted: Double, measured: Double) {
    self.name = name
    self.unit = unit
    self.predicted = predicted
    self.measured = measured
  }

  /// By which part of what was measured the prediction is too high, or too low.
  public var difference: Double {
    guard measured != 0 else { return predicted == 0 ? 0 : .infinity }
    return predicted / measured - 1
  }

  public var holds: Bool { abs(difference) <= Self.most }
}
