import RegentCryptography
import RegentEncodings
import TestSupport
import Testing

@testable import PasswordHashing

struct PasswordTests {
  static let cheap = Argon2Parameters(memory: 64, passes: 1, lanes: 1) ?? .standard

  @Test func `Argon2id matches the test vector of RFC 9106`() throws {
    let parameters = try #require(Argon2Parameters(memory: 32, passes: 3, lanes: 4))
    let tag = try Argon2.hash(
      Secret(copying: repeated(1, 32)), salt: repeated(2, 16), count: 32, parameters,
      key: repeated(3, 8), associatedData: repeated(4, 12))
    #expect(Hex.encode(tag) == "0d640df58d78766c08c037a34a8b53c9d01ef0452d75b65eb52520e96b01e659")
  }

  @Test func `the standard work factors are those of OWASP and are part of the stored hash`() async throws {
    let hasher = try PasswordHasher(slots: 1)
    let stored = try await hasher.hash(Secret("correct horse"))
    #expect(stored.hasPrefix("$argon2id$v=19$m=19456,t=2,p=1$"))
    #expect(try await hasher.check(Secret("correct horse"), against: stored) == .right)
    #expect(try await hasher.check(Secret("correct horsf"), against: stored) == .wrong)
  }

  @Test func `an Argon2id hash of the reference implementation is verified`() async throws {
    // From the tests of the reference implementation.
    let stored =
      "$argon2id$v=19$m=65536,t=2,p=1$c29tZXNhbHQ$CTFhFdXPJO1aFaMaO6Mm5c8y7cJHAph8ArZWb2GRPPc"
    let hasher = try PasswordHasher(PasswordTests.cheap, slots: 1)
    #expect(try await hasher.check(Secret("password"), against: stored) == .rightButOutdated)
    #expect(try await hasher.check(Secret("passwore"), against: stored) == .wrong)
  }

  @Test func `two hashes of one password differ`() async throws {
    let hasher = try PasswordHasher(PasswordTests.cheap)
    let one = try await hasher.hash(Secret("x"))
    let two = try await hasher.hash(Secret("x"))
    #expect(one != two)
  }

  @Test func `a hash with other work factors asks to be renewed`() async throws {
    let stored = try await PasswordHasher(PasswordTests.cheap).hash(Secret("x"))
    let stronger = try PasswordHasher(#require(Argon2Parameters(memory: 64, passes: 2, lanes: 1)))
    #expect(try await stronger.check(Secret("x"), against: stored) == .rightButOutdated)
    #expect(try await stronger.check(Secret("y"), against: stored) == .wrong)
  }

  @Test func `without an account every password is wrong`() async throws {
    let hasher = try PasswordHasher(PasswordTests.cheap)
    for password in ["", "x", String(repeating: "x", count: 2000)] {
      #expect(try await hasher.check(Secret(password), against: nil) == .wrong)
    }
  }

  @Test func `a password that is too long is refused and never matches`() async throws {
    let hasher = try PasswordHasher(PasswordTests.cheap)
    let longest = Secret(String(repeating: "x", count: 1024))
    let stored = try await hasher.hash(longest)
    #expect(try await hasher.check(longest, against: stored) == .right)
    let long = Secret(String(repeating: "x", count: 1025))
    await #expect(throws: PasswordError.tooLong) { try await hasher.hash(long) }
    #expect(try await hasher.check(long, against: stored) == .wrong)
    let empty = try await hasher.hash(Secret(""))
    #expect(try await hasher.check(long, against: empty) == .wrong)
  }

  static let salt = "c29tZXNhbHQ"
  static let hash = "RdescudvJCsgt3ub+b27gdsCc8JnYIo5"

  @Test(arguments: [
    "", "$", "password", "$argon2id$v=19$m=64,t=1,p=1$\(salt)",
    "$argon2id$v=19$m=64,t=1,p=1$\(salt)$",
    "$argon2id$v=19$m=64,t=1,p=1$$\(hash)", "$argon2i$v=19$m=64,t=1,p=1$\(salt)$\(hash)",
    "$argon2d$v=19$m=64,t=1,p=1$\(salt)$\(hash)", "$argon2id$v=16$m=64,t=1,p=1$\(salt)$\(hash)",
    "$argon2id$m=64,t=1,p=1$\(salt)$\(hash)", "$argon2id$v=19$t=1,m=64,p=1$\(salt)$\(hash)",
    "$argon2id$v=19$m=064,t=1,p=1$\(salt)$\(hash)", "$argon2id$v=19$m=+64,t=1,p=1$\(salt)$\(hash)",
    "$argon2id$v=19$m=64,t=1,p=1,x=1$\(salt)$\(hash)", "$argon2id$v=19$m=64,t=1$\(salt)$\(hash)",
    "$argon2id$v=19$m=-64,t=1,p=1$\(salt)$\(hash)", "$argon2id$v=19$m=64,t=1,p=1$\(salt)=$\(hash)",
    "$argon2id$v=19$m=64,t=1,p=1$\(salt)$\(hash)=", "$argon2id$v=19$m=64,t=1,p=1$\(salt)$\(hash)\n",
    "$argon2id$v=19$m=64,t=1,p=1$\(salt)$\(hash)$", "x$argon2id$v=19$m=64,t=1,p=1$\(salt)$\(hash)",
    "$argon2id$v=19$m=64,t=1,p=1$c29tZXNhbHR$\(hash)", "$argon2id$v=19$m=64,t=1,p=1$YWJj$\(hash)",
    "$argon2id$v=19$m=64,t=1,p=1$\(salt)$YWJj",
    "$argon2id$v=19$m=99999999999,t=1,p=1$\(salt)$\(hash)",
  ])
  func `a malformed stored hash is refused`(_ stored: String) async throws {
    let hasher = try PasswordHasher(PasswordTests.cheap, slots: 1)
    await #expect(throws: PasswordError.malformedHash) {
      try await hasher.check(Secret("password"), against: stored)
    }
  }

