import HTTPTestSupport
import PairingStore
import PasswordHashing
import RegentCryptography
import RegentPairing
import ServiceTestSupport
import Testing

@testable import PairingService

/// Checking a password takes a good while: what an operator does in it must count.
@Suite struct `A password that is changed while it is being checked` {
  @Test func `signs nobody in with the old one, however many try`() async throws {
    // Slow enough to hash that the change comes in between.
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

  @Test func `still signs in when it was only hashed anew`() async throws {
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
