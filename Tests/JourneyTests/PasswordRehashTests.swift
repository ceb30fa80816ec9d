import PasswordHashing
import RegentCryptography
import RegentHTTPCodec
import HTTPTestSupport
import RegentJSON
import RegentPairing
import PairingStore
import ServiceTestSupport
import Testing

@testable import PairingService

@Suite struct `Passwords with a weaker hash` {
  @Test func `a weak hash is replaced at the next sign-in, and no browser is signed out`() async throws {
    let service = try await TestService()
    let weaker = try PasswordHasher(#require(Argon2Parameters(memory: 8, passes: 1, lanes: 1)))
    let old = try await weaker.hash(Secret(Sample.password))
    let store = service.core.store
    let (name, provider): (AccountName, ProviderID) = (
      try named(Sample.account), try named(Sample.provider)
    )
    func stored() async throws -> String? { try await store.password(of: name, at: provider) }
    try await withPhone(service) { client in
      var phone = PhoneBrowser(client)
      _ = try await store.setPassword(
        old, of: name, at: provider, by: .operator, audit: nil, at: service.core.clock.now)
      var other = PhoneBrowser(client)
      try await phone.open("/sign-in")
      try await phone.send("sign-in/local", ["user": Sample.account, "password": "x"])
      #expect(try await stored() == old)
      try await phone.signIn()
      let new = try #require(try await stored())
      #expect(new != old && new.contains("$m=64,"))
      try await other.signIn()
      #expect(other.address == "/screens")
      #expect(try await stored() == new)
      try await phone.open("/screens")
      #expect(phone.address == "/screens")
    }
  }
}