  @Test(arguments: [
    "m=4294967295,t=1,p=1", "m=131073,t=1,p=1", "m=131072,t=3,p=1", "m=64,t=17,p=1", "m=64,t=4294967295,p=1",
    "m=72,t=1,p=9",
    "m=7,t=1,p=1", "m=64,t=0,p=1", "m=64,t=1,p=0", "m=0,t=1,p=1",
  ])
  func `a stored hash with excessive work factors is not computed`(_ numbers: String) async throws {
    let stored = "$argon2id$v=19$\(numbers)$\(PasswordTests.salt)$\(PasswordTests.hash)"
    let hasher = try PasswordHasher(PasswordTests.cheap, slots: 1)
    await #expect(throws: PasswordError.tooExpensive) {
      try await hasher.check(Secret("password"), against: stored)
    }
  }

  @Test func `concurrent password checks are all answered, and those beyond the queue are refused as busy`()
    async throws
  {
    let patient = try PasswordHasher(PasswordTests.cheap, slots: 2, waiting: 100)
    let stored = try await patient.hash(Secret("x"))
    try await withThrowingTaskGroup(of: PasswordCheck.self) { group in
      for number in 0..<100 {
        group.addTask {
          try await patient.check(Secret(number % 2 == 0 ? "x" : "y"), against: stored)
        }
      }
      var right = 0
      for try await check in group where check == .right { right += 1 }
      #expect(right == 50)
    }
    let impatient = try PasswordHasher(PasswordTests.cheap, slots: 1, waiting: 0)
    await #expect(throws: PasswordError.busy) { try await impatient.hash(Secret("x")) }
  }

  @Test func `a released hasher still answers the queued requests`() async throws {
    let answers = try await withThrowingTaskGroup(of: Bool.self) { group in
      for _ in 0..<10 {
        group.addTask {
          try await awaitingCallback("the hash") { callback in
            let hasher = try PasswordHasher(PasswordTests.cheap, slots: 1)
            hasher.hash(Secret("x")) { callback((try? $0.get()) != nil) }
          }
        }
      }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(answers == 10)
  }
}

private func repeated(_ byte: UInt8, _ count: Int) -> [UInt8] { [UInt8](repeating: byte, count: count) }
