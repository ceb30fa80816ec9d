// ScaleModel: predicts how many nodes a load needs. Its inputs are the measured costs of single acts, its outputs what
// a cluster uses. It has no clock, file or database: `Scale` measures, this module computes. Start with Model.swift.

/// Processor time of the nodes and of the database, in microseconds.
public struct Spend: Equatable, Sendable {
  public var nodes: Double
  public var database: Double

  public init(nodes: Double = 0, database: Double = 0) {
    self.nodes = nodes
    self.database = database
  }

  public static func + (one: Spend, other: Spend) -> Spend {
    Spend(nodes: one.nodes + other.nodes, database: one.database + other.database)
  }

  public static func - (one: Spend, other: Spend) -> Spend { one + other * -1 }

  public static func * (spend: Spend, factor: Double) -> Spend {
    Spend(nodes: spend.nodes * factor, database: spend.database * factor)
  }

  public static func / (spend: Spend, divisor: Double) -> Spend { spend * (1 / divisor) }

  /// The spend with negative values set to 0: when a difference of two measurements is below 0, it is noise.
  public var atLeastNothing: Spend { Spend(nodes: max(0, nodes), database: max(0, database)) }
}

/// The cost of one act, without sockets and without sending its nonces to other nodes.
public struct Act: Equatable, Sendable {
  public var spend: Spend
  /// Write transactions.
  public var writes: Double
  /// Signed calls.
  ///
  /// Each uses a nonce that the node sends to the other nodes.
  public var signedCalls: Double
  /// Calls over a socket, signed or not.
  public var calls: Double

  public init(_ spend: Spend, writes: Double = 0, signedCalls: Double, calls: Double) {
    self.spend = spend
    self.writes = writes
    self.signedCalls = signedCalls
    self.calls = calls
  }
}

/// The cost of a transaction with several items: a fixed part, and a part for each item.
public struct BatchCost: Equatable, Sendable {
  public var transaction: Spend
  public var each: Spend
  /// Seconds for which no other writer can write.
  public var seconds: Double
  public var secondsEach: Double

  public init(transaction: Spend, each: Spend, seconds: Double, secondsEach: Double) {
    self.transaction = transaction
    self.each = each
    self.seconds = seconds
    self.secondsEach = secondsEach
  }

  /// Computes both parts from two measurements with transactions of different sizes; `spend` and `seconds` are per
  /// item.
  public init(
    _ small: (size: Double, spend: Spend, seconds: Double), _ large: (size: Double, spend: Spend, seconds: Double)
  ) {
    // Per item it is each + transaction / size.
    let difference = 1 / small.size - 1 / large.size
    guard difference > 0 else {
      self.init(transaction: Spend(), each: large.spend, seconds: 0, secondsEach: large.seconds)
      return
    }
    let transaction = ((small.spend - large.spend) / difference).atLeastNothing
    let seconds = max(0, (small.seconds - large.seconds) / difference)
    self.init(
      transaction: transaction, each: (large.spend - transaction / large.size).atLeastNothing, seconds: seconds,
      secondsEach: max(0, large.seconds - seconds / large.size))
  }

  /// The cost of one item in transactions of this size.
  public func spend(inBatchesOf size: Double) -> Spend { each + transaction / size }

  /// The seconds of the writer that one item takes in transactions of this size.
  public func writer(inBatchesOf size: Double) -> Double { secondsEach + seconds / size }
}

/// The cost of sending used nonces to other nodes, in batches that are collected for a short time.
public struct Telling: Equatable, Sendable {
  public var batch: Spend
  public var nonce: Spend
  /// The seconds for which nonces are collected after the first one.
  public var span: Double

  public init(batch: Spend, nonce: Spend, span: Double) {
    self.batch = batch
    self.nonce = nonce
    self.span = span
  }

  /// The batches a second of a single node, which are sent together with its own notifications and heartbeats.
  private static let aloneBatches = 3.0

