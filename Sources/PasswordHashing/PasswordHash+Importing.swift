internal import RegentEncodings

/// Why a hash made by another program cannot be imported.
///
/// The text continues a sentence that ends in "is not taken: ".
package struct PasswordImportError: Error, Equatable, CustomStringConvertible {
  /// Why the hash cannot be imported.
  ///
  /// The text contains nothing of the hash.
  package let description: String
}

extension PasswordHash {
  /// Parses a hash in a format of another program.
  ///
  /// Besides this program's own formats it accepts `$pbkdf2-sha256$29000$…` (passlib), `$pbkdf2-sha256$i=600000,l=32$…`
  /// (PHC) and `pbkdf2_sha256$600000$…` (Django), each also with `sha512`. Only operators who may add accounts can
  /// import hashes. The size is limited all the same, because the files come from other systems.
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
      // The length is redundant, because the hash itself has it.
      guard numbers[1].hasPrefix("l="), UInt16(numbers[1].dropFirst(2)) != nil else { throw unknown }
      numbers.removeLast()
    }
    var digits = numbers[0]
    if digits.hasPrefix("i="), !saltIsText { digits = digits.dropFirst(2) }
    guard numbers.count == 1, !digits.isEmpty, digits.utf8.allSatisfy({ (48...57).contains($0) }) else { throw unknown }
    // If the number does not fit an Int, the hash has too many rounds.
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
    // A second run of all rounds makes the output beyond the digest's size, and adds no protection. So that part is
    // dropped.
    return PasswordHash(.pbkdf2(digest, rounds: rounds), salt: salt, hash: Array(hash.prefix(digest.size)))
  }

  /// Decodes base64 with or without padding, also with "." in place of "+", as passlib writes it.
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
