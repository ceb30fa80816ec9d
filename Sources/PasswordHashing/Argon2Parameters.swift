/// The work factors of Argon2id (RFC 9106).
public struct Argon2Parameters: Sendable, Hashable {
  /// Memory in KiB, at least 8 for each lane.
  public let memory: UInt32
  /// Passes over the memory.
  public let passes: UInt32
  /// Lanes; all are worked off on one thread here.
  public let lanes: UInt32

  /// What OWASP asks for: 19 MiB, 2 passes, 1 lane.
  public static let standard = Argon2Parameters(known: 19 * 1024, 2, 1)
  /// The most that is read from a stored hash: 128 MiB, 16 passes, 8 lanes.
  ///
  /// A stored value that somebody could write must not decide how much memory we take.
  public static let ceiling = Argon2Parameters(known: 128 * 1024, 16, 8)

  /// The most memory times passes, in KiB: with 128 MiB two passes, with 64 MiB four.
  static let mostWork: UInt32 = 256 * 1024

  /// Memory times passes, in KiB.
  var work: UInt32 { memory * passes }

  /// Work factors; nil when Argon2 does not define them or they are beyond ``ceiling`` or take
  /// too long together.
  public init?(memory: UInt32, passes: UInt32, lanes: UInt32) {
    let ceiling = Argon2Parameters.ceiling
    guard (1...ceiling.passes).contains(passes), (1...ceiling.lanes).contains(lanes),
      (8 * lanes...ceiling.memory).contains(memory), memory * passes <= Argon2Parameters.mostWork
    else { return nil }
    self.init(known: memory, passes, lanes)
  }

  private init(known memory: UInt32, _ passes: UInt32, _ lanes: UInt32) {
    self.memory = memory
    self.passes = passes
    self.lanes = lanes
  }
}
