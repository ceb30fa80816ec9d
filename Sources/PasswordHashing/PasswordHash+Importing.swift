internal import RegentEncodings

/// Why a hash that another program made is not taken, as a part of a sentence: "… is not taken: ".
package struct PasswordImportError: Error, Equatable, CustomStringConvertible {
  /// What is the matter; nothing of the hash itself.
  package let description: String
}

extension PasswordHash {
  /// Reads a hash as other programs write it.
  ///
  /// Besides our own forms: `$pbkdf2-sha256$29000$…` (passlib), `$pbkdf2-sha256$i=600000,l=32$…` (PHC),
  /// `pbkdf2_sha256$600000$…` (Django), each with `sha512`, too. It is looked at by whoever may add accounts and by
  /// nobody else, and bounded all the same: files come from elsewhere.
  package init(importing text: String) throws(PasswordImportError) {
    guard text.utf8.count <= 512, text.utf8.allSatisfy({ (0x21...0x7e).contains($0) }) else {
      throw Self.unknown
    }
    let parts = text.utf8.split(separator: UInt8(ascii: "$"), omittingEmptySubsequences: false)
      .map { String(decoding: $0, as: UTF8.self) }
    let isDjango = parts[0].hasPrefix("pbkdf2_")
    let kind = isDjango ? parts[0].replacingFirst("_", with: "-") : parts.count > 1 && parts[0] == "" ? parts[1] : ""
    try Self.refuseKind(kind)
    if let digest = PBKDF2.Digest.allCases.first(where: { kind == "pbkdf2-\($0.rawValue)" }) {
      let rest = Array(parts.dropFirst(isDjango ? 1 : 2))
      self = try Self.pbkdf2(rest, digest, saltIsText: isDjango)
      return
    }
    do throws(PasswordError) {
      try self.init(reading: text)
    } catch .tooExpensive {
      throw PasswordImportError(description: Self.limits(of: kind))
    } catch {
      throw Self.unknown
    }
  }

  private static func refuseKind(_ kind: String) throws(PasswordImportError) {
    let reason: String? =
      switch kind {
      case "argon2i", "argon2d": "of the kinds of Argon2 only argon2id is"
      case "2", "2x": "bcrypt in this form was made by a faulty program; $2a$, $2b$ and $2y$ are"
      case "pbkdf2", "pbkdf2-sha1": "PBKDF2 with SHA-1 protects too little; with SHA-256 or SHA-512 it is"
      case "bcrypt-sha256": "bcrypt of a SHA-256 is another algorithm; $2b$ is"
      case "1", "5", "6", "y", "gy", "scrypt", "7":
        "argon2id, bcrypt and PBKDF2 are, and crypt's other forms are not"
      default: nil
      }
    if let reason { throw PasswordImportError(description: reason) }
  }

  private static func pbkdf2(
    _ parts: [String], _ digest: PBKDF2.Digest, saltIsText: Bool
  ) throws(PasswordImportError) -> PasswordHash {
    guard parts.count == 3 else { throw unknown }
    var numbers = parts[0].split(separator: ",", omittingEmptySubsequences: false)
    if numbers.count == 2 {
      // The length says nothing that the hash does not.
      guard numbers[1].hasPrefix("l="), UInt16(numbers[1].dropFirst(2)) != nil else { throw unknown }
      numbers.removeLast()
    }
    var digits = numbers[0]
    if digits.hasPrefix("i="), !saltIsText { digits = digits.dropFirst(2) }
    guard numbers.count == 1, !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { throw unknown }
    // Digits that no number holds are too many rounds, too.
    let rounds = Int(digits) ?? .max
    guard rounds <= digest.mostRounds else { throw PasswordImportError(description: limits(of: "pbkdf2")) }
    guard rounds >= PasswordForm.leastRounds else {
      throw PasswordImportError(
        description: "PBKDF2 with fewer than \(PasswordForm.leastRounds) rounds protects too little")
    }
    let salt = saltIsText ? Array(parts[1].utf8) : try bytes(parts[1])
    guard saltLengths.contains(salt.count) else {
      throw PasswordImportError(
        description: "a salt has \(saltLengths.lowerBound) to \(saltLengths.upperBound) bytes")
    }
    let hash = try bytes(parts[2])
    guard hashLengths.contains(hash.count) else {
      throw PasswordImportError(
        description: "a hash has \(hashLengths.lowerBound) to \(hashLengths.upperBound) bytes")
    }
    // What is longer than the digest is made by all rounds once more, and says no more about the password.
    return PasswordHash(.pbkdf2(digest, rounds: rounds), salt: salt, hash: Array(hash.prefix(digest.size)))
  }

  /// Base64 with or without padding; passlib writes a dot for the plus.
  private static func bytes(_ text: String) throws(PasswordImportError) -> [UInt8] {
    var letters = text.utf8.map { $0 == UInt8(ascii: ".") ? UInt8(ascii: "+") : $0 }
    for _ in 0..<2 where letters.last == UInt8(ascii: "=") { letters.removeLast() }
    guard let bytes = try? Base64.decodeUnpadded(String(decoding: letters, as: UTF8.self)) else { throw unknown }
    return bytes
  }

  private static func limits(of kind: String) -> String {
    switch kind {
    case "argon2id":
      "argon2id may ask for \(Argon2Parameters.ceiling.memory / 1024) MiB, \(Argon2Parameters.ceiling.passes) passes and "
        + "\(Argon2Parameters.ceiling.lanes) lanes, and memory times passes for \(Argon2Parameters.mostWork / 1024) MiB"
    case "2a", "2b", "2y": "bcrypt may have cost \(PasswordForm.bcryptCosts.upperBound) at most"
    default:
      "PBKDF2 may have \(PBKDF2.Digest.sha256.mostRounds) rounds of SHA-256 or \(PBKDF2.Digest.sha512.mostRounds) of SHA-512 at most"
    }
  }

  private static let unknown = PasswordImportError(
    description: "it is no argon2id ($argon2id$v=19$…), bcrypt ($2b$12$…) or PBKDF2 ($pbkdf2-sha256$…, pbkdf2_sha256$…)"
  )
}

extension String {
  fileprivate func replacingFirst(_ old: Character, with new: Character) -> String {
    guard let place = firstIndex(of: old) else { return self }
    return self[..<place] + String(new) + self[index(after: place)...]
  }
}
