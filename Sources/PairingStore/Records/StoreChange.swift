public import RegentPairing

/// Something that a node must look at anew, because another one wrote it.
///
/// Ids only: whoever reads one reads the row, with its signature, before anything is believed.
public enum StoreChange: Hashable, Sendable {
  /// A registration is there, further, or gone.
  case code(RegistrationID)
  /// A device was signed in or out otherwise than by a code.
  case signIn(RequestorID, DeviceHash)
  /// A viewer decided about the apps of a box.
  case box(DeviceHash)
  /// Operators changed something, key pairs of requestors included.
  case provisioning
  /// A key that signs tokens came or went.
  case signingKeys
}

/// How far a reader has come in the log of changes: each writer counts for itself, so that no number is missing.
public struct ChangePosition: Hashable, Sendable {
  /// The last number that was read, by writer.
  public var numbers: [Int64: Int64]

  public init(_ numbers: [Int64: Int64] = [:]) { self.numbers = numbers }
}

/// A nonce that a signed call has used, as nodes tell each other: it counts once at all of them.
public struct UsedNonce: Hashable, Sendable {
  /// The key that signed the call.
  public let key: PublicKey
  /// When the caller says it signed, in seconds.
  public let second: Int64
  /// The beginning of the nonce's hash, which is the same in every process.
  public let mark: UInt64

  public init(key: PublicKey, second: Int64, mark: UInt64) {
    self.key = key
    self.second = second
    self.mark = mark
  }
}

/// A piece of the log of changes.
public struct ChangePage: Hashable, Sendable {
  /// What is to be looked at; the same once, however often it was written.
  public let changes: Set<StoreChange>
  /// Nonces that calls at other nodes have used.
  public let nonces: [UsedNonce]
  /// What was guessed wrong at other nodes, with its age now.
  public let guesses: [WrongGuess]
  /// Where the next piece begins.
  public let position: ChangePosition
  /// False when the log forgot something that was not read yet: then everything is to be looked at.
  public let isWhole: Bool
  /// Whether there was more to read at that moment.
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

/// What one of the nodes does for all.
public enum NodeDuty: String, Hashable, Sendable, CaseIterable {
  /// Forgets what has come to its end.
  case upkeep
}
