public import RegentPairing

/// A change by one node, which tells the other nodes what to read again.
///
/// It carries ids only. Each node reads the row itself and verifies its signature before it uses the new state.
public enum StoreChange: Hashable, Sendable {
  /// A registration was added, changed or removed.
  case code(RegistrationID)
  /// A device was signed in or out by another way than a code.
  case signIn(RequestorID, DeviceHash)
  /// A viewer decided about the apps of a box.
  case box(DeviceHash)
  /// Operators changed provisioning records, which include the key pairs of requestors.
  case provisioning
  /// A key that signs tokens was added or retired.
  case signingKeys
}

/// A reader's position in the change log.
///
/// Only the store interprets it; the service passes back what it got.
public struct ChangePosition: Hashable, Sendable {
  /// The last number that was read, for each numbered sequence of the store.
  public var numbers: [Int64: Int64]

  public init(_ numbers: [Int64: Int64] = [:]) { self.numbers = numbers }
}

/// A nonce of a signed request.
///
/// Nodes share used nonces, so that a request cannot be replayed at another node.
public struct UsedNonce: Hashable, Sendable {
  /// The key that signed the request.
  public let key: PublicKey
  /// The signing time that the request states, in Unix seconds.
  public let second: Int64
  /// The first 8 bytes of the nonce's hash.
  ///
  /// They are the same in every process.
  public let mark: UInt64

  public init(key: PublicKey, second: Int64, mark: UInt64) {
    self.key = key
    self.second = second
    self.mark = mark
  }
}

/// One page of the change log.
public struct ChangePage: Hashable, Sendable {
  /// The changes since the last position, without duplicates.
  public let changes: Set<StoreChange>
  /// Nonces that other nodes have accepted.
  public let nonces: [UsedNonce]
  /// Wrong guesses at other nodes, each with its present age.
  public let guesses: [WrongGuess]
  /// The position from which the next page is read.
  public let position: ChangePosition
  /// False when the log had already deleted entries that this reader had not read.
  ///
  /// The node must then reload everything.
  public let isWhole: Bool
  /// Whether the log held further entries when this page was read.
  public let hasMore: Bool

  public init(
    _ changes: Set<StoreChange>, _ nonces: [UsedNonce] = [], _ guesses: [WrongGuess] = [],
    upTo position: ChangePosition, isWhole: Bool = true, hasMore: Bool = false
  ) {
    self.changes = changes
    self.nonces = nonces
    self.guesses = guesses
    self.position = position
    self.isWhole = isWhole
    self.hasMore = hasMore
  }
}

/// Work that one node does for the whole cluster.
public enum NodeDuty: String, Hashable, Sendable, CaseIterable {
  /// Deletes expired rows.
  case upkeep
}
