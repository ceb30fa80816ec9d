import HTTPTestSupport
import PairingStore
import PasswordHashing
import RegentCryptography
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

/// Checking a password takes long.
///
/// A change by the operator during the check must count.
@Suite struct `Passwords that change while they are checked` {
  @Test func `an old password signs in no browser when it is changed during the check`() async throws {
    // Hashing is slow enough for the change to happen during the check.
    let service = try await TestService()
    let core = service.core
    let slow = try PasswordHasher(#require(Argon2Parameters(memory: 65_536, passes: 3, lanes: 1)))
    let (name, provider): (AccountName, ProviderID) = (try named(Sample.account), try named(Sample.provider))
    func set(_ password: String) async throws {
      let phc = try await slow.hash(Secret(password))
      core.codeTransitions.settle(
        try await core.store.setPassword(
          phc, of: name, at: provider, by: .operator, audit: nil, at: core.clock.now))
    }
    try await withPhone(service) { client in
      for round in 0..<3 {
        try await set("old-password-\(round)")
        try await withThrowingTaskGroup { group in
          for _ in 0..<4 {
            group.addTask {
              var phone = PhoneBrowser(client)
              try await phone.open("/sign-in")
              try await phone.send("sign-in/local", ["user": Sample.account, "password": "old-password-\(round)"])
            }
          }
          try await set("new-password-\(round)")
          try await group.waitForAll()
        }
        let sessions = try await core.store.sessions(of: Viewer(provider: provider, account: name), at: core.clock.now)
        #expect(sessions.isEmpty, "round \(round)")
      }
    }
  }

  @Test func `a password that is only rehashed during the check still signs in`() async throws {
    let service = try await TestService()
    let core = service.core
    let weaker = try PasswordHasher(#require(Argon2Parameters(memory: 8, passes: 1, lanes: 1)))
    let (name, provider): (AccountName, ProviderID) = (try named(Sample.account), try named(Sample.provider))
    _ = try await core.store.setPassword(
      try await weaker.hash(Secret(Sample.password)), of: name, at: provider, by: .operator, audit: nil,
      at: core.clock.now)
    try await withPhone(service) { client in
      try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            var phone = PhoneBrowser(client)
            try await phone.signIn()
            #expect(phone.address == "/screens")
          }
        }
        try await group.waitForAll()
      }
    }
  }
}
