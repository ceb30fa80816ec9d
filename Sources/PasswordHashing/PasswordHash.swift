internal import RegentCryptography
internal import RegentEncodings

/// A stored password hash: `$argon2id$v=19$m=19456,t=2,p=1$SALT$HASH`, the PHC string format.
package struct PasswordHash: Sendable {
  static let saltLength = 16
  static let hashLength = 32

  let parameters: Argon2Parameters
  let salt: [UInt8]
  let hash: [UInt8]

  init(parameters: Argon2Parameters, salt: [UInt8], hash: [UInt8]) {
    self.parameters = parameters
    self.salt = salt
    self.hash = hash
  }

  /// Hashes a password with a salt of its own.
  static func make(
    _ password: Secret, _ parameters: Argon2Parameters
  ) throws(PasswordError) -> PasswordHash {
    let salt = Random.bytes(saltLength)
    let hash = try Argon2.hash(password, salt: salt, count: hashLength, parameters)
    return PasswordHash(parameters: parameters, salt: salt, hash: hash)
  }

  /// A hash that no password has, to spend time on for accounts that do not exist.
  static func dummy(_ parameters: Argon2Parameters) -> PasswordHash {
    PasswordHash(
      parameters: parameters, salt: Random.bytes(saltLength), hash: Random.bytes(hashLength))
  }

  /// True when it is the hash of `password`.
  func isHash(of password: Secret) throws(PasswordError) -> Bool {
    constantTimeEqual(
      try Argon2.hash(password, salt: salt, count: hash.count, parameters), hash)
  }

  /// Reads the text form, strictly, so that one hash has one text.
  package init(reading text: String) throws(PasswordError) {
    guard text.utf8.count <= 256 else { throw .malformedHash }
    let parts = text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    guard parts.count == 6, parts[0] == "", parts[1] == "argon2id", parts[2] == "v=19" else {
      throw .malformedHash
    }
    let numbers = parts[3].split(separator: ",", omittingEmptySubsequences: false)
    guard numbers.count == 3, let memory = PasswordHash.number("m=", numbers[0]),
      let passes = PasswordHash.number("t=", numbers[1]),
      let lanes = PasswordHash.number("p=", numbers[2])
    else { throw .malformedHash }
    guard let parameters = Argon2Parameters(memory: memory, passes: passes, lanes: lanes) else {
      throw .tooExpensive
    }
    self.parameters = parameters
    salt = try PasswordHash.bytes(parts[4], 8...64)
    hash = try PasswordHash.bytes(parts[5], 16...64)
  }

  /// The text form.
  package var text: String {
    let numbers = "m=\(parameters.memory),t=\(parameters.passes),p=\(parameters.lanes)"
    return "$argon2id$v=19$\(numbers)$\(Base64.encodeUnpadded(salt))$\(Base64.encodeUnpadded(hash))"
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
