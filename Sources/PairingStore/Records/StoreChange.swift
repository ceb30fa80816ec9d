public import RegentPairing

/// A change by one node, which tells the other nodes what to read again.
///
/// It carries ids only. Each node reads the row itself and verifies its signature before it uses the new state.
public enum StoreChange: Hashable, Sendable {
  /// The log entry says that a registration was added, changed or removed.
  case code(RegistrationID)
  /// The log entry says that a device was signed in without a code, or signed out.
  case signIn(RequestorID, DeviceHash)
  /// The log entry says that a viewer decided which apps of a box may use its account.
  case box(DeviceHash)
  /// The log entry says that operators changed provisioning records, which include the key pairs of requestors.
  case provisioning
  /// The log entry says that a key for signing tokens was added or retired.
  case signingKeys
}

/// A reader's position in the change log.
///
/// Only the store interprets it. The service passes it back unchanged.
public struct ChangePosition: Hashable, Sendable {
  /// The last number that the reader has read in each numbered sequence of the change log.
  public var numbers: [Int64: Int64]

  public init(_ numbers: [Int64: Int64] = [:]) { self.numbers = numbers }
}

/// A nonce of a signed request.
///
/// Nodes share used nonces, so that a request cannot be replayed at another node.
public struct UsedNonce: Hashable, Sendable {
  /// The key pair that signed the request.
  public let key: PublicKey
  /// The time of signing that the request states, in Unix seconds.
  public let second: Int64
  /// The first 8 bytes of the nonce's hash.
  ///
  /// They are the same in every process of the service.
  public let mark: UInt64

  public init(key: PublicKey, second: Int64, mark: UInt64) {
    self.key = key
    self.second = second
    self.mark = mark
  }
}

/// One page of the log of changes that nodes write for each other.
public struct ChangePage: Hashable, Sendable {
  /// The changes after the reader's last position, without duplicates.
  public let changes: Set<StoreChange>
  /// The nonces that other nodes have accepted since the reader's last position.
  public let nonces: [UsedNonce]
  /// The wrong guesses of secrets at other nodes, each with its age at the time of reading.
  public let guesses: [WrongGuess]
  /// The reader's position after this page, from which it reads the next page.
  public let position: ChangePosition
  /// False when the log had already deleted entries that this reader had not read.
  ///
  /// The node must then reload everything.
  public let isWhole: Bool
  /// Whether the change log held further entries when this page was read.
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

/// A task that one node performs for the whole cluster.
public enum NodeDuty: String, Hashable, Sendable, CaseIterable {
  /// The duty to delete expired rows.
  case upkeep
}
