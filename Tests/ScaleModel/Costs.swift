// ScaleModel: how many nodes a load takes, as values: what single acts cost goes in, what a cluster uses comes out.
// No clock, no file, no database: `Scale` measures, this reckons. Start with Model.swift.

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

  /// Nothing is gained by an act: a difference of two measurements that came out below zero was noise.
  public var atLeastNothing: Spend { Spend(nodes: max(0, nodes), database: max(0, database)) }
}

/// What one act costs, without sockets and without what it tells other nodes.
public struct Act: Equatable, Sendable {
  public var spend: Spend
  /// Transactions of writers.
  public var writes: Double
  /// Calls that are signed: each has a nonce that the other nodes are told.
  public var signedCalls: Double
  /// Calls over a socket, of whichever kind.
  public var calls: Double

  public init(_ spend: Spend, writes: Double = 0, signedCalls: Double, calls: Double) {
    self.spend = spend
    self.writes = writes
    self.signedCalls = signedCalls
    self.calls = calls
  }
}

/// What grows with the number of things in one transaction: so much for the transaction, and so much for each.
public struct BatchCost: Equatable, Sendable {
  public var transaction: Spend
  public var each: Spend
  /// Seconds for which nobody else can write.
  public var seconds: Double
  public var secondsEach: Double

  public init(transaction: Spend, each: Spend, seconds: Double, secondsEach: Double) {
    self.transaction = transaction
    self.each = each
    self.seconds = seconds
    self.secondsEach = secondsEach
  }

  /// The line through two measurements with transactions of different sizes; `spend` and `seconds` are by the thing.
  public init(
    _ small: (size: Double, spend: Spend, seconds: Double), _ large: (size: Double, spend: Spend, seconds: Double)
  ) {
    // By the thing it is each + transaction / size.
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

  /// What one thing costs in transactions of this size.
  public func spend(inBatchesOf size: Double) -> Spend { each + transaction / size }

  /// The seconds of the writer that one thing takes in transactions of this size.
  public func writer(inBatchesOf size: Double) -> Double { secondsEach + seconds / size }
}

/// How a node tells others which nonces were used: a moment later, many at once.
public struct Telling: Equatable, Sendable {
  public var batch: Spend
  public var nonce: Spend
  /// How long after the first of them they are told, in seconds.
  public var span: Double

  public init(batch: Spend, nonce: Spend, span: Double) {
    self.batch = batch
    self.nonce = nonce
    self.span = span
  }

  /// What a node that is alone tells goes with the bells that it rings for itself and with its beats, so often in a
  /// second.
  private static let aloneBatches = 3.0

  /// Batches a second of one of so many nodes that takes so many signed calls: the first one begins the span, the
  /// others go along.
  public func batches(of calls: Double, nodes: Int) -> Double {
    let told = calls / (1 + calls * span)
    return nodes == 1 ? min(told, Self.aloneBatches) : told
  }

  /// The span, from how many batches there were.
  public static func span(calls: Double, batches: Double) -> Double { max(0, 1 / batches - 1 / calls) }

  /// A second of telling.
  public func spend(calls: Double, nodes: Int) -> Spend { batch * batches(of: calls, nodes: nodes) + nonce * calls }
}

/// What hearing others costs a node and the database, by how often they ring.
public struct Hearing: Equatable, Sendable {
  /// Measured: bells a second, and what a second costs beyond that of a node that nobody rings; ascending.
  public var curve: [(bells: Double, spend: Spend)]
  public var nonce: Spend

  public init(curve: [(bells: Double, spend: Spend)], nonce: Spend) {
    self.curve = curve
    self.nonce = nonce
  }

  /// A second with so many bells: between two measurements along the line, beyond the last one along its line.
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

/// What the engine adds to a call that comes over a socket, in microseconds of the node; `client` is the caller's own.
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

/// All that is measured by itself.
public struct Costs: Sendable {
  /// A second of a node that nobody calls.
  public var idle: Spend
  /// Transactions of such a second.
  public var idleWrites: Double
  /// A box asks and is told "not yet".
  public var poll: Act
  /// A box gets a code, waits, and is told of the yes; the yes was said at the node where it waits.
  public var signIn: Act
  /// The same with the yes at another node.
  public var signInElsewhere: Act
  /// A held poll that ends with its time.
  public var hold: Act
  /// A box that waits comes to a node that does not know its code; with what the node tells others of it.
  public var comeBack: Act
  /// Many codes at once.
  public var code: BatchCost
  /// Which part of half of those who ask is in a transaction: of a node that is alone, and of one beside others, for
  /// whose transactions it waits.
  public var fullness = (alone: 1.0, beside: 1.0)
  public var telling: Telling
  /// The span of telling where many ask at once.
  public var busySpan: Double
  public var hearing: Hearing
  public var transport: Transport
  /// KiB of a box that waits: code and waiter, and its connection.
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