  /// The batches a second of a node that takes this many signed calls a second.
  ///
  /// The first call starts the collection, the others join it.
  public func batches(of calls: Double, nodes: Int) -> Double {
    let told = calls / (1 + calls * span)
    return nodes == 1 ? min(told, Self.aloneBatches) : told
  }

  /// Computes the span from the number of batches.
  public static func span(calls: Double, batches: Double) -> Double { max(0, 1 / batches - 1 / calls) }

  /// The cost of a second.
  public func spend(calls: Double, nodes: Int) -> Spend { batch * batches(of: calls, nodes: nodes) + nonce * calls }
}

/// The cost of receiving the changes of other nodes, by the number of their notifications.
public struct Hearing: Equatable, Sendable {
  /// Measured points in ascending order: notifications a second, and what a second costs beyond that of a node without
  /// any.
  public var curve: [(bells: Double, spend: Spend)]
  public var nonce: Spend

  public init(curve: [(bells: Double, spend: Spend)], nonce: Spend) {
    self.curve = curve
    self.nonce = nonce
  }

  /// The cost of a second with this many notifications: interpolated, and extrapolated beyond the last measurement.
  public func spend(bells: Double, nonces: Double) -> Spend {
    var before = (bells: 0.0, spend: Spend())
    var line = before
    for (place, point) in curve.enumerated() {
      (before, line) = (line, point)
      if bells <= point.bells || place == curve.count - 1 { break }
    }
    let width = line.bells - before.bells
    guard width > 0 else { return nonce * nonces }
    let slope = (line.spend - before.spend) / width
    return (before.spend + slope * (bells - before.bells)).atLeastNothing + nonce * nonces
  }

  public static func == (one: Hearing, other: Hearing) -> Bool {
    one.nonce == other.nonce
      && one.curve.elementsEqual(other.curve) { $0.bells == $1.bells && $0.spend == $1.spend }
  }
}

/// What sockets add to the cost of a call, in microseconds of the node; `client` is the cost of the caller.
public struct Transport: Equatable, Sendable {
  public var light: Double
  public var many: Double
  public var client: Double

  public init(light: Double, many: Double, client: Double) {
    self.light = light
    self.many = many
    self.client = client
  }
}

/// All measured costs.
public struct Costs: Sendable {
  /// A second of a node without calls.
  public var idle: Spend
  /// The write transactions in such a second.
  public var idleWrites: Double
  /// A poll that is answered "not yet".
  public var poll: Act
  /// A box gets a code, waits and gets the result; the code is approved at the node where the box waits.
  public var signIn: Act
  /// A sign-in whose code is approved at another node.
  public var signInElsewhere: Act
  /// A long poll that ends by its timeout.
  public var hold: Act
  /// A waiting box comes to a node that does not know its code yet; sending the nonce is included.
  public var comeBack: Act
  /// Many codes at the same time.
  public var code: BatchCost
  /// How full a transaction is compared with half of the callers: at a single node, and at one of several, which must
  /// also wait for the others' transactions.
  public var fullness = (alone: 1.0, beside: 1.0)
  public var telling: Telling
  /// The span of `telling` while many boxes ask for codes at the same time.
  public var busySpan: Double
  public var hearing: Hearing
  public var transport: Transport
  /// KiB of a waiting box: its code and waiter, and its connection.
  public var waiter: Double
  public var connection: Double

  public init(
    idle: Spend, idleWrites: Double, poll: Act, signIn: Act, signInElsewhere: Act, hold: Act, comeBack: Act,
    code: BatchCost, telling: Telling, busySpan: Double, hearing: Hearing, transport: Transport, waiter: Double,
    connection: Double
  ) {
    self.idle = idle
    self.idleWrites = idleWrites
    self.poll = poll
    self.signIn = signIn
    self.signInElsewhere = signInElsewhere
    self.hold = hold
    self.comeBack = comeBack
    self.code = code
    self.telling = telling
    self.busySpan = busySpan
    self.hearing = hearing
    self.transport = transport
    self.waiter = waiter
    self.connection = connection
  }
}
