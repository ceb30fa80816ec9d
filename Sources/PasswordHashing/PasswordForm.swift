/// The algorithm and work factors of a password hash.
///
/// They determine how long a comparison takes.
package enum PasswordForm: Hashable, Sendable {
  case argon2id(Argon2Parameters)
  /// The hash was made by bcrypt with 2^`cost` rounds.
  case bcrypt(cost: Int)
  case pbkdf2(PBKDF2.Digest, rounds: Int)

  /// The maximum ``work`` of one comparison, about a second on one core.
  ///
  /// An attacker who can write a stored hash must not decide how long a comparison takes.
  package static let mostWork = 1000
  static let bcryptCosts = 4...14
  /// The minimum number of PBKDF2 rounds.
  ///
  /// Fewer hardly slow down an attacker who has stolen the hashes.
  static let leastRounds = 1000

  /// The time that one comparison takes, in thousandths of the longest allowed one.
  package var work: Int {
    switch self {
    case .argon2id(let parameters): Int(parameters.work * 1000 / Argon2Parameters.mostWork)
    case .bcrypt(let cost): 1000 >> (Self.bcryptCosts.upperBound - cost)
    case .pbkdf2(let digest, let rounds): rounds * 1000 / digest.mostRounds
    }
  }

  /// A hash of this form with fixed salt and digits.
  ///
  /// All forms that are equal thus have the same example.
  package var example: PasswordHash {
    switch self {
    case .bcrypt:
      PasswordHash(
        self, salt: [UInt8](repeating: UInt8(ascii: "."), count: Bcrypt.saltLength),
        hash: [UInt8](repeating: UInt8(ascii: "."), count: Bcrypt.hashLength))
    case .argon2id, .pbkdf2:
      PasswordHash(
        self, salt: [UInt8](repeating: 0, count: PasswordHash.saltLength),
        hash: [UInt8](repeating: 0, count: PasswordHash.hashLength))
    }
  }

  /// The name of the form for people, for example `bcrypt with cost 12`.
  package var name: String {
    switch self {
    case .argon2id(let one):
      "argon2id with \(one.memory) KiB, \(one.passes) pass\(one.passes == 1 ? "" : "es"), \(one.lanes) lane\(one.lanes == 1 ? "" : "s")"
    case .bcrypt(let cost): "bcrypt with cost \(cost)"
    case .pbkdf2(let digest, let rounds): "PBKDF2 with \(rounds) rounds of \(digest.name)"
    }
  }
}
