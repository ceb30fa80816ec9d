import RegentCryptography
import RegentEncodings
import TestSupport
import Testing

@testable import PasswordHashing

@Suite struct `Password hashes of other programs` {
  static let password = "correct-horse-1"
  static let salt = "MDEyMzQ1Njc4OWFiY2RlZg"
  static let sha256 = "tCK6hGlAUX+S3wqmp1+SgHNTOMutbamyT+S+FkaxDUA"
  static let sha512 = "VQqVsOTogXoizhjHhKBUsMiY6tVGbPSuuJVK0b5OaVG5hcXRdinhVLO6/0bG9Fn5E97W1kA9UPK26ifJQkO6eQ"
  private let hasher: PasswordHasher

  init() throws { hasher = try PasswordHasher(PasswordTests.cheap, slots: 1) }

  // Generated with Python's crypt and hashlib.
  @Test(arguments: [
    "$2a$04$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTq",
    "$2b$05$N9qo8uLOickgx2ZMRZoMyejr5xuJVHga.4XdaiMQSdYw9UXN/LLAC",
    "$2y$04$......................T4D0Ptn9xJaL9nu7UKRrHyeOh1PaAtq",
    "$pbkdf2-sha256$i=1000$\(salt)$\(sha256)", "$pbkdf2-sha256$i=1000,l=32$\(salt)$\(sha256)",
    "$pbkdf2-sha256$1000$\(salt)$tCK6hGlAUX.S3wqmp1.SgHNTOMutbamyT.S.FkaxDUA",
    "$pbkdf2-sha256$i=1000,l=64$\(salt)$tCK6hGlAUX+S3wqmp1+SgHNTOMutbamyT+S+FkaxDUAEUwwzqbWKI4P81fgzEeziHum3cmVw3prukkBnQ5dbYA",
    "pbkdf2_sha256$1000$0123456789abcdef$\(sha256)=", "$pbkdf2-sha512$i=1000$\(salt)$\(sha512)",
    "$pbkdf2-sha512$1000$\(salt)$\(sha512)", "pbkdf2_sha512$1000$0123456789abcdef$\(sha512)==",
  ])
  func `an imported hash accepts exactly its password and asks to be renewed`(_ given: String) async throws {
    let stored = try PasswordHash(importing: given).text
    #expect(try await hasher.check(Secret(Self.password), against: stored) == .rightButOutdated)
    for wrong in [
      "", "correct-horse-2", Self.password + "x", Self.password + "\0", String(repeating: "x", count: 2000),
    ] {
      #expect(try await hasher.check(Secret(wrong), against: stored) == .wrong)
    }
    #expect(try PasswordHash(importing: stored).text == stored)
  }

  @Test func `an Argon2id hash is imported unchanged`() async throws {
    let given = "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    #expect(try PasswordHash(importing: given).text == given)
  }

  @Test func `PBKDF2 matches the test vector of RFC 7914`() throws {
    let made = try PBKDF2.hash(Secret("Password"), salt: Array("NaCl".utf8), count: 32, .sha256, rounds: 80_000)
    #expect(Hex.encode(made) == "4ddcd8f60b98be21830cee5ef22701f9641a4418d04c0414aeff08876b34ab56")
  }

  @Test func `bcrypt matches its author's test vectors, accepts UTF-8 and uses 72 bytes`() async throws {
    for (password, stored) in [
      ("U*U", "$2a$05$CCCCCCCCCCCCCCCCCCCCC.E5YPO9kmyuRGyh0XouQYb4YMJKvyOeW"),
      ("pässwört-ключ", "$2b$04$abcdefghijklmnopqrstuum9MIGT3FizJChwM.qYwb5W0k8VqgejW"),
      (String(repeating: "x", count: 72), "$2b$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i"),
      (String(repeating: "x", count: 73), "$2b$04$abcdefghijklmnopqrstuubzadhGtS2zEF.gu0yd0opP6cVzb.e0i"),
    ] {
      #expect(try await hasher.check(Secret(password), against: stored) == .rightButOutdated)
    }
  }

