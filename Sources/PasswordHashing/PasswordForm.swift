/// With which algorithm and with how much work a password was hashed: what decides how long comparing takes.
package enum PasswordForm: Hashable, Sendable {
  case argon2id(Argon2Parameters)
  /// bcrypt with two to the power of `cost` rounds.
  case bcrypt(cost: Int)
  case pbkdf2(PBKDF2.Digest, rounds: Int)

  /// What one comparison may take: about a second on one core.
  ///
  /// A stored value that somebody could write must not decide how long our cores work.
  package static let mostWork = 1000
  static let bcryptCosts = 4...14
  /// Fewer rounds than that hardly slow down who has stolen the hashes.
  static let leastRounds = 1000

  /// How much of what one comparison may take this one takes, in thousandths.
  package var work: Int {
    switch self {
    case .argon2id(let parameters): Int(parameters.work * 1000 / Argon2Parameters.mostWork)
    case .bcrypt(let cost): 1000 >> (Self.bcryptCosts.upperBound - cost)
    case .pbkdf2(let digest, let rounds): rounds * 1000 / digest.mostRounds
    }
  }

  /// A text of this form, the same one for all of it.
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

  /// How people call it: `bcrypt with cost 12`.
  package var name: String {
    switch self {
    case .argon2id(let one):
      "argon2id with \(one.memory) KiB, \(one.passes) pass\(one.passes == 1 ? "" : "es"), \(one.lanes) lane\(one.lanes == 1 ? "" : "s")"
    case .bcrypt(let cost): "bcrypt with cost \(cost)"
    case .pbkdf2(let digest, let rounds): "PBKDF2 with \(rounds) rounds of \(digest.name)"
    }
  }
}
