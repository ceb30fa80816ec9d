/// The machine of a node, and the part of it that may be used.
public struct Machine: Equatable, Sendable {
  public var cores: Double
  /// GiB.
  public var memory: Double
  /// The value of `--connections`.
  public var connections: Double
  /// The usable share of cores and memory; above it responses wait for a core.
  public var share = 0.5

  public init(cores: Double, memory: Double, connections: Double) {
    self.cores = cores
    self.memory = memory
    self.connections = connections
  }
}

extension Model {
  /// The resource that this many nodes lack for a load and for the return of all boxes within `seconds`; nil if they
  /// suffice.
  func lack(_ load: Load, nodes: Int, of machine: Machine, backWithin seconds: Double) -> Plan.Limit? {
    let count = Double(nodes)
    let usable = machine.cores * machine.share
    if load.waiting / count > machine.connections { return .connections }
    if load.waiting / count * waitingBox > machine.memory * machine.share * 1_048_576 { return .memory }
    let steady = steady(load, nodes: nodes)
    if steady.node > usable { return .processors }
    // While the boxes come back, all cores may be used.
    let rush = comingBack(load, within: seconds, nodes: nodes)
    if steady.node + rush.nodes / count > machine.cores { return .comingBack }
    return nil
  }

  /// The cores of all nodes and of the database that the returning boxes need in addition.
  func comingBack(_ load: Load, within seconds: Double, nodes: Int) -> Spend {
    let (rate, count) = (load.waiting / seconds, Double(nodes))
    var spend = costs.comeBack.spend * rate
    spend.nodes += costs.comeBack.calls * rate * costs.transport.many
    if nodes > 1 { spend = spend + costs.hearing.nonce * rate * (count - 1) }
    return spend / 1e6
  }

  /// The smallest number of nodes for this many boxes.
  ///
  /// Returns nil when no number suffices, because each additional node receives more from the others than it takes over
  /// from them.
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

  /// The smallest share of the writer's time that a load needs, with full batches: they grow before the writer
  /// saturates.
  public func writer(_ load: Load) -> Double {
    // The new code, the approval, and the delivery of the result.
    (load.codes + 2 * load.approvals) * costs.code.writer(inBatchesOf: Self.batch)
  }
}

/// A predicted figure and the measured one.
public struct Comparison: Equatable, Sendable {
  public var name: String
  public var unit: String
  public var predicted: Double
  public var measured: Double
  /// The largest accepted difference, as a part of the measured figure.
  public static let most = 0.2

  public init(_ name: String, _ unit: String, predicted: Double, measured: Double) {
    self.name = name
    self.unit = unit
    self.predicted = predicted
    self.measured = measured
  }

  /// The difference as a part of the measured figure; positive if the prediction is too high.
  public var difference: Double {
    guard measured != 0 else { return predicted == 0 ? 0 : .infinity }
    return predicted / measured - 1
  }

  public var holds: Bool { abs(difference) <= Self.most }
}