  @Test(arguments: [
    ("$argon2id$v=19$m=4194304,t=1,p=1$\(salt)$\(sha256)", "memory times passes for 256 MiB"),
    ("$argon2id$v=19$m=131072,t=3,p=1$\(salt)$\(sha256)", "memory times passes for 256 MiB"),
    ("$argon2id$v=19$m=64,t=4294967295,p=1$\(salt)$\(sha256)", "16 passes"),
    ("$argon2id$v=19$m=131072,t=1,p=16777215$\(salt)$\(sha256)", "8 lanes"),
    ("$2b$31$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTq", "cost 14 at most"),
    ("$2b$15$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTq", "cost 14 at most"),
    ("pbkdf2_sha256$1000000000$0123456789abcdef$\(sha256)=", "2000000 rounds"),
    ("pbkdf2_sha512$1000001$0123456789abcdef$\(sha512)==", "1000000 of SHA-512"),
    ("pbkdf2_sha256$99999999999999999999999$0123456789abcdef$\(sha256)=", "2000000 rounds"),
    ("pbkdf2_sha256$999$0123456789abcdef$\(sha256)=", "fewer than 1000 rounds"),
    ("pbkdf2_sha256$1000$short$\(sha256)=", "8 to 64 bytes"),
    ("pbkdf2_sha256$1000$\(String(repeating: "s", count: 65))$\(sha256)=", "8 to 64 bytes"),
    ("$pbkdf2-sha256$1000$\(salt)$YWJj", "16 to 64 bytes"),
    ("$pbkdf2-sha256$1000$\(salt)$\(String(repeating: "YWJj", count: 22))", "16 to 64 bytes"),
    ("pbkdf2_sha1$260000$0123456789abcdef$YWJjZGVmZ2hpamtsbW5vcHFyc3Q=", "SHA-1"),
    ("$pbkdf2$131000$\(salt)$YWJjZGVmZ2hpamtsbW5vcHFyc3Q", "SHA-1"),
    ("$argon2i$v=19$m=64,t=3,p=1$\(salt)$\(sha256)", "only argon2id"),
    ("$argon2d$v=19$m=64,t=3,p=1$\(salt)$\(sha256)", "only argon2id"),
    ("$2x$04$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTq", "faulty program"),
    ("$6$rounds=5000$saltsalt$abc", "crypt's other forms"), ("$y$j9T$abc$def", "crypt's other forms"),
    ("bcrypt_sha256$$2b$12$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTq", "it is no argon2id"),
    ("", "it is no argon2id"), ("correct-horse-1", "it is no argon2id"), ("$", "it is no argon2id"),
    ("5f4dcc3b5aa765d61d8327deb882cf99", "it is no argon2id"),
    ("$2b$04$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTr", "it is no argon2id"),
    ("$2b$4$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTq", "it is no argon2id"),
    ("$2b$+4$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTq", "it is no argon2id"),
    ("$2b$04$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFT", "it is no argon2id"),
    ("pbkdf2_sha256$1000$0123456789abcdef$\(sha256)=$", "it is no argon2id"),
    ("pbkdf2_sha256$1000$0123456789 bcdef$\(sha256)=", "it is no argon2id"),
    (String(repeating: "x", count: 1 << 20), "it is no argon2id"),
  ])
  func `an import that is malformed, unsupported or too expensive is refused with the reason`(
    _ given: String, _ reason: String
  ) {
    do {
      _ = try PasswordHash(importing: given)
      Issue.record("taken: \(given.prefix(80))")
    } catch {
      #expect(error.description.contains(reason), "\(given.prefix(80)): \(error)")
      #expect(!error.description.contains(Self.sha256.prefix(8)))
    }
  }

  @Test(arguments: [
    "$2b$15$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTq",
    "$pbkdf2-sha256$i=2000001$\(salt)$\(sha256)", "$argon2id$v=19$m=131072,t=3,p=1$\(salt)$\(sha256)",
  ])
  func `an expensive hash that an attacker wrote into the database is not computed`(_ stored: String) async throws {
    await #expect(throws: PasswordError.tooExpensive) { try await hasher.check(Secret("x"), against: stored) }
  }

  @Test func `the most expensive allowed hash of each kind uses the whole work limit`() throws {
    let most = try #require(Argon2Parameters(memory: 131_072, passes: 2, lanes: 8))
    for form in [
      PasswordForm.argon2id(most), .bcrypt(cost: 14), .pbkdf2(.sha256, rounds: 2_000_000),
      .pbkdf2(.sha512, rounds: 1_000_000),
    ] { #expect(form.work == PasswordForm.mostWork) }
    #expect(PasswordForm.bcrypt(cost: 4).work == 0)
  }

  @Test func `a password check is correct while it simulates the work of all other hash forms`() async throws {
    let given = [
      "$2b$04$abcdefghijklmnopqrstuu3b4tJYXqXwo.uoptJmL0w.cHKy2JFTq",
      "$pbkdf2-sha256$i=1000$\(Self.salt)$\(Self.sha256)",
    ]
    let forms = Set(try given.map { try PasswordHash(importing: $0).form })
    let own = try await hasher.hash(Secret(Self.password))
    for stored in given + [own] {
      let right = try await hasher.check(Secret(Self.password), against: stored, beside: forms)
      #expect(right == (stored == own ? .right : .rightButOutdated))
      #expect(try await hasher.check(Secret("x"), against: stored, beside: forms) == .wrong)
    }
    #expect(try await hasher.check(Secret(Self.password), against: nil, beside: forms) == .wrong)
  }
}
