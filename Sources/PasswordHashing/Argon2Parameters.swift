/// The work factors of Argon2id (RFC 9106).
public struct Argon2Parameters: Sendable, Hashable {
  /// The memory in KiB, at least 8 for each lane (a part of the computation that could run in parallel).
  public let memory: UInt32
  /// How many times Argon2 passes over the memory.
  public let passes: UInt32
  /// The number of lanes, parts of the computation that could run in parallel.
  ///
  /// Here one thread computes all of them.
  public let lanes: UInt32

  /// The parameters that OWASP recommends: 19 MiB, 2 passes, 1 lane.
  public static let standard = Argon2Parameters(known: 19 * 1024, 2, 1)
  /// The largest Argon2 parameters that are accepted in a stored hash: 128 MiB, 16 passes, 8 lanes.
  ///
  /// An attacker who can write a stored hash must not decide how much memory the service uses.
  public static let ceiling = Argon2Parameters(known: 128 * 1024, 16, 8)

  /// The largest product of memory and passes, in KiB: two passes with 128 MiB, four with 64 MiB.
  static let mostWork: UInt32 = 256 * 1024

  /// The work of one hash: memory times passes, in KiB.
  var work: UInt32 { memory * passes }

  /// Creates parameters for Argon2.
  ///
  /// Returns nil if Argon2 does not define them, if they exceed ``ceiling``, or if memory times passes takes too long.
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
