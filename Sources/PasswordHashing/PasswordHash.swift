internal import RegentCryptography
internal import RegentEncodings

/// A stored password hash.
///
/// Each of the three forms has exactly one text:
///
/// - `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`: hashes that this program makes, in the PHC string format.
/// - `$2b$12$` with 22 letters of salt and 31 of hash: bcrypt.
/// - `$pbkdf2-sha256$i=600000$SALT$HASH`, also with `sha512`: PBKDF2.
package struct PasswordHash: Sendable {
  static let saltLength = 16
  static let hashLength = 32
  static let saltLengths = 8...64
  static let hashLengths = 16...64

  package let form: PasswordForm
  let salt: [UInt8]
  let hash: [UInt8]
  /// The bcrypt prefix that the hash was stored with: `2a`, `2b` or `2y`, which are equivalent here.
  let variant: String

  init(_ form: PasswordForm, salt: [UInt8], hash: [UInt8], variant: String = "2b") {
    self.form = form
    self.salt = salt
    self.hash = hash
    self.variant = variant
  }

  /// Hashes a password with a new random salt.
  static func make(
    _ password: Secret, _ parameters: Argon2Parameters
  ) throws(PasswordError) -> PasswordHash {
    let salt = Random.bytes(saltLength)
    let hash = try Argon2.hash(password, salt: salt, count: hashLength, parameters)
    return PasswordHash(.argon2id(parameters), salt: salt, hash: hash)
  }

  /// A hash that matches no password.
  ///
  /// Checking a password against it takes the same time as for a real account.
  static func dummy(_ form: PasswordForm) -> PasswordHash {
    switch form {
    case .bcrypt:
      // The stand-in hash ends in "/". No real hash does, because the two unused bits of its last letter are zero.
      PasswordHash(
        form, salt: Bcrypt.randomText(Bcrypt.saltLength),
        hash: Bcrypt.randomText(Bcrypt.hashLength - 1) + [UInt8(ascii: "/")])
    case .argon2id, .pbkdf2:
      PasswordHash(form, salt: Random.bytes(saltLength), hash: Random.bytes(hashLength))
    }
  }

  func isHash(of password: Secret) throws(PasswordError) -> Bool {
    switch form {
    case .argon2id(let parameters):
      return constantTimeEqual(
        try Argon2.hash(password, salt: salt, count: hash.count, parameters), hash)
    case .pbkdf2(let digest, let rounds):
      let made = try PBKDF2.hash(password, salt: salt, count: hash.count, digest, rounds: rounds)
      // HMAC pads a short key with zeros, so "x" and "x\0" have the same hash. Passwords with a zero byte are wrong.
      return constantTimeEqual(made, hash) && Bcrypt.isCString(password)
    case .bcrypt(let cost):
      let made = try Bcrypt.hash(password, Self.bcryptSetting(variant, cost, salt))
      return constantTimeEqual(made, hash) && Bcrypt.isCString(password)
    }
  }

  private static func bcryptSetting(_ variant: String, _ cost: Int, _ salt: [UInt8]) -> String {
    "$\(variant)$\(cost < 10 ? "0" : "")\(cost)$\(String(decoding: salt, as: UTF8.self))"
  }

  /// The password hash as the text that is stored.
  package var text: String {
    switch form {
    case .argon2id(let parameters):
      let numbers = "m=\(parameters.memory),t=\(parameters.passes),p=\(parameters.lanes)"
      return "$argon2id$v=19$\(numbers)$\(Base64.encodeUnpadded(salt))$\(Base64.encodeUnpadded(hash))"
    case .pbkdf2(let digest, let rounds):
      return "$pbkdf2-\(digest.rawValue)$i=\(rounds)$\(Base64.encodeUnpadded(salt))$\(Base64.encodeUnpadded(hash))"
    case .bcrypt(let cost):
      return Self.bcryptSetting(variant, cost, salt) + String(decoding: hash, as: UTF8.self)
    }
  }
}

// MARK: - Reading

extension PasswordHash {
  /// Parses the stored text strictly: each hash has exactly one valid text.
  package init(reading text: String) throws(PasswordError) {
    guard text.utf8.count <= 256 else { throw .malformedHash }
    let parts = text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard parts.count > 3, parts[0] == "" else { throw .malformedHash }
    switch parts[1] {
    case "argon2id": try self.init(argon2id: parts)
    case "2a", "2b", "2y": try self.init(bcrypt: parts)
    case "pbkdf2-sha256": try self.init(pbkdf2: parts, .sha256)
    case "pbkdf2-sha512": try self.init(pbkdf2: parts, .sha512)
    default: throw .malformedHash
    }
  }

  private init(argon2id parts: [String]) throws(PasswordError) {
    guard parts.count == 6, parts[2] == "v=19" else { throw .malformedHash }
    let numbers = parts[3].split(separator: ",", omittingEmptySubsequences: false)
    guard numbers.count == 3, let memory = Self.number("m=", numbers[0]),
      let passes = Self.number("t=", numbers[1]), let lanes = Self.number("p=", numbers[2])
    else { throw .malformedHash }
    guard let parameters = Argon2Parameters(memory: memory, passes: passes, lanes: lanes) else {
      throw .tooExpensive
    }
    self.init(
      .argon2id(parameters), salt: try Self.bytes(parts[4], Self.saltLengths),
      hash: try Self.bytes(parts[5], Self.hashLengths))
  }

  private init(bcrypt parts: [String]) throws(PasswordError) {
    let digits = parts[2].utf8
    guard parts.count == 4, digits.count == 2, digits.allSatisfy({ (48...57).contains($0) }), let cost = Int(parts[2]),
      cost >= PasswordForm.bcryptCosts.lowerBound
    else { throw .malformedHash }
    let letters = Array(parts[3].utf8)
    let hash = Array(letters.dropFirst(Bcrypt.saltLength))
    guard letters.count == Bcrypt.saltLength + Bcrypt.hashLength, Bcrypt.isText(letters), Bcrypt.isWhole(hash) else {
      throw .malformedHash
    }
    guard cost <= PasswordForm.bcryptCosts.upperBound else { throw .tooExpensive }
    self.init(.bcrypt(cost: cost), salt: Array(letters.prefix(Bcrypt.saltLength)), hash: hash, variant: parts[1])
  }

  private init(pbkdf2 parts: [String], _ digest: PBKDF2.Digest) throws(PasswordError) {
    guard parts.count == 5, let rounds = Self.number("i=", parts[2][...]), rounds >= PasswordForm.leastRounds else {
      throw .malformedHash
    }
    guard rounds <= digest.mostRounds else { throw .tooExpensive }
    self.init(
      .pbkdf2(digest, rounds: Int(rounds)), salt: try Self.bytes(parts[3], Self.saltLengths),
      hash: try Self.bytes(parts[4], Self.hashLengths.lowerBound...digest.size))
  }

  private static func number(_ name: String, _ text: Substring) -> UInt32? {
    guard text.hasPrefix(name) else { return nil }
    let digits = text.dropFirst(name.count)
    guard let number = UInt32(digits), String(number) == digits else { return nil }
    return number
  }

  private static func bytes(
    _ text: String, _ sizes: ClosedRange<Int>
  ) throws(PasswordError) -> [UInt8] {
    guard let bytes = try? Base64.decodeUnpadded(text), sizes.contains(bytes.count)
    else { throw .malformedHash }
    return bytes
  }
}
